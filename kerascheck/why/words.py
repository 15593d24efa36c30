"""What an answer says of a part that no finding leads, and around it."""

from __future__ import annotations

from collections.abc import Iterator

from kerascheck.why.lines import Lines
from kerascheck.why.step import Cause, Part, Step

_BUSY = 0.3
_KERAS_SECONDS = 0.01
"""What Keras itself does around a step takes some milliseconds (see the page of KC407): what takes longer is not saved by
``steps_per_execution``."""
_COMPILERS = {"jax": "@jax.jit", "torch": "@torch.compile"}
_WORKERS = {
    "pydataset": ", or let several workers run it: workers=4, use_multiprocessing=True",
    "dataloader": ", or let several workers run it: DataLoader(num_workers=4)",
}


def headline(step: Step, limit: float) -> str:
    """A clause on the largest part, if its share is at least ``limit``."""
    first = next((part for part in step.ranked if step.share(part) >= limit), None)
    if first is None:
        return "no part of a step stands out"
    share = f"{step.share(first):.0%}"
    said = {
        Part.INPUT: f"a step waits for data {share} of its time",
        Part.TRACING: f"a step spends {share} of its time on new graphs: tracing, optimizing and running them for "
        "the first time",
        Part.CALLBACKS: f"callbacks take {share} of a step",
        Part.PYTHON: f"your own Python between the calls of the step takes {share} of the time",
        Part.EAGER: f"the step runs eagerly: {share} of its time goes to operations that Python starts one by one",
        Part.INSIDE: f"Python that the step calls takes {share} of its time",
        Part.OVERHEAD: f"{share} of a step is a fixed cost, however small the batch",
        Part.COMPUTE: f"the {_device(step)} computes {share} of a step",
        Part.STEP: f"the step itself takes {share} of the time",
        Part.EPOCHS: f"{share} of the time goes to the start of each epoch, before its first step",
        Part.VALIDATION: f"validation takes {_at_least(step)}{share} of the time",
        Part.BETWEEN_EPOCHS: f"callbacks at the end of each epoch take {share} of the time",
        Part.PREDICT: "the script spends its time in calls of predict",
    }[first]
    if first in (Part.INPUT, Part.PREDICT) or not step.stages:
        return said
    waiting = (step.largest_gain(Part.INPUT) or 1.0) - 1
    if waiting >= 0.1 or is_busy(step):
        return said
    return (
        f"{said}; the input is not the limit: a data fix wins "
        f"{f'at most {waiting:.0%}' if waiting >= 0.01 else 'less than 1%'}"
    )


def _device(step: Step) -> str:
    return "GPU" if step.gpus else "processor"


def _at_least(step: Step) -> str:
    return "" if (step.facts.get("validation") or {}).get("whole") else "at least "


def without_finding(step: Step, part: Part, cause: Cause | None, *, covered: bool = False) -> str:
    """What to do about a part that no finding leads, as a clause; ``covered``: whether there are findings about it, at
    other lines."""
    uncovered = "" if covered else "; no rule covers it"
    if part is Part.INPUT:
        return _about_input(step, cause, uncovered)
    busy = f", {cause.share:.0%} of it at this line" if cause is not None else ""
    if part is Part.PYTHON:
        where = (
            f"into the function decorated with {_compiler(step)}" if step.kind == "function loop" else "out of the loop"
        )
        beside = "a DataLoader with num_workers" if step.backend == "torch" else "the input pipeline"
        return (
            f"this Python runs between the calls of the step{busy}{uncovered}. Move it {where} or into "
            f"{beside}, which runs beside the step"
        )
    return {
        Part.CALLBACKS: "let the callbacks do less, or run once an epoch instead of after every batch",
        Part.VALIDATION: "validate every few epochs (validation_freq) or on fewer batches (validation_steps)",
        Part.BETWEEN_EPOCHS: "let the callbacks do less at the end of an epoch, or do it every few epochs",
        Part.TRACING: f"{step.new_traces} graphs were traced while steps were measured; pass tensors of the same "
        "shapes and dtypes, no Python numbers, or set reduce_retracing=True",
        Part.EAGER: _about_eager(step),
        Part.OVERHEAD: _about_overhead(step),
        Part.EPOCHS: _about_epochs(step, cause),
        Part.INSIDE: f"TensorFlow calls this Python in every step{busy}{uncovered}. Write it with TensorFlow "
        "operations, or compute it once an epoch in a callback",
        Part.PREDICT: f"predict once for all rows; where they come one by one, {_called_directly(step)}",
        Part.COMPUTE: _about_computing(step),
        Part.STEP: f"{_about_computing(step)}. If a step with twice the batch takes hardly longer, keep that batch: "
        "then it was a fixed cost",
    }[part]


