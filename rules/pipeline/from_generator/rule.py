from kerascheck.api import Applies, Rule, Severity, data, names


class FromGenerator(Rule):
    """A dataset reads one example at a time from a Python generator.

    ## What it does

    Looks for `tf.data.Dataset.from_generator` on the way to training where the generator yields single examples: a
    `batch`, `padded_batch` or another operation that makes batches follows. An info where a map behind it reads
    files: the generator then yields little more than their names. A dataset that leaves the file counts as training
    data too, unless a function, class or variable around it has a name that says validation or test, or a branch asks
    for those.

    ## Why it costs

    Every example goes through a Python call under the GIL, some 0.3 to 0.6 milliseconds
    each. On 2 CPU cores (TensorFlow 2.21, no GPU) iterating was 33 times slower than over the
    same arrays, and training with `fit` 4.1 times, because the training step hides a part of it.

    ## What the runtime does by itself

    It prefetches the batches, but it cannot run the generator in parallel, nor bypass
    Python.

    A popular answer says that `from_tensor_slices` is not optimised and that `from_generator`
    is the fast way for large data. For speed the opposite is true. Only its point about memory
    holds: slicing a big array takes a multiple of its size at the start. Then pass the arrays
    to `fit`, or let the generator yield whole batches.

    ## When it stays silent

    - The generator yields whole batches: no `batch` follows, only one of a single element, or only under a condition
      that is not around the generator, too. In `fit` that cost nothing measurable (ratio 1.06).
    - A generator of batches, or a `PyDataset`, given to `fit` directly: the same.
    - A `cache()` follows under no condition, so that the generator runs once.
    - As an info, not a warning, where no training with it is seen, and where files are read behind it.
    - It stands in the function of a parallel `interleave`.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps.

    ## Use instead

    Arrays in memory: pass them to `fit`, or use `from_tensor_slices`. Files: `list_files` and
    a parallel `map`. Data that only Python can produce: whole batches, or a `keras.utils.PyDataset`;
    more workers help there when it waits for storage, not when it computes.

    ## Fix safety

    There is no automatic fix. Only the author knows what the generator reads, and whether it fits in memory.

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
        return "a cache behind it keeps its elements"
    if op.is_batched_by_one(module.pipelines):
        return "its batches hold one example each"
    if op.inside is not None and op.inside.parallelism is not None:
        return "the interleave around it runs several generators at a time"
    return None
