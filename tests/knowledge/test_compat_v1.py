"""The names that tf.compat.v1 and tf share, compared with the installed TensorFlow."""

import inspect
import operator
import types

import pytest

from kerascheck.knowledge.compat_v1 import MOVED, SHARED, WHOLE_MODULES


def test_names_are_unique():
    assert not SHARED & set(MOVED)
    assert not [name for name in (*SHARED, *MOVED) if name.rpartition(".")[0] in WHOLE_MODULES]


@pytest.mark.slow
def test_shared_names_refer_to_the_same_objects():
    tf = pytest.importorskip("tensorflow")
    from tensorflow.python.util import tf_decorator

    def named(module, prefix=""):
        for name in dir(module):
            if name.startswith("_"):
                continue
            try:
                value = getattr(module, name)
                # These are loaded lazily, and belong to Keras and to a removed estimator.
                is_part = isinstance(value, types.ModuleType) and value.__name__.startswith("tensorflow._api")
            except (AttributeError, ImportError):
                continue
            if is_part and name not in ("compat", "keras"):
                yield from named(value, f"{prefix}{name}.")
            elif not isinstance(value, types.ModuleType):
                yield prefix + name, value

    def undecorated(value):
        while not inspect.isclass(value):
            inner = tf_decorator.unwrap(value)[1]
            inner = getattr(inner, "__wrapped__", inner)
            if inner is value:
                break
            value = inner
        return value

    old, new = dict(named(tf.compat.v1)), dict(named(tf))
    same = {name for name, value in old.items() if name in new and undecorated(value) is undecorated(new[name])}
    assert {name for name in same if name.rpartition(".")[0] not in WHOLE_MODULES} == SHARED
    assert not [name for name in old if name.rpartition(".")[0] in WHOLE_MODULES and name not in same]
    assert not [
        name
        for name, other in MOVED.items()
        if undecorated(old[name]) is not undecorated(operator.attrgetter(other)(tf))
    ]
