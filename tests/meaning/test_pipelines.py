"""Datasets: their consumers, their operations, and the runtime's rewrites."""

import pytest
from snippets import DATA, MODEL, load, operation, roles, sinks

from kerascheck.interpreter.values import UNKNOWN


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("model.fit(ds)", "train"),
        ("model.fit(x=ds, epochs=3)", "train"),
        ("model.fit(base, validation_data=ds)", "validation"),
        ("model.fit(base, validation_data=(ds, base))", "validation"),
        ("model.evaluate(ds)", "evaluate"),
        ("model.predict(x=ds)", "predict"),
        ("keras.layers.Normalization().adapt(ds)", "adapt"),
        ("keras.layers.TextVectorization().adapt(ds.take(100))", "adapt"),
        ("history = keras.models.load_model('m').fit(ds)", "train"),
        ("class M(keras.Model): pass\nM().fit(ds)", "train"),
        ("class M(keras.Model):\n    def fit(self, x):\n        for e in x: step(e)\nM().fit(ds)", "train"),
        ("class M(keras.Model):\n    def fit(self, x): return super().fit(x)\nM().fit(ds)", "train"),
        ("def build(): return keras.Sequential([])\nbuild().fit(ds)", "train"),
        ("load().fit(ds)", "train"),
        ("from segmentation_models import Unet\nUnet().fit(ds)", "train"),
        ("import tensorflow_decision_forests as tfdf\ntfdf.keras.RandomForestModel().fit(x=ds)", "train"),
        ("for x in ds: step(x)", "train"),
        ("for i, x in enumerate(ds): step(x)", "train"),
        ("for i, (x, y) in enumerate(ds, 1): step(x)", "train"),
        ("for x, y in zip(ds, load()): step(x)", "train"),
        ("from tqdm import tqdm\nfor x in tqdm(ds, desc='train'): step(x)", "train"),
        ("import tqdm.auto as t\nfor i, x in enumerate(t.tqdm(ds)): step(x)", "train"),
        ("from tqdm import tqdm\nwith tqdm(ds) as bar:\n    for x in bar: step(x)", "train"),
        ("it = iter(ds)\nfor i in range(1000): step(next(it))", "train"),
        (
            "it = iter(ds)\nwhile True:\n    try:\n        x = next(it)\n    except StopIteration:\n        break\n    step(x)",
            "train",
        ),
        ("it = iter(ds)\nfor i in range(1000): step(it.get_next())", "train"),
        ("for e in range(9):\n    for x in ds.take(1000): step(x)", "train"),
        ("for x in ds.as_numpy_iterator(): step(x)", "train"),
        ("def epoch(d):\n    for x in d: step(x)\nfor e in range(9): epoch(ds)", "train"),
        ("@tf.function\ndef epoch(d):\n    for x in d: step(x)\nepoch(ds)", "train"),
        ("for x in ds: model.train_on_batch(x)", "train"),
        ("for x in ds: model(x)", "evaluate"),
        ("m = keras.metrics.Mean()\nfor x in ds: m.update_state(x)", "evaluate"),
        ("for x in ds: show(x)", "unknown"),
        ("show(ds)", "unknown"),
        ("for x in ds.take(3): print(x)", "inspect"),
        ("for x in ds.take(1): step(x)", "train"),
        ("for x in ds:\n    print(x)\n    break", "inspect"),
        ("x, y = next(iter(ds))", "inspect"),
        ("list(ds.as_numpy_iterator())", "inspect"),
        ("import matplotlib.pyplot as plt\nfor x in ds: plt.imshow(x)", "inspect"),
        ("len(ds)", "inspect"),
        (
            "strategy = tf.distribute.MirroredStrategy()\nmodel.fit(strategy.experimental_distribute_dataset(ds))",
            "train",
        ),
        (
            "s = tf.distribute.MirroredStrategy()\nfor x in s.experimental_distribute_dataset(ds): s.run(step, args=(x,))",
            "train",
        ),
        (
            "s = tf.distribute.MirroredStrategy()\n@tf.function\ndef go(x): s.run(step, args=(x,))\nfor x in s.experimental_distribute_dataset(ds): go(x)",
            "train",
        ),
        ("s = tf.distribute.MirroredStrategy()\nmodel.fit(s.distribute_datasets_from_function(lambda c: ds))", "train"),
        (
            "s = tf.distribute.MirroredStrategy()\ndef make(c): return ds\nmodel.fit(s.experimental_distribute_datasets_from_function(make))",
            "train",
        ),
        ("model.fit(tf.data.Dataset.zip((base, ds)))", "train"),
        ("model.fit(tf.data.Dataset.zip(base, ds))", "train"),
        ("model.fit(base.zip(ds))", "train"),
        ("model.fit(base.concatenate(ds))", "train"),
        ("model.fit(tf.data.Dataset.sample_from_datasets([base, ds], [.5, .5]))", "train"),
        ("model.fit(tf.data.experimental.sample_from_datasets([base, ds]))", "train"),
        ("all_of = base\nfor d in [ds]: all_of = all_of.concatenate(d)\nmodel.fit(all_of)", "train"),
        ("sets = []\nfor f in load(): sets.append(ds)\nfor d in sets: model.fit(d)", "train"),
        ("def gen():\n    yield ds\nfor d in gen(): model.fit(d)", "unknown"),
        ("def make(): return ds\nclass D:\n    train = make()\nmodel.fit(D.train)", "train"),
        ("with open('x') as f:\n    model.fit(ds)", "train"),
        ("try:\n    model.fit(ds)\nexcept KeyboardInterrupt:\n    pass", "train"),
        ("if train:\n    model.fit(ds)\nelse:\n    model.evaluate(ds)", "evaluate train"),
        ("async def main(): model.fit(ds)\nimport asyncio\nasyncio.run(main())", "train"),
        ("", "unknown"),
    ],
)
def test_roles_of_consumers(tmp_path, text, role):
    assert roles(load(tmp_path, DATA + text + "\n"), "map") == [role]


