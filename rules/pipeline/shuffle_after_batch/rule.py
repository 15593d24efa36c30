from kerascheck.api import Applies, Rule, Severity, data, fixes, proofs

_SILENT = {
    data.Unmixed.NO_BATCHES: "its elements are not seen to be batches",
    data.Unmixed.SHUFFLED_BEFORE: "an earlier shuffle mixes the examples",
    data.Unmixed.SOURCE_BATCHES: "the source of the dataset makes the batches itself",
    data.Unmixed.NOTHING_GAINED: "its batches have one example, or are padded examples of similar length",
}


class ShuffleAfterBatch(Rule):
    """A shuffle after batch changes the order of the batches, but never regroups their examples.

    ## What it does

    Looks for an operation that makes batches, followed by `.shuffle(k)`, in a training pipeline. Such operations are
    `batch`, `padded_batch`, `ragged_batch`, `bucket_by_sequence_length`, `map_and_batch` and their experimental forms,
    also inside a helper function. Between them, there may be maps, filters, `cache`, `prefetch`, `repeat`, `take`,
    `skip` and `shard`. There may also be a `zip` or `concatenate` of datasets that are all batched. The finding is at
    the shuffle.

    ## Why it costs

    It costs quality and memory rather than time. The same examples are in one batch in every epoch, so the gradients
    vary less from epoch to epoch. Data sorted by class give batches of one class only. The buffer holds whole batches:
    on images, a buffer of 100 batches took 686 MB. A shuffle of 1,000 files before decoding took 29 MB. The time per
    epoch was the same (ratio 1.06, 2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing: the order of the operations is the requested one. Buckets by length do not mix examples either: they fill
    in the order of the input. Each batch was therefore the same in two epochs (tested with `padded_batch`,
    `ragged_batch` and `bucket_by_sequence_length`, TensorFlow 2.21).

    "Shuffling batches is cheaper than shuffling examples" is not true: a shuffle copies no element, it only returns one
    of its buffered elements.

    ## When it stays silent

    - The examples were shuffled before `batch`, and the second shuffle also mixes the batches.
    - Another `batch`, `padded_batch` or `unbatch` follows. The first one made sequences, chunks or windows, which are
      the examples here. The same holds for other operations that regroup elements.
    - `padded_batch` in a program that sorts by length, for example by `sorted(texts, key=len)`: neighbours then need
      little padding.
    - Reported as info instead of a warning: `tfds.load(shuffle_files=True)` mixes whole files.
    - The batch is `batch(1)`, or the elements are files of `list_files`, which lists them in a different order in each
      epoch.
    - The batch comes from a Keras utility such as `image_dataset_from_directory`, which shuffles files by itself.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps.
    - A `take` limits the dataset to at most 32 elements.
    - An operation outside this file comes between or after the two.
    - The dataset leaves the file, where other code may batch it again. An info remains if the shuffle directly follows
      the batch, or if the name suggests training data. Data from a generator get no info, because the generator may mix
      by itself. Without such a name, batches of four or fewer get no info either.

    ## Use instead

    Use `.shuffle(k * n).batch(n)`. Also shuffle before `bucket_by_sequence_length`: the buckets still hold one length
    each.

    ## Fix safety

    Unsafe: the fix moves the shuffle before `batch`, `padded_batch` or `ragged_batch`, with a buffer for as many
    examples as before. If a map decodes images, the shuffle moves before that map. If the chain has a `cache`, the
    shuffle goes directly after it, and the cache then holds examples instead of batches. The training then sees
    different batches in every epoch, as intended.

    There is no fix if `take`, `skip`, `zip` or another operation that makes batches is between the two. There is also
    no fix if other code uses a part of the chain.

    If several rules want to reorder the same chain, one finding gives an order that satisfies them all, with one unsafe
    fix.

    ## References

    - TensorFlow API: `tf.data.Dataset.shuffle`, `tf.data.Dataset.batch`
    - TensorFlow guide: "tf.data: Build TensorFlow input pipelines", section on randomly shuffling input data
    """

    code = "KC115"
    name = "shuffle-after-batch"
    summary = "shuffle after batch mixes whole batches only"
    evidence_note = "The rule is about accuracy: it changes which examples share a batch, not how long a step takes."
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    speed = False
    triggers = (".shuffle(",)
    proves = ("same-order",)
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations("shuffle"):
            if not op.may_feed_training:
                continue
            if data.is_batched_again(module, op):
                yield self.silence(op, "a later operation batches or regroups its elements")
                continue
            found = data.shuffled_batches(op)
            if found is None:
                yield self.silence(op, _SILENT[data.unmixed(op)])
                continue
            if found.mixes_files:
                yield self.silence(op, "the files are mixed before, in every epoch")
                continue
            # Only the caller knows whether a generator mixes by itself.
            if not op.feeds_training and (found.are_generated or not op.is_named_training and found.may_be_examples):
                continue
            yield self._report(module, op, found)

    def _report(self, module, op, found):
        request = data.ReorderRequest(data.ReorderKind.SHUFFLE_EARLIER, found.shuffle)
        by_file = found.mixes_examples_by_file
        return self.finding(
            op,
            "This shuffle mixes whole batches, not examples; shuffle before batch, with a buffer of examples.",
            because="Only whole files are mixed before batch, and this buffer holds whole batches."
            if by_file
            else "Nothing mixes the examples before batch, so each batch holds the same ones in every epoch.",
            doubt="The files still come in another order in each epoch."
            if by_file
            else None
            if op.feeds_training
            else "No training on it is visible here.",
            fix=fixes.rearranged(
                module,
                [request],
                "Shuffle the elements, before batch",
                proofs.SAME_ORDER.unless("the elements come in another order"),
            ),
            reorder=request,
            related=tuple((batch, "batched here") for batch in found.batches),
        )
