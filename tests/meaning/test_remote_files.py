"""Files that a training reads over a network."""

import pytest
from snippets import MODEL, load

from kerascheck.meaning.data.remote_files import remote_examples

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
