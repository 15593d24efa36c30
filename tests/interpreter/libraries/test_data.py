"""Sources and operations of datasets."""

import pytest
from snippets import IMPORTS, load, shown

from kerascheck.interpreter.values import UNKNOWN, Dataset, IteratorValue, SequenceValue, Tensor

HEAD = IMPORTS + (
    "import functools\nimport tensorflow_datasets as tfds\nfrom z import flag, items, load, show\n"
    "def aug(x): return x\nds, other = tf.data.Dataset.range(3), tf.data.Dataset.range(5)\n"
)


def value_of(folder, text):
    *before, last = text.split("; ")
    (value,) = shown(load(folder, "\n".join([*before, f"show({last})\n"]), HEAD))
    return value


def stages(value):
    """The operations of a dataset along the main line, the source first; None for other values."""
    if not isinstance(value, Dataset):
        return None
    return " ".join(reversed([stage.name.rpartition(".")[2] for stage in value.stage.upstream()]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ds.map(aug).batch(2)", "range map batch"),
        ("tf.data.Dataset.batch(ds, 2)", "range batch"),
        ("tf.data.Dataset.zip((ds, other))", "range zip"),
        ("tf.data.Dataset.sample_from_datasets([ds, other])", "range sample_from_datasets"),
        ("tf.data.Dataset.zip(items)", "zip"),
        ("ds.apply(lambda d: d.batch(2))", "range batch"),
        ("ds.apply(functools.partial(lambda n, d: d.batch(n), 2))", "range batch"),
        ("ds.apply(tf.data.experimental.ignore_errors())", "range ignore_errors"),
        ("ds.apply(load)", "range apply"),
        ("tf.data.TFRecordDataset(items)", "TFRecordDataset"),
        ("keras.utils.image_dataset_from_directory('a')", "image_dataset_from_directory"),
        ("tfds.load('mnist')", "load"),
        ("tfds.load('mnist', with_info=True)[0]", "load"),
        ("tfds.load('mnist', split=['train', 'test'])[1]", "load"),
        ("tfds.load('mnist')['train']", "load"),
        ("tfds.load('mnist').get('train')", "load"),
        ("tfds.builder('mnist').as_dataset(split='train')", "as_dataset"),
        ("load().to_tf_dataset()", "to_tf_dataset"),
        ("load().as_dataset()", None),
        ("ds.undefined()", None),
        ("ds.cardinality()", None),
    ],
)
def test_operations_of_datasets(tmp_path, text, expected):
    assert stages(value_of(tmp_path, text)) == expected


@pytest.mark.parametrize(("split", "length"), [("['train', 'test']", 2), ("('a', 'b', 'c')", 3)])
def test_a_list_of_splits_loads_one_dataset_each(tmp_path, split, length):
    value = value_of(tmp_path, f"tfds.load('mnist', split={split})")
    assert isinstance(value, SequenceValue) and [type(item) for item in value.items] == [Dataset] * length


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("ds.get_single_element()", ["inspect"]),
        ("ds.save('a')", ["inspect"]),
        ("ds.cardinality()", []),
        ("ds.options()", []),
        ("ds.undefined()", ["escape"]),
        ("keras.utils.split_dataset(ds)", ["escape"]),
        ("ds.interleave(lambda x: other)", ["nested", "discard"]),
        ("ds.flat_map(lambda x: other.batch(2))", ["nested", "discard"]),
        ("ds.map(lambda x: other)", ["discard"]),
        ("ds.batch(2)", ["discard"]),
        ("x = ds.batch(2)", []),
        ("tf.io.TFRecordWriter('a').write(ds)", ["inspect"]),
        ("load().write(ds)", ["escape"]),
    ],
)
def test_consumers_of_a_dataset(tmp_path, text, roles):
    assert [sink.role for sink in load(tmp_path, f"{text}\n", HEAD).run.sinks] == roles


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ds.map(lambda x: show(x))", Tensor),
        ("ds.filter(lambda x: show(x))", Tensor),
        ("ds.map(functools.partial(lambda a, x: show(x), 1))", Tensor),
        ("ds.map(functools.partial(lambda x, a: show(x), a=1))", Tensor),
        ("ds.window(3).flat_map(lambda w: show(w))", Dataset),
        ("ds.window(3).map(lambda w: show(w))", Tensor),
        ("ds.flat_map(lambda w: show(w))", Tensor),
        ("ds.undefined(lambda x: show(x))", Tensor),
        ("ds.scan(0, lambda s, x: show(x))", None),
        ("ds.map(functools.partial(lambda a, x: show(x), *items))", None),
        ("tf.data.Dataset.from_generator(lambda: show(items), tf.int64)", None),
    ],
)
def test_arguments_of_a_dataset_function(tmp_path, text, kind):
    (value,) = shown(load(tmp_path, f"{text}\n", HEAD))
    assert not isinstance(value, (Tensor, Dataset)) if kind is None else isinstance(value, kind)


@pytest.mark.parametrize(
    ("function", "known"),
    [
        ("aug", True),
        ("lambda x: x + 1", True),
        ("tf.nn.relu", True),
        ("keras.layers.Rescaling(2)", True),
        ("functools.partial(aug)", True),
        ("aug if flag else tf.nn.relu", True),
        ("undefined", False),
        ("aug if flag else undefined", False),
        ("lambda x: undefined(x)", False),
        ("items.method", False),
    ],
)
def test_an_operation_knows_whether_its_function_could_be_followed(tmp_path, function, known):
    stage = value_of(tmp_path, f"ds.map({function})").stage
    assert stage.facts.known is known


@pytest.mark.parametrize(
    ("applied", "name"),
    [
        ("tf.data.experimental.map_and_batch(lambda x: tf.nn.relu(x), 2)", "tensorflow.nn.relu"),
        ("tf.data.experimental.parallel_interleave(lambda x: other, 2)", None),
    ],
)
def test_an_applied_transformation_runs_its_function(tmp_path, applied, name):
    stage = value_of(tmp_path, f"ds.apply({applied})").stage
    assert stage.function.name == "<lambda>"
    assert [call.name for call in stage.facts.calls] == ([name] if name else [])


def test_the_facts_of_a_function_are_its_own_calls_and_its_result(tmp_path):
    text = "ds.map(lambda x: tf.nn.relu(x)).map(lambda x: tf.nn.tanh(x))"
    last = value_of(tmp_path, text).stage
    assert [[call.name for call in stage.facts.calls] for stage in (last.input, last)] == [
        ["tensorflow.nn.relu"],
        ["tensorflow.nn.tanh"],
    ]
    assert isinstance(last.facts.result, Tensor) and last.function.name == "<lambda>"


def test_a_dictionary_of_splits_may_be_looped_over(tmp_path):
    text = "for name, part in tfds.load('mnist').items(): show(part)\n"
    assert isinstance(shown(load(tmp_path, text, HEAD))[0], Dataset)


def test_iterators_of_datasets(tmp_path):
    assert isinstance(value_of(tmp_path, "ds.make_one_shot_iterator()"), IteratorValue)
    assert isinstance(value_of(tmp_path, "ds.as_numpy_iterator()"), IteratorValue)
    assert value_of(tmp_path, "ds.element_spec()") is UNKNOWN
