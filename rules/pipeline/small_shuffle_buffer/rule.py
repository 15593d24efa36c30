from kerascheck.api import Applies, Rule, Severity, constant, data


class SmallShuffleBuffer(Rule):
    """A shuffle buffer smaller than a batch hardly mixes anything, and shuffle(1) mixes nothing.

    ## What it does

    Looks for `shuffle` in a training pipeline with a literal buffer of 1, or of fewer elements than the literal size of
    the following batch.

    The rule is off by default: it concerns the quality of the training, not time.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    The buffer size limits how far an element can move forward. With a buffer smaller than a batch, neighbours stay in
    the same or the next batch in every epoch. If the data are sorted, for example by class, the batches are sorted too.
    A probe (TensorFlow 2.21) shows that `shuffle(1)` changes nothing. No time is lost.

    ## What the runtime does by itself

    Nothing. It does not warn about the small buffer.

    "The buffer should be the batch size" is wrong advice. The buffer should be as large as memory allows, at best the
    number of elements. File names and encoded records take little memory: see `shuffle-after-decode`.

    ## When it stays silent

    - The buffer size or the batch size is not a literal.
    - The elements are shuffled a second time, before or after it, or by `list_files`.
    - The elements are already batches or files of many examples: `batch` comes before it, or an `interleave` or
      `flat_map` follows.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.
    - A `take` limits the dataset to at most 32 elements.

    ## Use instead

    Use `shuffle(n)` with n as the number of elements, or as many as fit in memory.

    ## Fix safety

    There is no fix: the right number depends on the data, which the code does not show.

    ## References

    - TensorFlow API: `tf.data.Dataset.shuffle`
    - TensorFlow guide: "tf.data: Build TensorFlow input pipelines", section on randomly shuffling input data
    """

    code = "KC127"
    name = "small-shuffle-buffer"
    summary = "shuffle buffer is smaller than a batch"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    speed = False
    on_by_default = False
    triggers = (".shuffle(",)
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations("shuffle"):
            buffer = constant(op.given("buffer_size"))
            if not op.may_feed_training or not isinstance(buffer, int) or buffer < 1:
                continue
            if any(
                data.is_batched(stage.input) or any(map(data.is_reshuffled, stage.input.upstream()))
                for stage in op.stages
            ):
                continue
            if any(
                child.name in ("shuffle", "interleave", "flat_map")
                for stage in op.stages
                for child in module.pipelines.downstream(stage)
            ):
                continue
            batch = data.next_batch(module, op)
            size = constant(batch.given("batch_size")) if batch is not None else None
            if buffer > 1 and not (isinstance(size, int) and buffer < size):
                continue
            yield self.finding(
                op,
                "A shuffle with a buffer of one changes nothing; use a buffer of as many elements as fit in memory."
                if buffer == 1
                else f"This shuffle buffer of {buffer} elements is smaller than one batch of {size}; use as many as fit in memory.",
                because="An element can move forward by at most the size of the buffer.",
                related=((batch, "the batch it feeds"),) if batch is not None else (),
            )
