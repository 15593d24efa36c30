"""The look at this machine and its interpreter."""

import sys
from importlib.util import find_spec

import pytest

from kerascheck.doctor import Status, diagnose, take_snapshot
from kerascheck.doctor.snapshot import Snapshot


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs TensorFlow")
def test_this_machine():
    snapshot = take_snapshot()
    assert snapshot.python.failure is None
    assert snapshot.python.version == ".".join(map(str, sys.version_info[:3]))
    assert snapshot.python.tensorflow.error is None
    assert snapshot.python.keras.backend
    assert snapshot.cpu.usable >= 1
    assert Snapshot.from_json(snapshot.to_json()) == snapshot
    names = {result.name for result in diagnose(snapshot) if result.status is Status.OK}
    assert {"tensorflow-installed", "keras-installed"} <= names
