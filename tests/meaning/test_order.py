"""The order of a chain of dataset operations that satisfies all requests of rules."""

import pytest
from snippets import MODEL, load

from kerascheck.fixes.builders.chains import rearranged
from kerascheck.fixes.proofs import SAME_ORDER
from kerascheck.meaning.data.order import Added, ReorderKind, ReorderRequest, arrangement, line_of

PROOF = SAME_ORDER.unless("the elements come in another order")

HEAD = MODEL + (
    "def decode(path):\n    return tf.io.decode_jpeg(tf.io.read_file(path))\n"
    "def augment(x):\n    return tf.image.random_flip_left_right(x)\n"
    "def scale(x):\n    return x / 255.0\n"
    "base = tf.data.Dataset.from_tensor_slices(load())\n"
)
WRITTEN = {
    "decode": "map(decode)", "augment": "map(augment)", "scale": "map(scale)", "batch": "batch(32)", "shuffle": "shuffle(1000)", "cache": "cache()",
    "take": "take(500)", "skip": "skip(500)", "repeat": "repeat()", "prefetch": "prefetch(2)", "filter": "filter(scale)", "interleave": "interleave(tf.data.TFRecordDataset)",
}  # fmt: skip
KINDS = {
    "cache": ReorderKind.CACHE_EARLIER,
    "shuffle": ReorderKind.SHUFFLE_EARLIER,
    "take": ReorderKind.TAKE_EARLIER,
    "skip": ReorderKind.SKIP_EARLIER,
    "repeat": ReorderKind.REPEAT_LATER,
    "prefetch": ReorderKind.PREFETCH_LAST,
}


def chain(folder, operations, end="model.fit({}, epochs=3)\n"):
    """The module and the stages of a chain of such operations, by their short names."""
    written = "base" + "".join(f".{WRITTEN[name]}" for name in operations)
    module = load(folder, HEAD + end.format(written))
    line = line_of(
        module.pipelines, next(stage for sink, _ in module.pipelines.sinks for stage in sink.stage.upstream())
    )
    return module, dict(zip(operations, [stage for stage in line if not stage.is_source]))


def ordered(folder, operations, *requests):
    """The short names in the order that satisfies the requests.

    "+" marks added operations. A request has the form "shuffle" or "+cache decode".
    """
    module, stages = chain(folder, operations.split())
    kinds = [
        (ReorderKind.ADD_CACHE, request.split()[1])
        if request.startswith("+cache")
        else (ReorderKind.ADD_PREFETCH, request.split()[1])
        if request.startswith("+")
        else (KINDS[request], request)
        for request in requests
    ]
    plan = arrangement(module.pipelines, [ReorderRequest(kind, stages[name]) for kind, name in kinds])
    names = {stage: name for name, stage in stages.items()}
    return plan and " ".join("+" + item.name if isinstance(item, Added) else names[item] for item in plan.after)


