from kerascheck.api import Applies, Constant, Rule, Severity, data, fixes, names


class SequentialRecordReads(Rule):
    """Record files on network storage are read one after the other.

    ## What it does

    Looks for a `TFRecordDataset` or `TextLineDataset` on the way to training that gets several
    files from network storage and no `num_parallel_reads`. Several files are a list of more
    than one, what `tf.io.gfile.glob` finds, or a dataset made by `list_files`. They are on network
    storage where their names start with `gs://`, `s3://`, `hdfs://` or the like, or where their
    names are not literals in a program that names such a place or trains on a TPU.

    ## Why it costs

    One file is open at a time, so the program waits for each response of the storage before it
    requests more. That is known of network storage, and has not been measured for this page. On a
    local disk there is nothing to gain: with the files in the page cache parallel reads were
    even slower (ratio 0.82; 0.73 with GZIP; 2 CPU cores, TensorFlow 2.21, no GPU).

    ## What the runtime does by itself

    Nothing: files are read in their order, and no rewrite changes that.

    "Always set num_parallel_reads" is wrong for local files, as the figures above say.

    ## When it stays silent

    - `num_parallel_reads` is given, also as something that is not a literal.
    - One file, or literal names without a scheme: a local disk.
    - Names that are not literals, where nothing in the program mentions network storage; Python's
      `glob` and `os.listdir`, which see mounted disks only.
    - The dataset is created inside an `interleave` or `flat_map`: see `serial-interleave`.
    - It is not seen to feed training: only validation, evaluation, prediction, `adapt`, inspection or a `fit` of at
      most ten steps, or it leaves the file.

    ## Use instead

    `tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)`.

    ## Fix safety

    Never safe: the records of several files are then mixed, and a `shuffle` behind them shuffles another order.
    Numbers from `enumerate` and windows of neighbours then belong to other records.

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