@pytest.mark.parametrize(
    "source",
    [
        "tf.data.Dataset.from_tensor_slices(x)",
        "tf.data.Dataset.from_generator(g, tf.float32)",
        "tf.data.TFRecordDataset(f)",
        "tf.data.TextLineDataset(f)",
        "tf.data.FixedLengthRecordDataset(f, 3)",
        "tf.data.experimental.CsvDataset(f, [])",
        "tf.data.experimental.make_csv_dataset(f, 3)",
        "tf.data.Dataset.list_files('*')",
        "tf.data.Dataset.load('x')",
        "tf.compat.v1.data.Dataset.range(3)",
        "keras.utils.image_dataset_from_directory('d')",
        "tf.keras.preprocessing.image_dataset_from_directory('d')",
        "tf.keras.preprocessing.text_dataset_from_directory('d')",
        "keras.utils.timeseries_dataset_from_array(a, b, 3)",
        "tfds.load('x', split='train')",
        "tfds.load('x')['train']",
        "tfds.load('x', with_info=True)[0]['train']",
        "tfds.builder('x').as_dataset(split='train')",
        "tfds.builder('x').as_dataset()['train']",
        "hf['train'].to_tf_dataset(batch_size=3)",
        "make()",
    ],
)
def test_sources_make_datasets(tmp_path, source):
    text = f"import tensorflow_datasets as tfds\nfrom datasets import load_dataset\nhf = load_dataset('x')\ndef make() -> tf.data.Dataset:\n    return tf.data.Dataset.range(3)\nmodel.fit({source}.map(lambda x: x))\n"
    assert roles(load(tmp_path, MODEL + text), "map") == ["train"]


@pytest.mark.parametrize(
    "source",
    [
        "df['a']",
        "pd.read_csv('x')['a']",
        "ThreadPoolExecutor()",
        "multiprocessing.Pool(3)",
        "load_dataset('x')",
        "load_dataset('x')['train']",
        "Dataset.from_dict({})",
        "ray.data.range(3)",
        "dask.bag.from_sequence([1])",
        "spark.range(3).rdd",
        "grain.MapDataset.range(3)",
        "Mine()",
        "sc.parallelize([1])",
        "np.arange(3)",
        "tf.TensorArray(tf.float32, 3)",
        "x",
    ],
)
def test_maps_of_other_libraries_are_no_datasets(tmp_path, source):
    text = f"""
    import pandas as pd, multiprocessing, ray, dask.bag, numpy as np, grain.python as grain
    from concurrent.futures import ThreadPoolExecutor
    from datasets import Dataset, load_dataset
    class Mine:
        def map(self, f): return self
        def batch(self, n): return self
    def train(x):
        model.fit({source}.map(lambda v: tf.random.uniform([])).batch(3))
    list(map(train, [1]))
    tf.map_fn(lambda v: v, 1)
    """
    assert roles(load(tmp_path, text, MODEL), "map", "batch") == []