@pytest.mark.parametrize(
    ("operations", "requests", "after"),
    [
        # One request each.
        ("decode augment cache batch", ["cache"], "decode cache augment batch"),
        ("shuffle cache batch", ["cache"], "cache shuffle batch"),
        ("shuffle decode cache batch", ["cache"], "decode cache shuffle batch"),
        ("shuffle decode augment cache", ["cache"], "decode cache shuffle augment"),
        ("augment take cache", ["cache"], "take cache augment"),
        ("batch shuffle prefetch", ["shuffle"], "shuffle batch prefetch"),
        ("decode batch shuffle", ["shuffle"], "shuffle decode batch"),
        ("cache augment batch shuffle", ["shuffle"], "cache shuffle augment batch"),
        ("decode batch cache shuffle", ["shuffle"], "decode cache shuffle batch"),
        ("decode scale shuffle batch", ["shuffle"], "shuffle decode scale batch"),
        ("decode cache take batch", ["take"], "decode take cache batch"),
        ("cache scale take batch", ["take"], "take cache scale batch"),
        ("decode cache batch take", ["take"], "decode batch take cache"),
        ("shuffle decode scale prefetch skip batch", ["skip"], "shuffle skip decode scale prefetch batch"),
        ("decode shuffle scale skip", ["skip"], "decode shuffle skip scale"),
        ("repeat shuffle batch", ["repeat"], "shuffle repeat batch"),
        ("repeat scale cache shuffle batch", ["repeat"], "scale cache shuffle repeat batch"),
        ("prefetch batch scale", ["prefetch"], "batch scale prefetch"),
        ("prefetch batch repeat", ["prefetch"], "batch prefetch repeat"),
        ("decode augment batch", ["+cache decode"], "decode +cache augment batch"),
        ("shuffle decode batch", ["+cache decode"], "decode +cache shuffle batch"),
        ("decode take augment", ["+cache decode"], "decode take +cache augment"),
        ("decode batch repeat", ["+prefetch batch"], "decode batch +prefetch repeat"),
        # Requests that cancel each other out.
        ("decode batch shuffle cache", ["shuffle", "cache"], "decode cache shuffle batch"),
        ("decode shuffle batch", ["shuffle", "+cache decode"], "decode +cache shuffle batch"),
        (
            "decode augment batch shuffle",
            ["shuffle", "+cache decode", "+prefetch shuffle"],
            "decode +cache shuffle augment batch +prefetch",
        ),
        ("decode skip batch shuffle", ["skip", "shuffle"], "skip shuffle decode batch"),
        ("decode skip batch", ["skip", "+cache decode"], "skip decode +cache batch"),
        ("augment cache take batch shuffle", ["cache", "take"], "take cache augment batch shuffle"),
        ("repeat decode batch shuffle cache", ["repeat", "shuffle", "cache"], "decode cache shuffle repeat batch"),
        # No order satisfies the requests.
        ("shuffle take cache", ["cache"], None),
        ("shuffle interleave cache", ["cache"], None),
        ("decode take shuffle", ["shuffle"], None),
        ("shuffle batch decode", ["+cache decode"], None),
        ("cache augment batch take", ["take"], None),
        ("decode batch skip", ["skip"], None),
        ("repeat take shuffle", ["repeat"], None),
        ("decode augment batch take", ["+cache decode"], None),
    ],
)
def test_the_requested_order(tmp_path, operations, requests, after):
    assert ordered(tmp_path, operations, *requests) == after


def test_requests_for_another_chain_are_rejected(tmp_path):
    module = load(tmp_path, HEAD + "model.fit(base.shuffle(9).cache())\nmodel.fit(base.batch(2).shuffle(9))\n")
    stages = {stage.node: stage for sink, _ in module.pipelines.sinks for stage in sink.stage.upstream()}
    cache, shuffle = (
        next(stage for stage in stages.values() if stage.name == name and stage.input.name == before)
        for name, before in (("cache", "shuffle"), ("shuffle", "batch"))
    )
    assert (
        arrangement(
            module.pipelines,
            [ReorderRequest(ReorderKind.CACHE_EARLIER, cache), ReorderRequest(ReorderKind.SHUFFLE_EARLIER, shuffle)],
        )
        is None
    )


@pytest.mark.parametrize(
    ("end", "fixed"),
    [
        ("model.fit({}, epochs=3)\n", True),
        ("kept = {}\nfor x in kept: model.train_on_batch(x)\n", True),
        # A part of the chain has another use.
        ("part = base.batch(32)\nmodel.fit(part.shuffle(1000), epochs=3)\nmodel.evaluate(part)\n", False),
        # A part depends on a condition.
        ("ds = base.batch(32)\nif flag:\n    ds = ds.shuffle(1000)\nmodel.fit(ds, epochs=3)\n", False),
    ],
)
def test_operations_with_other_uses_stay(tmp_path, end, fixed):
    module, _ = chain(tmp_path, ["batch", "shuffle"], end)
    shuffle = next(stage for stage in module.run.stages if stage.name == "shuffle")
    assert (
        rearranged(module, [ReorderRequest(ReorderKind.SHUFFLE_EARLIER, shuffle)], "Shuffle first", PROOF) is not None
    ) is fixed
