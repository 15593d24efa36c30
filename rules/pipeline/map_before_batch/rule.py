from itertools import takewhile

from kerascheck.api import Applies, Rule, Severity, constant, data, fixes, names


class MapBeforeBatch(Rule):
    """A small element-wise map runs once per element although it could run once per batch.

    ## What it does

    Looks for `.map(f)` followed by `.batch(n)` in a training pipeline. Every operation of `f` must give the same
    numbers for a whole batch as for single elements. Such operations are:

    - arithmetic with scalars, casts, `tf.one_hot` and `tf.image.convert_image_dtype`;
    - a `Rescaling`, `TextVectorization`, `StringLookup` or `IntegerLookup` layer;
    - packing into other tuples or dictionaries.

    `shuffle`, `repeat` and other maps of this kind may be between the two.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    Each call of a mapped function costs some 25 to 40 microseconds, whatever it computes. For a small record, this is
    more than the computation itself. On 2 CPU cores (TensorFlow 2.21, no GPU), mapping before `batch` was 4.5 times
    slower for 784 floats. It was 8 to 9 times slower for 256 floats, and 2.0 times for images of 96 x 96 x 3. Large
    elements gain less.

    ## What the runtime does by itself

    It runs the map in parallel and fuses it with the batch, but it still calls `f` once per element. Older versions had
    an optimiser option that vectorised maps, but TensorFlow 2.6 removed it. The usual advice, adding
    `num_parallel_calls=tf.data.AUTOTUNE`, does not remove the cost per call.

    ## When it stays silent

    - `f` reads or decodes files, parses single records, resizes or crops.
    - `f` draws random numbers: one draw would serve the whole batch.
    - `f` reshapes to a literal shape, reduces without an axis, adds a dimension, or reads `shape[0]` or `x[0]`. The
      first axis has another meaning after batching.
    - The batch is a `padded_batch` or `ragged_batch`, or `f` calls Python code.
    - `f` only repacks its elements, so tf.data does not call it at all.
    - `f` is unknown, or another operation is between the two.
    - The elements are batches already, or the batches hold one element.
    - A `cache` is between the two: the map runs once, but after the batch it would run in every epoch.
    - Reported as info instead of a warning: a `cache` follows the batch, or an image is decoded before, which takes
      longer.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps. A `take` of at most 32 elements before the operation counts as inspection.

    ## Use instead

    `dataset.batch(n).map(f)`.

    ## Fix safety

    Safe if `f` does only arithmetic with numbers and other element-wise operations that round alike, on arrays in
    memory, and `batch` follows directly. The batches are then identical, bit by bit.

    Unsafe with

    - `exp`, `log`, `sigmoid`, `tanh` and powers: the last bit may differ between a batch and one number;
    - `one_hot` and lookup layers for words, whose batches may have another shape;
    - image functions if the elements may not be images;
    - elements that may be ragged, sparse or of several shapes;
    - `tf.strings.to_number`, and integer divisions that may be by zero: an error would lose the whole batch;
    - an array or a tensor that `f` uses from outside;
    - a `tf.function` with a signature, and other decorators;
    - names and other arguments of both calls, and calls in their arguments;
    - another use of the dataset between both operations, such as `len(ds)`, `ds.element_spec` or a `skip`.

    There is no fix if another operation is between the two. There is also no fix if `f` selects entries by name from
    the output of another map or a generator. The entries that it drops may have a different shape in each element, and
    no batch can hold those. This is an info.

    ## References

    - TensorFlow API: `tf.data.Dataset.batch`, `tf.data.Dataset.map`
    - TensorFlow guide: "Better performance with the tf.data API", section on vectorizing
    - TensorFlow source: `map_and_batch_fusion.cc`
    """

    code = "KC103"
    name = "map-before-batch"
    summary = "small map runs once per example, not per batch"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".map(",)
    proves = ("batch-like-elements", "static-shape", "only-consumer", "plain-call", "known-consumers")
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations("map"):
            if not op.may_feed_training:
                continue
            batch = data.next_batch(module, op)
            if (reason := _why_not(op, batch)) is not None:
                yield self.silence(op, reason)
                continue
            # Dropped entries may differ in shape, which no batch can hold.
            leaves = op.facts.picks_entries and any(map(_makes_entries, op.stages[0].input.upstream()))
            # After the batch it would run in every epoch, not once.
            if any(map(_is_cache, takewhile(lambda stage: stage.node is not op.node, batch.upstream()))):
                yield self.silence(op, "a cache before the batch keeps its results")
                continue
            cached = any(_is_cache(stage) for each in op.stages for stage in module.pipelines.downstream(each))
            decoded = any(
                stage.facts is not None
                and any((call.name or "").startswith(names.callables.IO_DECODE) for call in stage.facts.calls)
                for each in op.stages
                for stage in each.input.upstream()
            )
            yield self.finding(
                op,
                "This map calls its function once per element; move it after batch, where one call serves a batch.",
                because="Every operation in the function is element-wise, so it gives the same result on batches.",
                doubt=" ".join(
                    ["Decoding the file before it takes longer, however."] * decoded
                    + ["The cache after it keeps the results, so this costs time in the first epoch only."] * cached
                    + ["The entries that it drops must then have one shape each."] * leaves
                ),
                fix=None if leaves else fixes.swap_with_batch(module, op, batch),
                related=((batch, "the batch that it can follow"),),
            )


def _why_not(op, batch):
    """Why a map need not, or cannot, follow the batch; None where it can."""
    if not op.facts.elementwise:
        return "its function is not seen to give the same on a batch as on each example"
    if any(data.is_batched(stage.input) for stage in op.stages):
        return "it gets batches already"
    # tf.data does not call such a function at all.
    if op.facts.is_trivial and not op.facts.calls:
        return "its function computes nothing"
    if batch is None:
        return "no batch is seen to follow it that it could be put after"
    return "the batch after it holds one example" if constant(batch.given("batch_size")) == 1 else None


def _is_cache(stage):
    return stage.name == "cache" and not stage.maybe


def _makes_entries(stage):
    return (
        stage.input is not None
        and stage.name in ("map", "flat_map", "interleave")
        or stage.name.endswith("from_generator")
    )
