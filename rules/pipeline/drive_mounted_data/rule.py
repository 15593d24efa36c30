from kerascheck.api import Rule, Severity, data


class DriveMountedData(Rule):
    """Every epoch reads many small files over a network, one by one.

    ## What it does

    Looks for training data with one file per sample on a mounted drive or in a bucket. The path shows this:
    `/content/drive/`, `drive/MyDrive`, `/gdrive/`, `gs://`, `s3://`. The program reads the files with one of these:

    - `image_dataset_from_directory` or a similar function;
    - `flow_from_directory` or `flow_from_dataframe` of an ImageDataGenerator;
    - a map with `tf.io.read_file` over `list_files` or a list of paths.

    The severity is info, because the code does not show how slow the storage is.

    ## Why it costs

    Every file is a separate network request, repeated in each epoch. The cost is unmeasured here. Notebook users report
    hours for the first epoch, and minutes after copying.

    ## What the runtime does by itself

    Nothing: tf.data reads a few files at once if the map is parallel, and reads them all again in each epoch. A mounted
    drive caches some of the files, as long as it has room.

    ## When it stays silent

    - `cache()` follows the reads, so they happen only once.
    - The files are record files (TFRecord), each with many samples.
    - The paths are not literals, or point elsewhere. Copied data are read from the local disk, whether Python or a
      command such as `!cp` or `!unzip` copied them.
    - The data are for validation, evaluation or prediction.
    - The paths belong to models, checkpoints or logs.

    ## Use instead

    Before training, copy one archive to the local disk and unpack it there:
    `!unzip -q /content/drive/MyDrive/photos.zip -d /content/photos`. If the program must read from a bucket, use
    TFRecord files, or put `cache("/tmp/photos")` after the map that reads.

    ## Fix safety

    There is no automatic fix: you decide how to copy the data to the machine, and whether there is room.

    ## References

    - TensorFlow guide: "Better performance with the tf.data API"
    - TensorFlow tutorial: "TFRecord and tf.train.Example"
    """

    code = "KC123"
    name = "drive-mounted-data"
    summary = "training reads files from a network drive"
    evidence_note = "The example reads local files; the gain needs data on a network drive."
    severity = Severity.INFO
    triggers = (
        "_dataset_from_directory",
        "flow_from_directory",
        "flow_from_dataframe",
        "list_files",
        "from_tensor_slices",
    )
    loss_tolerance = 1e-4

    def check(self, module):
        for place, path in data.remote_examples(module):
            yield self.finding(
                place,
                "Every example is a separate file on a network drive; copy the data to the local disk before training.",
                because=f"The files under {path!r} are fetched again in each epoch.",
            )
