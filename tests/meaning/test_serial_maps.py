"""Maps that run one call at a time."""

import pytest
from snippets import MODEL, load, operation

from kerascheck.meaning.data.serial_maps import (
    Serial,
    is_called_rarely,
    is_paid_in_each_epoch,
    says_parallelism,
    serial,
)

HEAD = (
    MODEL
    + "FILES = tf.data.Dataset.list_files('*')\nread, draw = tf.io.read_file, lambda x: x + tf.random.normal([])\n"
)
OFF = "o = tf.data.Options()\no.experimental_optimization.map_parallelization = False\n"


@pytest.mark.parametrize(
    ("lines", "expected", "certain"),
    [
        ("model.fit(FILES.map(read))", Serial.STATELESS, False),
        ("model.fit(FILES.map(read, num_parallel_calls=1))", Serial.ASKED_FOR, True),
        ("model.fit(FILES.map(draw))", Serial.STATEFUL, True),
        ("model.fit(FILES.map(unknown))", Serial.UNKNOWN, None),
        ("model.fit(FILES.interleave(lambda f: tf.data.TFRecordDataset(f).map(read)))", Serial.INSIDE, True),
        (OFF + "model.fit(FILES.map(read).with_options(o))", Serial.SWITCHED_OFF, True),
    ],
)
def test_reasons_for_serial_maps(tmp_path, lines, expected, certain):
    module = load(tmp_path, HEAD + lines)
    found = serial(module, operation(module))
    assert (found, found.is_certain) == (expected, certain)


def test_old_versions_make_no_map_parallel(tmp_path):
    (tmp_path / "requirements.txt").write_text("tensorflow==2.5\n")
    module = load(tmp_path, HEAD + "model.fit(FILES.map(read))")
    assert serial(module, operation(module)) is Serial.OLD_VERSION


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", False),
        (", num_parallel_calls=1", False),
        (", num_parallel_calls=2", True),
        (", num_parallel_calls=n()", True),
        (", synchronous=True", True),
    ],
)
def test_arguments_for_parallel_calls(tmp_path, arguments, says):
    assert says_parallelism(operation(load(tmp_path, HEAD + f"model.fit(FILES.map(read{arguments}))"))) is says


@pytest.mark.parametrize(
    ("chain", "rarely", "paid"),
    [
        ("FILES.map(draw)", False, True),
        ("FILES.take(3).map(draw)", True, False),
        ("FILES.map(draw).cache()", False, False),
        ("FILES.map(lambda x: tf.print(x))", False, False),
        ("FILES.batch(8).map(keras.layers.StringLookup(vocabulary=['a']))", False, False),
        ("FILES.map(keras.layers.StringLookup(vocabulary=['a']))", False, True),
    ],
)
def test_calls_of_a_map(tmp_path, chain, rarely, paid):
    module = load(tmp_path, HEAD + f"model.fit({chain})")
    assert (is_called_rarely(operation(module)), is_paid_in_each_epoch(module, operation(module))) == (rarely, paid)
