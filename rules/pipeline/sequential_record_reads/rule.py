from kerascheck.api import Applies, Constant, Rule, Severity, data, fixes, names


class SequentialRecordReads(Rule):
    """A dataset reads record files on network storage one after the other.

    ## What it does

    Looks for a `TFRecordDataset` or `TextLineDataset` in a training pipeline that gets several files from network
    storage and no `num_parallel_reads`. Several files are a list of more than one, the result of `tf.io.gfile.glob`, or
    a dataset made by `list_files`. Files are on network storage if their names start with `gs://`, `s3://`, `hdfs://`
    or similar. Names that are not literals also count if the program mentions such a location or trains on a TPU.

    ## Why it costs

    Only one file is open at a time, so the program waits for each response of the storage before it requests more. This
    is a known property of network storage. It has not been measured for this page. On a local disk there is nothing to
    gain. With the files in the page cache, parallel reads were even slower (ratio 0.82; 0.73 with GZIP; 2 CPU cores,
    TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing: it reads files in their order, and no rewrite changes that.

    "Always set num_parallel_reads" is wrong for local files, as the figures above show.

    ## When it stays silent

    - The call passes `num_parallel_reads`, even with a value that is not a literal.
    - There is only one file, or literal names without a scheme, which mean a local disk.
    - The names are not literals, and nothing in the program mentions network storage.
    - The names come from Python's `glob` or `os.listdir`, which see mounted disks only.
    - The dataset is created inside an `interleave` or `flat_map`: see `serial-interleave`.
    - No training use is visible: the dataset leaves the file, or is used only for validation, evaluation, prediction,
      `adapt`, inspection or a `fit` of at most ten steps.

    ## Use instead

    `tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)`.

    ## Fix safety

    Never safe: the fix mixes the records of several files, and a later `shuffle` shuffles a different order. Numbers
    from `enumerate` and windows of neighbours then belong to other records.

    ## References

    - TensorFlow API: `tf.data.TFRecordDataset`
    - TensorFlow guide: "Analyze tf.data performance with the TF Profiler"
    """

    code = "KC106"
    name = "sequential-record-reads"
    summary = "record files are read one after another"
    evidence_note = "The example reads local files; parallel reads pay on network storage."
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = ("TFRecordDataset", "TextLineDataset")
    proves = ("same-order",)
    loss_tolerance = None

    def check(self, module):
        for op in module.pipelines.operations(names.datasets.TFRECORD_DATASET, names.datasets.TEXT_LINE_DATASET):
            if (
                not op.feeds_training
                or op.inside is not None
                or not any(data.reads_remote_files(module, source) for source in op.stages)
            ):
                continue
            if op.given("num_parallel_reads") not in (None, Constant(None)):
                continue
            yield self.finding(
                op,
                f"These files are read one after the other; add num_parallel_reads={module.runtime.autotune} if they are on network storage.",
                because="TensorFlow opens the next file only at the end of the previous one, and waits for the storage each time.",
                fix=fixes.parallel_reads(op),
            )
