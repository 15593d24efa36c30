"""Conversion of snapshots to JSON and back."""

import json

import pytest

from kerascheck.runtime.doctor.snapshot import (
    Demand,
    Driver,
    Framework,
    Gpu,
    InvalidSnapshot,
    Keras,
    Link,
    Python,
    Snapshot,
)

FULL = Snapshot(
    driver=Driver("535.104.05", (12, 2), cards_on_bus=1),
    gpus=(
        Gpu(
            "Tesla T4", (7, 5), 1 << 34, 5, 1, 0.5, 70.0, 70.0, ("temperature",), Link(3, 16), Link(3, 16), True, False
        ),
    ),
    variables={"CUDA_VISIBLE_DEVICES": "0"},
    library_path=("libcudnn.so.8",),
    python=Python(
        "3.11.7",
        packages={"numpy": "2.0"},
        requires={"keras": ("numpy",)},
        tensorflow=Framework("2.21.0", gpus=1),
        keras=Keras("3.15.1"),
    ),
    script=(Demand("policy", "mixed_float16", 3),),
)


def test_a_snapshot_survives_json():
    assert Snapshot.from_json(FULL.to_json()) == FULL
    assert Snapshot.from_json(Snapshot().to_json()) == Snapshot()


def test_fields_that_an_older_snapshot_lacks_have_their_default():
    document = json.loads(FULL.to_json())
    del document["gpus"][0]["mig"], document["cpu"]
    assert Snapshot.from_json(json.dumps(document)) == FULL


def _changed(path, value):
    document = json.loads(FULL.to_json())
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "no snapshot"),
        ("{}", "no snapshot"),
        (_changed(["format"], 99), "no snapshot"),
        (_changed(["cpu", "usable"], "many"), "'usable' cannot be \"many\""),
        (_changed(["cpu", "usable"], True), "'usable' cannot be true"),
        (_changed(["gpus", 0, "capability"], [7]), "'capability' must have 2 items"),
        (_changed(["gpus", 0, "colour"], "green"), "has no field 'colour'"),
        (_changed(["gpus", 0], {}), "lacks a field"),
        (_changed(["python"], 3), "'python' cannot be 3"),
    ],
)
def test_an_invalid_snapshot_is_reported_by_field(text, message):
    with pytest.raises(InvalidSnapshot, match=message.replace("(", r"\(")):
        Snapshot.from_json(text)