@pytest.mark.parametrize(
    ("annotation", "is_one"),
    [
        ("tf.data.Dataset", True),
        ("'tf.data.Dataset'", True),
        ("tf.data.Dataset | None", True),
        ("Optional[tf.data.Dataset]", True),
        ("typing.Optional[tf.data.Dataset]", True),
        ("'Optional[tf.data.Dataset]'", True),
        ("datasets.Dataset", False),
        ("Dataset", False),
        ("list[tf.data.Dataset]", False),
        ("'not ( python'", False),
        ("int", False),
    ],
)
def test_annotated_parameters(tmp_path, annotation, is_one):
    text = f"import typing, datasets\nfrom typing import Optional\nfrom datasets import Dataset\ndef train(ds: {annotation}):\n    model.fit(ds.map(len))\n"
    assert roles(load(tmp_path, MODEL + text), "map") == ["train"] * is_one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b = tfds.load('x', split=['train', 'test'])", "load|load"),
        ("(a, b), info = tfds.load('x', split=['train', 'test'], with_info=True)", "load|load"),
        ("a, b = tfds.load('x', split=('train', 'test'), batch_size=3)", "load|load"),
        ("d, info = tfds.load('x', with_info=True)\na, b = d['train'], d['test']", "load|load"),
        ("[a, b] = tfds.load('x', split=[tfds.Split.TRAIN, tfds.Split.TEST])", "load|load"),
        (
            "a, b = keras.utils.image_dataset_from_directory('d', subset='both', validation_split=.2)",
            "image_dataset_from_directory|image_dataset_from_directory",
        ),
        ("a, b = keras.utils.split_dataset(base, .8)", "split_dataset|split_dataset"),
        ("a, b = base.take(80), base.skip(80)", "range take|range skip"),
        ("def split(d): return d.take(80), d.skip(80)\na, b = split(base)", "range take|range skip"),
        ("sets = {'a': base.map(aug), 'b': base}\na, b = sets['a'], sets['b']", "range map|range"),
        ("a, b = (base.batch(n) for n in (1, 2)), base", "range"),
    ],
)
def test_training_and_validation_data_from_one_call(tmp_path, text, expected):
    module = load(tmp_path, f"{DATA}import tensorflow_datasets as tfds\n{text}\nmodel.fit(a, validation_data=b)\n")
    found = [line.partition(": ") for line in sinks(module)]
    assert (
        "|".join(chain for role, _, chain in found if role in ("train", "validation") and not chain.endswith("batch"))
        == expected
    )


