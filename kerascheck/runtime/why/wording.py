"""Sentences of a diagnosis: advice about parts without a leading finding, warnings and remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kerascheck.knowledge.datasets import methods_of_iterator
from kerascheck.lint.pipeline import processors
from kerascheck.runtime.verify.messages import Compilations, EmbeddingTable, Validation
from kerascheck.runtime.why import layers, roofline
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.step import Cause, Part, Step

_BUSY = 0.3
_KERAS_SECONDS = 0.01
"""Seconds that Keras takes around a step (see the page of KC407), the maximum that ``steps_per_execution`` saves."""
_WORTH_NAMING = 0.1
"""Minimum share of a step for the optimizer to be named as a part of the fixed cost."""
_FEWEST_BUSY = 0.5
"""Minimum share of a step in which operations run for the processor to be the limit."""
_COMPILERS = {"jax": "@jax.jit", "torch": "@torch.compile"}
_WORTH_PROCESSES = 60.0
"""Minimum seconds of waiting per epoch at which workers pay off.

Keras starts the processes of a PyDataset in every epoch. In a training of 10 s, four of them made steps 4 times as
fast, but the whole training 2.3 times as slow.
"""


def headline(step: Step, limit: float) -> str:
    """A clause on the largest part, if its share is at least ``limit``."""
    first = next((part for part in step.ranked if step.share(part) >= limit), None)
    if first is None:
        return "it is too busy here to tell" if is_busy(step) else "no part of a step stands out"
    share = f"{step.share(first):.0%}"
    said = {
        Part.INPUT: f"a step waits for data {share} of its time",
        Part.TRACING: f"a step spends {share} of its time on new graphs: tracing, optimizing and running them for "
        "the first time",
        Part.CALLBACKS: f"callbacks take {share} of a step",
        Part.PYTHON: f"your own Python between the calls of the step takes {share} of the time",
        Part.EAGER: f"the step runs eagerly: {share} of its time goes to operations that Python starts one by one",
        Part.INSIDE: f"Python that the step calls takes {share} of its time",
        Part.OVERHEAD: f"{share} of a step passes between the compiled steps"
        if step.recorded
        else f"{share} of a step is a fixed cost, however small the batch",
        Part.COMPUTE: f"the {_device(step)} computes {share} of a step",
        Part.STEP: f"the step itself takes {share} of the time",
        Part.EPOCHS: f"{share} of the time goes to the start of each epoch, before its first step",
        Part.VALIDATION: f"validation takes {_at_least(step)}{share} of the time",
        Part.BETWEEN_EPOCHS: f"callbacks at the end of each epoch take {share} of the time",
        Part.PREDICT: "the script spends its time in calls of predict"
        if step.share(first) == 1
        else f"calls of predict between the steps take {share} of the time",
        Part.START: f"the training takes {seconds_of(step.start_seconds)} to begin: {share} of its time",
        Part.FIT: f"each call of fit is set up again, which takes {share} of the time",
        Part.COMPILE: f"the step is compiled again for new shapes, which takes {share} of the time",
        Part.LOOKUP: f"layers of the model for text and categories take {share} of a step",
        Part.TABLES: f"the optimizer updates whole embedding tables in every step, which takes {share} of it",
        Part.UNEXPLAINED: f"{share} of a step is not explained by {'the profile' if step.recorded else 'what was measured'}",
    }[first]
    if first in (Part.INPUT, Part.PREDICT, Part.START, Part.VALIDATION, Part.FIT, Part.UNEXPLAINED) or not step.stages:
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
    return "" if (step.facts.validation is not None and step.facts.validation.whole) else "at least "


def without_finding(step: Step, part: Part, cause: Cause | None, *, covered: bool = False) -> str:
    """Advice about a part without a leading finding, as a clause; ``covered``: there are findings at other lines."""
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
    if part is Part.INSIDE:
        return (
            f"TensorFlow calls this Python in every step{busy}{uncovered}. Write it with TensorFlow operations, or compute it "
            "once an epoch in a callback"
        )
    if part is Part.PREDICT:
        return f"predict once for all rows{busy}; where they come one by one, {_called_directly(step)}"
    return _SAID[part](step, cause)


def _about_input(step: Step, cause: Cause | None, uncovered: str) -> str:
    fed_by = _feeder_kind(step)
    if fed_by == "generator" and cause is not None and not cause.python and cause.place != step.place:
        return (
            f"every batch waits for {cause.what}, which runs in one thread: make its batches cheaper, or read the data with tf.data "
            "and map(..., num_parallel_calls=tf.data.AUTOTUNE)"
        )
    if fed_by == "pydataset" and (cause is None or not cause.python):
        return (
            "the batches are made in other processes, which cannot be seen from here: time __getitem__ of the "
            "PyDataset by itself"
        )
    if cause is None and step.recorded:
        return (
            "the profile shows no stage of a tf.data pipeline that takes this time; where the script can run, why without "
            "--profile sees the Python that makes the batches"
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
        once = "Do it once before training where its result is always the same; else make it faster"
        return f"{seen}. {once}{_workers(step, fed_by)}"
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
    if "Generator" in cause.what:
        return (
            "from_generator() runs your Python in one thread, and that is the slowest stage: make the generator cheaper, or "
            "read the data with tf.data and map(..., num_parallel_calls=tf.data.AUTOTUNE)"
        )
    if fed_by in ("arrays", "generator") and step.kind == "fit":
        return f"Keras reads {cause.what} through a pipeline of its own, which has no faster setting; pass fit a tf.data dataset"
    words = words_of(cause.what)
    are, run = ("are", "they run") if " and " in words else ("is", "it runs")
    parallel = f", although {run} in parallel already" if stage is not None and stage.parallelism > 1 else ""
    kept = ", or cache() the results if they never change" if "Map" in cause.what else ""
    return f"{words} {are} the slowest stage{parallel}: do less there{kept}"


def _feeder_kind(step: Step) -> str:
    return "" if step.facts.feeder is None else step.facts.feeder.kind


def _workers(step: Step, fed_by: str) -> str:
    """Advice about workers, as the end of a sentence; empty if their start may cost more than they save."""
    if fed_by == "dataloader":
        return ", or let several processes run it: DataLoader(num_workers=4, persistent_workers=True)"
    waiting = step.parts[Part.INPUT] * (step.steps_per_epoch or 0)
    if fed_by != "pydataset" or waiting < _WORTH_PROCESSES:
        return ""
    return (
        f". An epoch waits {seconds_of(waiting)} for it: that can pay for processes, which start again in every epoch "
        "(workers=4, use_multiprocessing=True)"
    )


def words_of(stage: str) -> str:
    """A stage in terms of dataset methods: "map() and batch()" for "MapAndBatch"; other names stay unchanged."""
    return stage if " " in stage else " and ".join(f"{method}()" for method in methods_of_iterator(stage))


def _about_epochs(step: Step, cause: Cause | None) -> str:
    if _feeder_kind(step) in ("arrays", "generator", "pydataset"):
        return (
            "the first step of every epoch waits until Keras has started its own input pipeline again: use longer epochs, "
            "or pass fit a tf.data dataset"
        )
    if cause is not None and "Shuffle" in cause.what:
        return (
            "shuffle() fills its buffer before it gives its first element, in every epoch: shuffle file names or "
            "indices before they are loaded, or cache() what is loaded before it is shuffled"
        )
    names = [stage.name for stage in step.stages]
    behind = names[: names.index(cause.what)] if cause is not None and cause.what in names else names
    if cause is not None and any("Shuffle" in name for name in behind):
        return (
            f"{words_of(cause.what)} makes all elements with which shuffle() fills its buffer before the first step of every "
            "epoch: make it cheaper or parallel, cache() its results if they never change, or shuffle before it"
        )
    slowest = f"; most of that is {words_of(cause.what)}" if cause is not None else ""
    return f"the first step of every epoch waits until the input pipeline has started again{slowest}: use longer epochs"


def _about_eager(step: Step) -> str:
    if step.facts.functions_run_eagerly:
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
    if step.recorded:
        return (
            "Keras and its callbacks take this time between the compiled steps: let callbacks do less after every batch, use "
            "a larger batch_size, or pass steps_per_execution=16 to compile()"
        )
    batch = f"a batch of {step.batch_size}" if step.batch_size else "this batch"
    text = f"{batch} does not keep the {_device(step)} busy: "
    optimizer = _optimizer_of_overhead(step)
    if step.kind != "fit":
        return f"{text}train on larger batches{optimizer}"
    if step.parts.get(Part.OVERHEAD, 0.0) > _KERAS_SECONDS:
        known = optimizer or _known_of_overhead(step)
        return f"{_measured_overhead(step)}{known}. Use a larger batch_size"
    # On JAX it only calls the step several times, and PyTorch rejects it.
    several = ", or pass steps_per_execution=16 to compile()" if step.backend.startswith("tensorflow") else ""
    return f"{text}use a larger batch_size{several}{optimizer}"


def _optimizer_of_overhead(step: Step) -> str:
    """The share of the optimizer, whose work does not grow with the batch, as the end of a clause; empty if small."""
    trace = step.facts.step_trace
    rows = [] if trace is None else [row for row in trace.rows if row.role == "optimizer"]
    share = sum(trace.of_step(trace.share(row)) for row in rows) if trace is not None else 0.0
    if share < _WORTH_NAMING:
        return ""
    return f". {rows[0].kind} takes {share:.0%} of a step, whatever the size of the batch"


def _measured_overhead(step: Step) -> str:
    """A clause about the measured fixed cost of a step."""
    fixed = seconds_of(step.parts[Part.OVERHEAD])
    larger, longer = step.facts.times_larger, step.facts.times_as_long
    measured = f": with {larger} times the rows it takes {longer:.2f} times as long" if larger and longer else ""
    return f"{fixed} of a step do not grow with the batch{measured}"


def _known_of_overhead(step: Step) -> str:
    """Possible causes of the fixed cost in the model, as the end of a clause."""
    model = step.facts.model
    if model is None:
        return ". What takes them was not measured"
    if recurrent := model.recurrent:
        return f"; {' and '.join(recurrent)} compute{'s' * (len(recurrent) == 1)} the time steps one after another"
    if step.backend == "jax" and not model.jit_compile:
        return "; with jit_compile=False JAX starts each operation by itself: leave it out"
    return ". What takes them was not measured"


def _about_start(step: Step, cause: Cause | None) -> str:
    steps = step.seconds - step.parts[Part.START]
    times = (
        f"{seconds_of(step.start_seconds)} until the first step has ended, {seconds_of(steps)} for each one after that"
    )
    if cause is None:
        return f"{times}. No line of the script was seen to take it: the step is built and compiled once for each call of fit"
    return (
        f"{times}; {cause.share:.0%} of it was seen in this function. Loops over tensors in Python are unrolled into the graph: "
        "write them as keras.layers.RNN or keras.ops.scan"
    )


def _about_shapes(step: Step) -> str:
    known, model = step.facts.new_shapes, step.facts.model
    if step.recorded:
        return "XLA compiles while steps run: pad the batches to one shape, or to a few"
    if known is None:
        compiled = step.facts.compiled or Compilations()
        names = ", ".join(list(compiled.functions)[:3])
        return (
            f"{compiled.count} functions were compiled while steps were measured ({names}){_what_changed(compiled)}: "
            f"pad the batches to one shape, or to a few{', or compile with dynamic=True' * (step.backend == 'torch')}"
        )
    each = known.seconds * known.seen / max(1, known.new)
    shapes = ", ".join(str(shape) for shape in known.shapes[:3])
    switch = ", or leave out jit_compile=True" if model is not None and model.jit_compile else ""
    return (
        f"{known.new} of {known.seen} batches had to be compiled for first, in {seconds_of(each)} on average, with "
        f"shapes such as {shapes}: pad them to one length, or to a few{switch}"
    )


def _what_changed(compiled: Compilations) -> str:
    """The difference between two compilations of a function, as a clause; empty if none is known."""
    if compiled.reasons:
        return f", because of {compiled.reasons[0].splitlines()[0].partition(': ')[2]}"
    for seen in compiled.shapes.values():
        changed = [at for at, kinds in enumerate(zip(*seen)) if len({str(kind) for kind in kinds}) > 1]
        if len(seen) > 1 and changed:
            dtype, *_ = seen[0][changed[0]]
            shapes = dict.fromkeys(str(tuple(arguments[changed[0]][1:])) for arguments in seen)
            return f", for {dtype} arguments of {len(shapes)} shapes such as {', '.join(list(shapes)[:3])}"
    return ""


def _about_lookup(step: Step) -> str:
    layers = dict.fromkeys(layer.kind for layer in step.facts.lookup_layers) or {"a lookup layer": None}
    return (
        f"{' and '.join(layers)}: {seconds_of(step.parts[Part.LOOKUP])} a step, measured by itself: it works on the processor, in every "
        "step of every epoch. Apply it to the dataset with map(), or once before the training"
    )


def _about_tables(step: Step) -> str:
    tables = step.facts.whole_tables or (EmbeddingTable("a table", 0, None, "the optimizer", 0.0),)
    table = max(tables, key=lambda each: each.seconds)
    of_batch = f", of which a batch uses {table.rows_used:,}" if table.rows_used else ""
    return (
        f"{table.optimizer} keeps moments of all {table.rows:,} rows of {table.name}{of_batch}, and updates them in every step: "
        f"{seconds_of(step.parts[Part.TABLES])}, measured by itself. Use an optimizer without moments (SGD), or a smaller table"
    )


def _about_validation(step: Step) -> str:
    found = step.facts.validation or Validation()
    batches, of_a_pass = found.batches, found.batches_of_a_pass
    if batches and of_a_pass and batches > of_a_pass:
        return (
            f"each validation reads {batches:,} batches of a set that has {of_a_pass:,}: validation_steps counts batches, "
            f"not rows. Use validation_steps={of_a_pass}"
        )
    first, seconds = found.first_seconds or 0.0, found.seconds or 0.0
    if seconds and first > seconds / 2:
        return (
            f"{seconds_of(first)} of {seconds_of(seconds)} go to the first batch of the validation set, which is read from "
            "its beginning each time: make it of data of its own instead of skip(), and do not shuffle it"
        )
    return "validate every few epochs (validation_freq) or on fewer batches (validation_steps)"


def repeated_rows(step: Step) -> tuple[float, str] | None:
    """Explain a ``steps_per_epoch`` that counts rows as if they were batches.

    Returns:
        How many times an epoch reads its data, and the evidence as a clause; None if it reads its data once.
    """
    asked = step.facts.fit_arguments
    steps = asked.steps_per_epoch
    if not steps or not asked.steps_given:
        return None
    if (batches := asked.batches_of_a_pass) and steps >= 2 * batches:
        return steps / batches, f"an epoch reads {steps:,} batches of data that has {batches:,}"
    held = [name for name, rows in asked.held_rows.items() if rows == steps]
    if held and (step.batch_size or 1) > 1:
        rows = steps * (step.batch_size or 1)
        return float(step.batch_size or 1), (
            f"steps_per_epoch is {steps:,}, the number of rows of '{held[0]}', but counts batches: of {step.batch_size} rows "
            f"each, an epoch reads {rows:,} rows"
        )
    return None


def hidden_devices(step: Step) -> tuple[tuple[str, int] | None, str] | None:
    """Where the script restricts its visible GPUs, with a clause for display; None if it does not, or uses one."""
    visible = step.facts.visible_devices
    if visible is None or step.gpus:
        return None
    place = (visible.path, visible.line) if visible.path is not None and visible.line is not None else None
    value = visible.value
    if value in ("", "-1"):
        return place, "the script hides every GPU from itself here, and trains on the processor: delete the line"
    return place, (
        f"the script may only see the GPU{'s' * (',' in value)} with the number {value}: where the machine has no such GPU, it "
        "trains on the processor. Numbers begin at 0; delete the line, or name a GPU that is there"
    )


def seconds_of(seconds: float | None) -> str:
    """Format a duration, such as "19 s" or "26 ms"."""
    if seconds is None:
        return "some time"
    if seconds >= 1:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.1f} ms"


def _about_computing(step: Step) -> str:
    trace = step.facts.step_trace
    busy = None if trace is None else trace.busy_share
    if busy is not None and busy < _FEWEST_BUSY and not step.gpus:
        return f"operations run in only {busy:.0%} of a step; the trace does not show what runs between them"
    if step.gpus:
        if trace is not None and roofline.is_launch_bound(trace):
            return "the GPU waits for short kernels to start: larger batches can help, and nothing in the input"
        half = "mixed precision, " if roofline.may_gain_in_half(step, Part.COMPUTE) else ""
        return f"the GPU computes most of the time: {half}a smaller model or a faster GPU can help, and nothing in the input"
    can = "a smaller model" if hidden_devices(step) is not None else "a GPU or a smaller model"
    return f"the processor computes most of the time: {can} can help, and nothing in the input"


def is_busy(step: Step) -> bool:
    """Whether other programs use so much of the machine that small shares and bounds are meaningless."""
    return step.load_changed or (step.busy_others or 0.0) > _BUSY


def nothing_said(step: Step) -> str:
    """Explain in a sentence why there is no recommendation."""
    if not is_busy(step):
        return "Nothing here is worth a change: no part of a step stands out."
    cores = processors()
    used = f"{(step.busy_others or 0.0) * cores:.1f} of {cores} cores are used by others"
    return f"Too busy to tell: {used if not step.load_changed else 'what others use of this machine changes'}."


def warning(step: Step) -> str | None:
    """A clause about load that affects the whole diagnosis; None on a quiet machine."""
    if not is_busy(step):
        return None
    used = (
        f"used {step.busy_others:.0%} of this machine"
        if not step.load_changed
        else "used a changing share of this machine"
    )
    bounds = "without bounds" if step.load_changed else "with wide bounds"
    return (
        f"other programs {used} during the run; only large parts are named, {bounds}. Run it again when they have ended"
    )


def remarks(step: Step, lines: Lines) -> Iterator[str]:
    """Limits of the measurement, as clauses."""
    commands = lines.commands()
    if commands:
        yield (
            f"{commands} line{'s' * (commands > 1)} for IPython or the shell "
            f"{'were' if commands > 1 else 'was'} not executed"
        )
    if not step.gpus:
        yield "no GPU was used: on a GPU computing takes less, and everything else a larger share"
    if (limit := layers.remark(step.facts)) is not None:
        yield limit
    if (limit := roofline.remark(step)) is not None:
        yield limit
    for what in step.unknown:
        yield f"not measured: {what}"


def _about_tracing(step: Step, cause: Cause | None) -> str:
    traced = "graphs" if step.recorded else f"{step.new_traces} graphs"
    return (
        f"{traced} were traced while steps were {'recorded' if step.recorded else 'measured'}; pass tensors of the same shapes and dtypes, no "
        "Python numbers, or set reduce_retracing=True"
    )


def _about_fits(step: Step, cause: Cause | None) -> str:
    return (
        "gather the rows of several calls and fit them at once, or call train_on_batch: fit makes a data pipeline and its "
        f"callbacks for every call, here for {step.batch_size or 'a few'} row{'s' * (step.batch_size != 1)}"
    )


def _about_unexplained(step: Step) -> str:
    if step.recorded:
        host = ": on JAX, the host then makes batches, runs callbacks or reads results" * (step.backend == "jax")
        return (
            f"no operation runs in this time, and no event of the profile tells why{host}. Where the script can run, why "
            "without --profile measures it"
        )
    if step.unknown:
        return f"waiting for data was not told from the step itself; not measured: {step.unknown[0]}"
    return (
        "a step takes longer than the same step on one batch, and neither waiting for data nor compiling was seen to be "
        "that: run it again when the machine is quiet"
    )


def _about_step(step: Step, cause: Cause | None) -> str:
    return (
        f"{_about_computing(step)}. If a step with twice the batch takes hardly longer, keep that batch: then it was a "
        "fixed cost"
    )


_SAID: Mapping[Part, Callable[[Step, Cause | None], str]] = {
    Part.CALLBACKS: lambda step, cause: "let the callbacks do less, or run once an epoch instead of after every batch",
    Part.BETWEEN_EPOCHS: lambda step, cause: (
        "let the callbacks do less at the end of an epoch, or do it every few epochs"
    ),
    Part.VALIDATION: lambda step, cause: _about_validation(step),
    Part.TRACING: _about_tracing,
    Part.EAGER: lambda step, cause: _about_eager(step),
    Part.OVERHEAD: lambda step, cause: _about_overhead(step),
    Part.EPOCHS: _about_epochs,
    Part.START: _about_start,
    Part.FIT: _about_fits,
    Part.COMPILE: lambda step, cause: _about_shapes(step),
    Part.LOOKUP: lambda step, cause: _about_lookup(step),
    Part.TABLES: lambda step, cause: _about_tables(step),
    Part.COMPUTE: lambda step, cause: _about_computing(step),
    Part.STEP: _about_step,
    Part.UNEXPLAINED: lambda step, cause: _about_unexplained(step),
}
"""Advice about each part without a leading finding, as a clause."""
