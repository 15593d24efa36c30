"""Target versions of a module, and their sources."""

import pytest

from kerascheck.interpreter.target import VersionHints, VersionSource, target_of
from kerascheck.knowledge.runtime import KERAS_3_SINCE, NEWEST_TENSORFLOW
from kerascheck.project.config import Settings
from kerascheck.project.requirements import Pin, Stated


def pins(**specifiers):
    return {name: Pin(specifier, Stated(name, specifier)) for name, specifier in specifiers.items()}


def hints(**hinted):
    """Version hints with the given answers."""
    return type("GivenHints", (VersionHints,), hinted)()


OF_1 = hints(is_of_tensorflow_1=True)
OF_MULTI_BACKEND = hints(is_of_multi_backend_keras=True)
OF_KERAS_2 = hints(is_of_keras_2=True)
NOTHING = VersionHints()


def versions(settings=None, found=None, hinted=NOTHING):
    target = target_of(Settings(**settings or {}), found or {}, hinted)
    return target.runtime.tensorflow, target.runtime.keras, target.runtime.multi_backend_keras


@pytest.mark.parametrize(
    ("settings", "found", "hinted", "expected"),
    [
        ({}, {}, NOTHING, (NEWEST_TENSORFLOW, 3, False)),
        ({}, pins(tensorflow="==2.15.0"), NOTHING, ((2, 15), 2, False)),
        ({}, pins(tensorflow="==2.16.1"), NOTHING, ((2, 16), 3, False)),
        ({}, pins(tensorflow="<2.11"), NOTHING, ((2, 10), 2, False)),
        ({"target_tensorflow": "2.10"}, pins(tensorflow="==2.16.1"), NOTHING, ((2, 10), 2, False)),
        ({"keras": "2"}, pins(tensorflow="==2.16.1"), NOTHING, ((2, 16), 2, False)),
        ({"keras": "3"}, pins(keras="==2.3.1"), OF_MULTI_BACKEND, (NEWEST_TENSORFLOW, 3, False)),
        ({}, {}, OF_1, ((1, 15), 2, False)),
        ({}, pins(tensorflow="==2.16.1"), OF_1, ((2, 16), 3, False)),
        ({}, {}, OF_KERAS_2, (NEWEST_TENSORFLOW, 2, False)),
        ({}, {}, OF_MULTI_BACKEND, ((2, 1), 2, True)),
        ({}, pins(tensorflow="==1.13.1"), OF_MULTI_BACKEND, ((1, 13), 2, False)),
        ({}, pins(keras="==2.3.1"), NOTHING, ((2, 1), 2, True)),
        ({}, pins(keras="==2.3.1", tensorflow="==1.14"), NOTHING, ((1, 14), 2, True)),
        ({}, pins(keras="==2.3.1", tensorflow="==2.1"), NOTHING, ((2, 1), 2, True)),
        ({}, pins(keras="==2.3.1", tensorflow="==2.2"), NOTHING, ((2, 2), 2, False)),
        ({}, pins(keras="==2.4.0"), NOTHING, (NEWEST_TENSORFLOW, 2, False)),
        ({}, pins(keras="==2.15.0"), OF_MULTI_BACKEND, (NEWEST_TENSORFLOW, 2, False)),
        ({}, pins(keras="==3.3.0"), NOTHING, (NEWEST_TENSORFLOW, 3, False)),
        ({}, pins(keras="==1.2.2", tensorflow="==2.2"), NOTHING, ((2, 2), 2, False)),
    ],
)
def test_settings_come_before_requirements_and_these_before_the_code(settings, found, hinted, expected):
    assert versions(settings, found, hinted) == expected


@pytest.mark.parametrize(
    ("settings", "hinted", "backend", "by"),
    [
        ({}, NOTHING, "tensorflow", VersionSource.BY_NOTHING),
        ({}, hints(backend="jax"), "jax", VersionSource.BY_CODE),
        ({"backend": "torch"}, hints(backend="jax"), "torch", VersionSource.BY_SETTING),
    ],
)
def test_the_backend_comes_from_the_settings_or_from_the_code(settings, hinted, backend, by):
    target = target_of(Settings(**settings), {}, hinted)
    assert (target.runtime.backend, target.backend) == (backend, by)


@pytest.mark.parametrize(
    ("settings", "found", "hinted", "tensorflow", "keras"),
    [
        ({}, {}, NOTHING, VersionSource.BY_NOTHING, VersionSource.BY_TENSORFLOW),
        ({"target_tensorflow": "2.10"}, {}, NOTHING, VersionSource.BY_SETTING, VersionSource.BY_TENSORFLOW),
        ({"keras": "2"}, {}, NOTHING, VersionSource.BY_NOTHING, VersionSource.BY_SETTING),
        ({}, {}, OF_1, VersionSource.BY_CODE, VersionSource.BY_TENSORFLOW),
        ({}, {}, OF_KERAS_2, VersionSource.BY_NOTHING, VersionSource.BY_CODE),
        ({}, {}, OF_MULTI_BACKEND, VersionSource.BY_KERAS, VersionSource.BY_CODE),
    ],
)
def test_a_target_keeps_the_source_of_each_version(settings, found, hinted, tensorflow, keras):
    target = target_of(Settings(**settings), found, hinted)
    assert (target.tensorflow, target.keras) == (tensorflow, keras)


def test_a_target_keeps_the_requirement_behind_a_version():
    found = pins(keras="==2.3.1", tensorflow="==2.1")
    target = target_of(Settings(), found, NOTHING)
    assert (target.tensorflow, target.keras) == (found["tensorflow"], found["keras"])


@pytest.mark.parametrize(
    ("settings", "found", "hinted", "assumed"),
    [
        ({}, {}, NOTHING, True),
        ({}, {}, OF_1, True),
        ({"target_tensorflow": "2.10"}, {}, NOTHING, False),
        ({"keras": "3"}, {}, NOTHING, False),
        ({}, pins(tensorflow="==2.16.1"), NOTHING, False),
        ({}, pins(tensorflow=">={}.{},<2.18".format(*KERAS_3_SINCE)), NOTHING, False),
        ({}, pins(tensorflow="<2.18"), NOTHING, True),
        ({}, pins(tensorflow="==2.15.0"), NOTHING, False),
        ({}, pins(keras="~=3.0"), NOTHING, False),
        ({}, pins(keras="<4"), NOTHING, True),
    ],
)
def test_a_version_is_assumed_unless_one_is_named_or_keras_before_3_is_excluded(settings, found, hinted, assumed):
    target = target_of(Settings(**settings), found, hinted)
    expected = "TensorFlow {}.{}".format(*target.runtime.tensorflow) if assumed else None
    assert target.assumed == expected
