from kerascheck.api import Rule, Severity, data


class DriveMountedData(Rule):
    """Many small files are read over a network, one by one, in every epoch.

    ## What it does

    Looks for training data with one file per sample whose path says that it lies on a mounted drive or in a bucket:
    `/content/drive/`, `drive/MyDrive`, `/gdrive/`, `gs://`, `s3://`. The files are read by
    `image_dataset_from_directory` and similar functions, by `flow_from_directory` of an ImageDataGenerator, or by a
    map with `tf.io.read_file` over `list_files` or a list of paths. It is an info: how slow the storage is cannot be
    seen in the code.

    ## Why it costs

    Every file is a separate request over the network, again in each epoch. It is unmeasured here;
    users of notebooks report hours in the first epoch, and minutes after copying.

    ## What the runtime does by itself

    Nothing: tf.data reads a few files at once where the map is parallel, and starts over in each
    epoch. A drive that is mounted caches some of what was read, as long as it has room.

    ## When it stays silent

    - `cache()` follows the reading, which then happens once.
    - Files of records (TFRecord), of which each holds many samples.
    - Paths that are not literals, or lie elsewhere: what was copied to the machine is read there,
      whatever copied it, be it Python or a command such as `!cp` or `!unzip`.
    - Validation, evaluation and prediction.
    - Paths of models, checkpoints and logs.

    ## Use instead

    Copy one archive to the disk of the machine and unpack it there before training:
    `!unzip -q /content/drive/MyDrive/photos.zip -d /content/photos`. In a program that has to read
    from a bucket: TFRecord files, or `cache("/tmp/photos")` behind the map that reads.

    ## Fix safety

    There is no automatic fix: how the data gets to the machine, and whether there is room, is up to
    you.

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
