"""Single dataset operations and their inputs."""

import pytest
from snippets import DATA, load

from kerascheck.meaning.data.stages import gives_few_elements, nearest_before


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        (".cache().take(5)", True),
        (".cache().map(aug).take(5)", True),
        (".take(3).take(5)", False),
        (".cache().shuffle(9).take(5)", False),
        (".cache().apply(load).take(5)", False),
    ],
)
def test_the_nearest_operation_of_a_name(tmp_path, chain, found):
    take = list(load(tmp_path, DATA + f"model.fit(base{chain})").pipelines.operations("take"))[-1]
    assert (nearest_before(take.stages[0], "cache", ("map", "take")) is not None) is found


@pytest.mark.parametrize(
    ("chain", "few"),
    [
        (".take(3)", True),
        (".batch(8).take(3)", True),
        (".batch(8).take(3).map(aug)", True),
        (".take(16).batch(8).repeat(9)", True),
        (".batch(32).take(10)", False),
        (".batch(4).batch(8).take(3)", False),
        (".take(load()).batch(8)", False),
        (".take(-1)", False),
        (".batch(8)", False),
    ],
)
def test_few_elements(tmp_path, chain, few):
    module = load(tmp_path, f"{DATA}model.fit(base.map(aug){chain})")
    ((sink, role),) = module.pipelines.sinks
    assert gives_few_elements(sink.stage) is few
    assert role == ("inspect" if few else "train")