@pytest.mark.parametrize(
    ("expression", "inside"),
    [
        ("base.interleave(lambda f: tf.data.TFRecordDataset(f).map(aug))", "interleave"),
        ("base.flat_map(lambda f: tf.data.TFRecordDataset(f).map(aug))", "flat_map"),
        ("base.interleave(read, cycle_length=4)", "interleave"),
        ("base.interleave(partial(read, k=2))", "interleave"),
        ("base.window(5).flat_map(lambda w: w.map(aug).batch(5))", "flat_map"),
        ("base.map(aug)", None),
    ],
)
def test_operations_inside_the_function_of_another(tmp_path, expression, inside):
    text = f"from functools import partial\ndef read(f, k=1):\n    return tf.data.TextLineDataset(f).skip(k).map(aug)\nmodel.fit({expression})\n"
    (op,) = [op for op in load(tmp_path, DATA + text).pipelines.operations("map") if op.feeds_training]
    assert (op.inside.name if op.inside else None) == inside


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("map(aug)", None),
        ("map(aug, None)", "None"),
        ("map(aug, 4)", "4"),
        ("map(aug, num_parallel_calls=4)", "4"),
        ("map(map_func=aug, num_parallel_calls=4)", "4"),
        ("map(aug, **options)", UNKNOWN),
        ("map(*both)", UNKNOWN),
        ("map(aug, num_parallel_calls=args.n)", UNKNOWN),
        ("map(aug, deterministic=False)", None),
        ("map(aug, **{'num_parallel_calls': 4})", "4"),
        ("map(*[aug, 4])", "4"),
        ("interleave(aug, 4, 16, 8)", "8"),
        ("interleave(aug, cycle_length=4)", None),
    ],
)
def test_absent_is_not_unknown(tmp_path, call, given):
    module = load(tmp_path, f"{MODEL}def aug(x):\n    return x\nmodel.fit(tf.data.Dataset.range(3).{call})\n")
    value = operation(module, call.partition("(")[0]).parallelism
    if given is None or given is UNKNOWN:
        assert value is given or (given is UNKNOWN and getattr(value, "receiver", None) is UNKNOWN)
    else:
        assert repr(value.value) == given


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        ("base.prefetch(2).map(f)", True),
        ("tf.data.Dataset.zip((base.prefetch(1), base.prefetch(1))).map(f)", False),
        ("base.prefetch(1).concatenate(base).batch(2)", False),
        ("base.concatenate(base).prefetch(1).batch(2)", True),
    ],
)
def test_a_buffer_before_the_end(tmp_path, chain, found):
    module = load(tmp_path, f"{MODEL}base = tf.data.Dataset.range(9)\ndef f(x): return x\nmodel.fit({chain})\n")
    (end,) = module.pipelines.unbuffered()
    assert (end.early is not None) is found


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("ds = base.map(f)", "unknown"),
        ("ds = base.map(f)\nds = load()", ""),
        ("ds = base.map(f)\nkept = ds\nds = load()", "unknown"),
        ("ds = base.map(f)\nif flag: ds = load()", "unknown"),
        ("ds = {'train': base.map(f)}", "unknown"),
        ("kept.ds = base.map(f)", "unknown"),
    ],
)
def test_datasets_left_in_globals_and_attributes(tmp_path, text, role):
    assert roles(
        load(
            tmp_path,
            f"{MODEL}from z import flag, kept, load\nbase = tf.data.Dataset.range(3)\ndef f(x): return x\n{text}\n",
        ),
        "map",
    ) == [role]


def ends(module):
    """Describe every unbuffered end of training data, as "operation", or "operation!" if it costs time."""
    return [end.last.name + "!" * end.costs for end in module.pipelines.unbuffered()]


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        ("base.batch(2)", ["batch"]),
        ("base.batch(2).prefetch(2)", []),
        ("base.prefetch(2).batch(2)", ["batch"]),
        ("base.batch(2).prefetch(2).repeat().take(9)", []),
        ("base.batch(2).repeat(3)", ["batch"]),
        ("base.map(f, num_parallel_calls=4)", []),
        ("base.map(f, num_parallel_calls=1)", ["map"]),
        ("base.map(f, num_parallel_calls=args.n)", []),
        ("base.map(f, num_parallel_calls=4).batch(2)", []),
        ("base.map(f, **options).batch(2)", []),
        ("base.map(f).batch(2)", ["batch"]),
        ("base.batch(2, num_parallel_calls=4)", []),
        ("base.interleave(f, num_parallel_calls=4)", []),
        ("base.interleave(f, num_parallel_calls=4).batch(2)", ["batch"]),
        ("base.batch(2).apply(load())", []),
        ("load()(base.batch(2))", []),
        ("base.batch(2).prefetch(2) if flag else base.batch(2)", ["batch"]),
        ("finish(base.batch(2))", []),
        ("keras.utils.image_dataset_from_directory('d')", []),
        ("keras.utils.image_dataset_from_directory('d').map(f)", ["map"]),
        ("tfds.load('x', split='train')", []),
        ("tfds.builder('x').as_dataset(split='train')", []),
        ("tf.data.experimental.make_csv_dataset('x', 2)", []),
        ("hf.to_tf_dataset()", []),
        ("base.batch(2).apply(tf.data.experimental.prefetch_to_device('/gpu:0'))", []),
        ("tf.data.Dataset.zip((base.batch(2).prefetch(1), base.prefetch(1).repeat()))", []),
        ("tf.data.Dataset.zip((base.batch(2).prefetch(1), base.batch(2)))", ["zip"]),
        ("tf.data.Dataset.sample_from_datasets([base.prefetch(1), base.map(f, num_parallel_calls=args.n)])", []),
        ("base.prefetch(1).concatenate(base.prefetch(1)).take(9)", []),
        ("tf.data.Dataset.zip((base.prefetch(1), base.prefetch(1))).map(f)", ["map"]),
    ],
)
def test_ends_without_a_buffer(tmp_path, chain, found):
    text = f"import tensorflow_datasets as tfds\ndef f(x):\n    return x\ndef finish(d):\n    return d.prefetch(2)\nmodel.fit({chain})\n"
    module = load(tmp_path, MODEL + "base = tf.data.Dataset.range(9)\n" + text)
    assert ends(module) == found


