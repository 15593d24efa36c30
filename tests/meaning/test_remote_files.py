"""Files that a training reads over a network."""

import pytest
from snippets import DATA, MODEL, load, operation

from kerascheck.meaning.data.remote_files import reads_remote_files, remote_examples

HEAD = "import glob\n" + MODEL + "flows = keras.preprocessing.image.ImageDataGenerator()\nread = tf.io.read_file\n"
DRIVE = "/content/drive/MyDrive/a"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (f"flows.flow_from_directory('{DRIVE}')", DRIVE),
        ("flows.flow_from_directory('data/a')", None),
        (f"flows.flow_from_dataframe('{DRIVE}/a.csv', 'data/a')", None),
        (f"flows.flow_from_dataframe(['{DRIVE}/a.png'])", f"{DRIVE}/a.png"),
        (f"keras.utils.image_dataset_from_directory('{DRIVE}')", DRIVE),
        (f"keras.utils.image_dataset_from_directory('{DRIVE}').cache()", None),
        ("tf.data.Dataset.list_files('gs://a/*').map(read)", "gs://a/*"),
        ("tf.data.Dataset.list_files('gs://a/*').map(tf.strings.length)", None),
        (f"tf.data.Dataset.from_tensor_slices(glob.glob('{DRIVE}/*')).map(read)", f"{DRIVE}/*"),
    ],
)
def test_examples_on_a_drive(tmp_path, data, path):
    module = load(tmp_path, HEAD + f"model.fit({data})")
    assert [found for _, found in remote_examples(module)] == ([path] if path else [])


@pytest.mark.parametrize(
    ("files", "remote"),
    [
        ("tf.io.gfile.glob('gs://a/*')", True),
        ("sorted(tf.io.gfile.glob('hdfs://a/*'))", True),
        ("tf.data.Dataset.list_files('s3://a/*')", True),
        ("['gs://a/1', 'gs://a/2']", True),
        ("['gs://a/1']", False),
        ("'gs://a/1'", False),
        ("tf.io.gfile.glob('a/*')", False),
        ("tf.io.gfile.glob(load())", False),
        ("tf.io.gfile.glob(load())\nbucket = 'gs://a'", True),
        ("tf.io.gfile.glob(load())\nstrategy = tf.distribute.TPUStrategy()", True),
        ("tf.io.gfile.glob(load())\ncsv = 'https://a/1.csv'", False),
        ("load()\nbucket = 'gs://a'", False),
    ],
)
def test_files_on_network_storage(tmp_path, files, remote):
    module = load(tmp_path, f"{DATA}files = {files}\nmodel.fit(tf.data.TFRecordDataset(files))")
    source = operation(module, "tensorflow.data.TFRecordDataset").stages[0]
    assert reads_remote_files(module, source) is remote
