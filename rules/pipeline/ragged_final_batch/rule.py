from kerascheck.api import UNKNOWN, Rule, Severity, constant


class RaggedFinalBatch(Rule):
    """The last, smaller batch makes XLA compile the training step a second time.

    ## What it does

    Looks for `batch(n)` without `drop_remainder=True` if the batches go to a step compiled by
    `tf.function(jit_compile=True)`. The severity is info: the cost occurs once per run, and only if `n` does not divide
    the number of elements.

    ## Why it costs

    XLA compiles for one shape. The last batch has another shape, so XLA compiles the whole step again when it first
    arrives. This takes 1.2 to 1.9 s for a small network (2 CPU cores, TensorFlow 2.21, no GPU). A large network takes
    more. Later epochs reuse both versions. The rule does not look for a TPU. The loss there
    is unmeasured, and `TPUStrategy` pads smaller batches unless `experimental_enable_dynamic_batch_size` is switched
    off.

    ## What the runtime does by itself

    Without XLA, there is no loss. A `tf.function` accepts any number of rows with `reduce_retracing` or after its
    second trace, and Keras `fit` keeps one function for both sizes.

    ## When it stays silent

    - The call passes `drop_remainder`, with any value.
    - `repeat` comes before `batch`, so every batch is full.
    - A `repeat`, `unbatch` or another `batch` follows.
    - `fit` consumes the batches, or XLA does not compile the step.
    - The data are for validation, evaluation or prediction, where no sample may be dropped.

    ## Use instead

    Use `batch(n, drop_remainder=True)` for training, with a `shuffle` before it. Each epoch then omits different
    samples.

    ## Fix safety

    There is no automatic fix: each epoch would omit up to `n - 1` samples, or all of them if the data is less than one
    batch.

    ## References

    - TensorFlow guide: "XLA: Optimizing Compiler for Machine Learning"
    - TensorFlow API: `tf.data.Dataset.batch`, `tf.function`, `tf.distribute.RunOptions`
    """

    code = "KC121"
    name = "ragged-final-batch"
    summary = "smaller last batch makes XLA compile again"
    evidence_note = "The cost is one more compilation at the first smaller batch, not slower steps."
    severity = Severity.INFO
    triggers = ("jit_compile", "experimental_compile")
    loss_tolerance = None

    def check(self, module):
        pipelines = module.pipelines
        for op in pipelines.operations("batch", "padded_batch"):
            if (
                not op.feeds_training
                or op.given("drop_remainder") is not None
                or any(_fills(stage) for stage in op.stages)
            ):
                continue
            after = {stage.identity for inner in op.stages for stage in (inner, *pipelines.downstream(inner))}
            sinks = [sink for sink, role in pipelines.sinks if role == "train" and sink.stage.identity in after]
            # Unbatching or rebatching changes the last batch.
            if any(
                stage.name in ("unbatch", "batch", "rebatch", "repeat") and stage not in op.stages for stage in after
            ):
                continue
            step = next(
                (
                    call
                    for sink in sinks
                    if sink.loop is not None
                    for call in pipelines.calls_in(sink.loop)
                    if _compiled(call)
                ),
                None,
            )
            if step is None:
                continue
            yield self.finding(
                op,
                "A smaller last batch makes XLA compile the training step again; use drop_remainder=True.",
                because="XLA compiles the training step separately for each batch shape.",
                related=((step.path.frame.function, "compiled by XLA"),),
            )


def _fills(stage):
    """Every batch is full: the dataset has no end there."""
    return any(
        each.name in ("repeat", "shuffle_and_repeat") or each.is_source and each.name.endswith(".Counter")
        for each in stage.upstream()
        if each is not stage
    )


def _compiled(call):
    """Whether a call runs in a function that XLA compiles."""
    for frame in call.path.frames():
        options = frame.function.options if frame.function is not None else None
        if options is None:
            continue
        for name in ("jit_compile", "experimental_compile"):
            given = options.given(name)
            if given is not UNKNOWN and constant(given) is True:
                return True
    return False