@pytest.mark.parametrize(
    ("text", "settings", "found"),
    [
        ("model.fit(base.batch(2))", {}, ["batch"]),
        ("model.fit(base.map(lambda x: x * 2).shuffle(9).batch(2))", {"target_tensorflow": "2.10"}, ["batch!"]),
        # Slices in memory take negligible time.
        ("model.fit(base.shuffle(9).batch(2))", {"target_tensorflow": "2.10"}, ["batch"]),
        ("model.fit(base.batch(2))", {"target_tensorflow": "2.11"}, ["batch"]),
        ("model.evaluate(base.batch(2))", {"target_tensorflow": "2.10"}, []),
        ("for x in base.batch(2): step(x)", {}, ["batch"]),
        ("@tf.function\ndef epoch():\n    for x in base.batch(2): step(x)\nepoch()", {}, ["batch!"]),
        ("o = tf.data.Options()\no.autotune.enabled = False\nmodel.fit(base.batch(2).with_options(o))", {}, ["batch!"]),
        (
            "o = tf.data.Options()\no.experimental_optimization.inject_prefetch = False\nmodel.fit(base.with_options(o).batch(2))",
            {},
            ["batch!"],
        ),
        ("o = tf.data.Options()\no.autotune.enabled = True\nmodel.fit(base.batch(2).with_options(o))", {}, ["batch"]),
        ("o = tf.data.Options()\no.deterministic = False\nmodel.fit(base.batch(2).with_options(o))", {}, ["batch"]),
        (
            "o = tf.data.Options()\nif args.slow:\n    o.autotune.enabled = False\nmodel.fit(base.batch(2).with_options(o))",
            {},
            ["batch"],
        ),
        (
            "o = tf.data.Options()\no.autotune.enabled = False\nds = base.batch(2)\nif args.slow:\n    ds = ds.with_options(o)\nmodel.fit(ds)",
            {},
            ["batch"],
        ),
        (
            "o = tf.data.Options()\no.autotune.enabled = args.tune\nmodel.fit(base.batch(2).with_options(o))",
            {},
            ["batch"],
        ),
    ],
)
def test_cost_of_a_missing_buffer(tmp_path, text, settings, found):
    assert ends(load(tmp_path, f"{DATA}{text}\n", **settings)) == found


@pytest.mark.parametrize(
    ("option", "serial"),
    [
        ("autotune.enabled = False", True),
        ("experimental_optimization.apply_default_optimizations = False", True),
        ("experimental_optimization.map_parallelization = False", True),
        ("experimental_optimization.map_parallelization = True", False),
        ("experimental_optimization.inject_prefetch = False", False),
        ("threading.private_threadpool_size = 4", False),
    ],
)
def test_options_that_keep_maps_serial(tmp_path, option, serial):
    module = load(tmp_path, f"{DATA}o = tf.data.Options()\no.{option}\nmodel.fit(ds.with_options(o))\n")
    assert operation(module).rewrites.maps_stay_serial is serial


def test_building_a_vocabulary_is_no_training(tmp_path):
    module = load(
        tmp_path, f"{DATA}import text\ntext.bert_vocab_from_dataset(base.batch(8))\ntext.other(base.batch(8))\n"
    )
    assert [op.roles for op in module.pipelines.operations("batch")][1:] == [{"adapt"}, {"unknown"}]


