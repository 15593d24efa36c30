from kerascheck.api import Applies, Rule, Severity, data, fixes, proofs


class ShuffleAfterBatch(Rule):
    """A shuffle behind batch changes the order of the batches, and never which examples are in one.

    ## What it does

    Looks for an operation that makes batches, followed by `.shuffle(k)` on the way to training: `batch`, `padded_batch`, `ragged_batch`,
    `bucket_by_sequence_length`, `map_and_batch` and their experimental forms, also inside a helper function. Between them may stand
    maps, filters, `cache`, `prefetch`, `repeat`, `take`, `skip` and `shard`, and a `zip` or `concatenate` of datasets that are all batched. The finding stands
    at the shuffle.

    ## Why it costs

    It costs quality and memory rather than time. The same examples stand together in every
    epoch, so the gradients vary less from epoch to epoch, and data that are sorted by class
    give batches of one class only. The buffer holds whole batches: on images a buffer of 100
    batches took 686 MB, where a shuffle of 1,000 files before they are decoded took 29 MB.
    The time per epoch was the same (ratio 1.06, 2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing: the order of the operations is what was asked for. Buckets by length do not mix either: they fill in the order in
    which the examples come, so each batch was the same in two epochs (tried with `padded_batch`, `ragged_batch` and
    `bucket_by_sequence_length`, TensorFlow 2.21).

    "Shuffling batches is cheaper than shuffling examples" is not so: a shuffle copies no
    element, it hands out one of those that it holds.

    ## When it stays silent

    - The examples were shuffled before `batch`, and the batches are mixed on top of that.
    - Another `batch`, `padded_batch` or `unbatch` follows: the first one made sequences, chunks or
      windows, which are the examples here. The same holds for whatever else regroups elements.
    - `padded_batch` in a program that sorts by length, as by `sorted(texts, key=len)`: neighbours then need little padding.
    - As an info, not a warning, where `tfds.load(shuffle_files=True)` mixes whole files.
    - `batch(1)`; files of `list_files`, which lists them in another order in each epoch.
    - A batch that comes from a Keras utility, such as `image_dataset_from_directory`: it shuffles
      files by itself.
    - The dataset feeds only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten steps, or a `take`
      has cut it to at most 32 elements.
    - An operation that this file does not show stands between or behind, or the dataset leaves the
      file: it may be batched once more there. What leaves with the shuffle directly behind the batch, or under a
      name that says training data, is an info, but for what comes from a generator, which may mix by itself, and, without such a name, for batches of four and less.

    ## Use instead

    `.shuffle(k * n).batch(n)`, and before `bucket_by_sequence_length` as well: the buckets still hold one length each.

    ## Fix safety

    Unsafe: the shuffle is put in front of `batch`, `padded_batch` or `ragged_batch`, with a buffer for as many examples
    as it held; in front of the map that decodes images, if there is one, and right behind a `cache`, which then holds
    examples and no batches. The training then sees other batches in every epoch, as intended. There is no fix where
    `take`, `skip`, `zip` or an operation that makes batches otherwise stands between the two, or where a part of the
    chain is used elsewhere too.

    Where other rules ask for another order of the same chain, one finding names the order that serves all, and has one
    unsafe fix.

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
                yield self.silence(op, "the examples are batched after it")
                continue
            found = data.shuffled_batches(op)
            if found is None:
                yield self.silence(op, "its elements may not be batches, or were mixed before they were batched")
                continue
            if found.mixes_files:
                yield self.silence(op, "the files are mixed before, in every epoch")
                continue
            # What a generator mixes by itself is for its caller to say.
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