def _about_input(step: Step, cause: Cause | None, uncovered: str) -> str:
    if cause is None and step.facts.get("fed_by") == "pydataset":
        return (
            "the batches are made in other processes, which cannot be seen from here: time __getitem__ of the "
            "PyDataset by itself"
        )
    if cause is None:
        return (
            "no single stage or line was seen to take the time that a step waits: run it again when the "
            "machine is quiet"
        )
    if cause.python:
        seen = (
            f"{cause.share:.0%} of the Python that makes the batches was seen "
            f"{'at this line' if cause.path else 'here'}{uncovered}"
        )
        more = _WORKERS.get(step.facts.get("fed_by", ""), "")
        return f"{seen}. Do it once before training where its result is always the same; else make it faster{more}"
    stage = next((stage for stage in step.stages if stage.name == cause.what), None)
    if "Unbatch" in cause.what:
        return (
            "unbatch() takes the batches apart, row by row: read batches and keep them, and shuffle before "
            "they are made"
        )
    if "Shuffle" in cause.what:
        return (
            "the shuffle buffer fills again in every pass: shuffle file names or indices before they are "
            "loaded, or cache() what is loaded before it is shuffled"
        )
    if step.facts.get("fed_by") != "dataset" and step.kind == "fit":
        return (
            f"{words_of(cause.what)} is the slowest stage of the pipeline that Keras makes of this data; pass "
            "fit a tf.data dataset"
        )
    parallel = " although it runs in parallel already" if stage is not None and stage.parallelism > 1 else ""
    kept = ", or cache() its results if they never change" if "Map" in cause.what else ""
    return f"{words_of(cause.what)} is the slowest stage{parallel}: let it do less{kept}"


_METHODS = {"generator": "from_generator"}


def words_of(stage: str) -> str:
    """A stage by the methods that make it: "map() and batch()" for "MapAndBatch"."""
    bare = stage.removesuffix("V2").removesuffix("V3").removesuffix("V4").replace("Parallel", "")
    methods = ("".join("_" + c.lower() if c.isupper() else c for c in name).strip("_") for name in bare.split("And"))
    return " and ".join(f"{_METHODS.get(method, method)}()" for method in methods)


def _about_epochs(step: Step, cause: Cause | None) -> str:
    if cause is not None and "Shuffle" in cause.what:
        return (
            "shuffle() fills its buffer before it gives its first element, in every epoch: shuffle file names or "
            "indices before they are loaded, or cache() what is loaded before it is shuffled"
        )
    slowest = f"; most of that is {words_of(cause.what)}" if cause is not None else ""
    return f"the first step of every epoch waits until the input pipeline has started again{slowest}: use longer epochs"


def _about_eager(step: Step) -> str:
    if step.facts.get("functions_run_eagerly"):
        return "remove tf.config.run_functions_eagerly(True)"
    if step.kind in ("fit", "train_on_batch loop"):
        return "remove run_eagerly=True from compile()"
    return f"put the step into a function decorated with {_compiler(step)}"


def _compiler(step: Step) -> str:
    return _COMPILERS.get(step.backend, "@tf.function")


def _called_directly(step: Step) -> str:
    if step.backend == "torch":
        return "call the model itself under torch.no_grad()"
    return f"call the model in a function decorated with {_compiler(step)}"


def _about_overhead(step: Step) -> str:
    batch = f"a batch of {step.batch_size}" if step.batch_size else "this batch"
    text = f"{batch} does not keep the {_device(step)} busy: "
    if step.kind != "fit":
        return text + "train on larger batches"
    if step.parts.get(Part.OVERHEAD, 0.0) > _KERAS_SECONDS:
        return (
            f"{text}its operations run one after another, such as the time steps of a recurrent layer, and take hardly "
            "longer for more rows. Use a larger batch_size"
        )
    # On JAX it only calls the step several times, and PyTorch refuses it.
    several = ", or pass steps_per_execution=16 to compile()" if step.backend.startswith("tensorflow") else ""
    return f"{text}use a larger batch_size{several}"


def _about_computing(step: Step) -> str:
    if step.gpus:
        return (
            "the GPU computes most of the time: mixed precision, a smaller model or a faster GPU can help, "
            "and nothing in the input"
        )
    return "the processor computes most of the time: a GPU or a smaller model can help, and nothing in the input"


def is_busy(step: Step) -> bool:
    """Whether other programs used so much of the machine that small shares and bounds mean nothing."""
    return step.load_changed or (step.busy_others or 0.0) > _BUSY


def warning(step: Step) -> str | None:
    """What to know before the answer is read, as a clause."""
    if not is_busy(step):
        return None
    used = (
        f"used {step.busy_others:.0%} of this machine"
        if not step.load_changed
        else "used a changing share of this machine"
    )
    return f"other programs {used} during the run; only large parts are named, without bounds. Run it again when they have ended"


def remarks(step: Step, lines: Lines) -> Iterator[str]:
    """What limits the truth of an answer, as clauses."""
    commands = lines.commands()
    if commands:
        yield (
            f"{commands} line{'s' * (commands > 1)} for IPython or the shell "
            f"{'were' if commands > 1 else 'was'} not executed"
        )
    if not step.gpus:
        yield "no GPU was used: on a GPU computing takes less, and everything else a larger share"
    for what in step.unknown:
        yield f"not measured: {what}"