def test_operations_of_an_imported_session_module_are_ignored(tmp_path):
    (tmp_path / "old.py").write_text(
        "import tensorflow as tf\ndef load(ds):\n    return ds.map(f)\nwith tf.Session() as s: s.run(1)\n"
    )
    module = load(tmp_path, f"{DATA}import old\nmodel.fit(old.load(ds))\n")
    assert not any(op.module is not module for op in module.pipelines.operations("map"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ds.prefetch(2)", ["discard: range map batch prefetch"]),
        ("ds.shuffle(2).repeat()", ["discard: range map batch shuffle repeat"]),
        ("tf.data.Dataset.range(3)", []),
        ("ds = ds.prefetch(2)", []),
        ("_ = ds.prefetch(2)", []),
        ("def f():\n    return ds.prefetch(2)\nf()", []),
    ],
)
def test_unused_results(tmp_path, text, found):
    assert [
        line for line in sinks(load(tmp_path, f"{DATA}{text}\nmodel.fit(ds)\n")) if line.startswith("discard")
    ] == found


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("def make_train():\n    return base.map(f)", True),
        ("def make():\n    return base.map(f)", True),
        ("def make_val():\n    return base.map(f)", False),
        ("test_ds = base.map(f)", False),
        ("latest_ds = base.map(f)", True),
        ("class D:\n    def __init__(self):\n        self.valid = base.map(f)", False),
        ("model.fit(base, validation_data=base.map(f))", False),
    ],
)
def test_names_of_held_out_data(tmp_path, text, may):
    module = load(tmp_path, f"{MODEL}base = tf.data.Dataset.range(3)\ndef f(x):\n    return x\n{text}\n")
    assert operation(module).may_feed_training is may


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("model.fit(ds, epochs=4)", 4),
        ("model.fit(ds, None, 32, 4)", 4),
        ("EPOCHS = 4\nmodel.fit(ds, epochs=EPOCHS)", 4),
        ("model.fit(ds)", 1),
        ("model.fit(ds, epochs=load())", None),
        ("model.fit(ds, **load())", None),
        ("model.fit(ds, epochs=9, initial_epoch=8)", None),
        ("model.fit(ds, epochs=4, steps_per_epoch=5)", None),
        ("model.fit(ds.repeat(), epochs=4, steps_per_epoch=5)", 4),
        ("model.fit(ds.repeat(3))", 3),
        ("for e in range(3): model.fit(ds, epochs=2)", 6),
        ("for e in load(): model.fit(ds, epochs=2)", None),
        ("for e in range(3): model.fit(tf.data.Dataset.range(9).map(aug), epochs=2)", 2),
        ("for e in range(5):\n    for x in ds: step(x)", 5),
        ("def epoch(d):\n    for x in d: step(x)\nfor e in range(5): epoch(ds)", 5),
        ("it = iter(ds)\nfor e in range(5): step(next(it))", None),
        ("model.fit(ds)\nmodel.fit(ds, epochs=3)", 3),
        ("model.fit(ds)\nshow(ds)", None),
        ("model.fit(ds)\nmodel.evaluate(ds)", 1),
        ("model.evaluate(ds)", None),
        ("model.fit(base.interleave(lambda i: tf.data.Dataset.range(9).map(aug)), epochs=4)", 4),
    ],
)
def test_passes_of_training(tmp_path, text, passes):
    module = load(tmp_path, DATA + text)
    op = list(module.pipelines.operations("map"))[-1]
    assert module.pipelines.passes(op) == passes


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("model.fit(ds.take(9))", False),
        ("model.fit(ds.take(900))\nmodel.fit(ds.skip(900))", True),
        ("model.fit(ds.take(9))\nmodel.fit(ds.skip(9))", False),
        ("model.fit(ds.take(9))\nmodel.evaluate(ds)", True),
    ],
)
def test_shared_datasets(tmp_path, text, shared):
    module = load(tmp_path, DATA + text)
    assert module.pipelines.is_shared(operation(module, "batch").stages[0]) is shared


@pytest.mark.parametrize("version", ["2.10", "2.21"])
@pytest.mark.parametrize(
    ("chain", "options", "costs"),
    [
        (".map(aug).batch(2)", "", False),
        (".map(lambda x: x + 1)", "", False),
        (".map(aug).batch(2)", "o.experimental_optimization.inject_prefetch = False", False),
        (".map(aug).batch(2)", "o.autotune.enabled = False", False),
        (".map(aug).batch(2)", "o.experimental_optimization.apply_default_optimizations = False", True),
        (".map(lambda x: x + 1)", "o.autotune.enabled = False", True),
        (".map(aug)", "o.experimental_optimization.inject_prefetch = False", True),
    ],
)
def test_rewrites_that_run_ahead_in_every_version(tmp_path, chain, options, costs, version):
    text = f"{DATA}o = tf.data.Options()\n{options}\nmodel.fit(base{chain}.with_options(o))"
    (end,) = load(tmp_path, text, target_tensorflow=version).pipelines.unbuffered()
    assert end.costs is costs
