from kerascheck.api import Applies, Rule, Severity, data, names


class FromGenerator(Rule):
    """A dataset reads one example at a time from a Python generator.

    ## What it does

    Looks for `tf.data.Dataset.from_generator` in a training pipeline if the generator yields single examples. The sign
    is a later `batch`, `padded_batch` or another operation that makes batches. It is an info if a later map reads
    files: the generator then yields little more than file names.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    Every example goes through a Python call under the GIL, which takes some 0.3 to 0.6 milliseconds. On 2 CPU cores
    (TensorFlow 2.21, no GPU), iteration was 33 times slower than over the same arrays. Training with `fit` was 4.1
    times slower, because the training step hides part of the cost.

    ## What the runtime does by itself

    It prefetches the batches, but it cannot run the generator in parallel or bypass Python.

    A popular answer says that `from_tensor_slices` is not optimised, and that `from_generator` is the fast way for
    large data. For speed, the opposite is true. Only the point about memory is right: slicing a big array takes a
    multiple of its size at the start. If memory is short, pass the arrays to `fit`, or let the generator yield whole
    batches.

    ## When it stays silent

    - The generator yields whole batches: no `batch` follows, or only a batch of one element. In `fit`, this had no
      measurable cost (ratio 1.06).
    - The `batch` is under a condition that does not also enclose the generator.
    - `fit` receives a generator of batches or a `PyDataset` directly, which is just as cheap.
    - An unconditional `cache()` follows, so the generator runs once.
    - Reported as info instead of a warning: no training with the dataset is visible, or a later map reads files.
    - The generator is in the function of a parallel `interleave`.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.

    ## Use instead

    For arrays in memory, pass them to `fit` or use `from_tensor_slices`. For files, use `list_files` and a parallel
    `map`. For data that only Python can produce, yield whole batches or use a `keras.utils.PyDataset`. More workers
    help there if it waits for storage, but not if it computes.

    ## Fix safety

    There is no automatic fix. Only the author knows which data the generator reads, and whether they fit in memory.

    ## References

    - TensorFlow API: `tf.data.Dataset.from_generator`; Keras API: `keras.utils.PyDataset`
    - TensorFlow guide: "Better performance with tf.function"
    - TensorFlow source: `from_generator_op.py`
    """

    code = "KC109"
    name = "from-generator"
    summary = "generator yields one example at a time"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("from_generator",)
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations(names.datasets.FROM_GENERATOR):
            if not op.may_feed_training:
                continue
            if (reason := _why_not(module, op)) is not None:
                yield self.silence(op, reason)
                continue
            only_names = any(
                stage.facts is not None and any(map(data.reads_file, stage.facts.calls))
                for each in op.stages
                for stage in module.pipelines.downstream(each)
            )
            yield self.finding(
                op,
                "This generator yields one example at a time under the GIL; yield batches, or use tf.data operations.",
                because="Every example costs a call into Python, which cannot run in parallel.",
                doubt="Compared with reading the files after it, that costs little."
                if only_names
                else None
                if op.feeds_training
                else "No training on it is visible here.",
            )


def _why_not(module, op):
    """Why nothing is gained by a generator that yields batches; None where something is."""
    if not op.followed_by(module.pipelines, *names.datasets.BATCHING):
        return "nothing batches its elements, which may be batches already"
    if op.followed_by(module.pipelines, "cache"):
        return "a cache after it keeps its elements"
    if op.is_batched_by_one(module.pipelines):
        return "its batches hold one example each"
    if op.inside is not None and op.inside.parallelism is not None:
        return "the interleave around it runs several generators at a time"
    return None
