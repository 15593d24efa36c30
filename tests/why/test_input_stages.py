"""The stages of a pipeline that steps wait for, from the events of their iterators."""

import pytest

from kerascheck.knowledge.datasets import methods_of_iterator
from kerascheck.runtime.verify.child import input_stages
from kerascheck.runtime.verify.child.xplane import Event


def thread(*events):
    return "tf_data", [Event(start, end, f"Iterator::{path}", stats) for path, start, end, stats in events]


def runs(path, start, end, **stats):
    return path, start, end, stats


WAITING = [(0, 1000), (2000, 3000)]


def found(*threads):
    return input_stages.stages(threads, WAITING, 2)["stages"]


def test_a_stage_has_its_time_without_that_of_its_inputs_on_its_thread():
    ahead = thread(
        runs("Root::Prefetch::BatchV2", 0, 3000),
        *(runs("Root::Prefetch::BatchV2::Map", start, start + 900) for start in (0, 1000, 2000)),
        *(runs("Root::Prefetch::BatchV2::Map::TensorSlice", start, start + 200) for start in (0, 1000, 2000)),
    )
    consumer = thread(runs("Root", 0, 1000), runs("Root::Prefetch", 0, 1000), runs("Root", 2000, 3000))
    assert found(consumer, ahead) == [
        ["Map", pytest.approx(700e-9), 1.0], ["TensorSlice", pytest.approx(200e-9), 1.0],
        ["BatchV2", pytest.approx(100e-9), 1.0],
    ]  # fmt: skip


def parallel_map(source):
    return (
        thread(runs("Root", 0, 1000), runs("Root", 2000, 3000)),
        thread(runs("Root::ParallelMapV2", 0, 3000, parallelism=8)),
        thread(runs("Root::ParallelMapV2::Generator", 0, source), runs("Root::ParallelMapV2::Generator", 2000, 2000 + source)),
    )  # fmt: skip


def test_a_parallel_map_is_slow_unless_it_waits_for_its_input():
    assert found(*parallel_map(source=700)) == [["ParallelMapV2", pytest.approx(1e-6), 8.0]]
    assert found(*parallel_map(source=900)) == [["Generator", pytest.approx(0.9e-6), 1.0]]


def test_inputs_with_numbers_are_one_stage():
    files = [
        thread(runs(f"Root::ParallelInterleaveV4[{number}]::TFRecord", 500 * number, 500 * number + 500))
        for number in range(6)
    ]
    said = input_stages.stages(
        [thread(runs("Root", 0, 3000), runs("Root::ParallelInterleaveV4", 0, 3000)), *files], WAITING, 2
    )
    assert said["stages"] == [["TFRecord", pytest.approx(1e-6), 1.0]]
    assert said["stage_names"] == ["Root", "ParallelInterleaveV4", "TFRecord"]


def test_a_buffer_is_not_slow():
    consumer = thread(runs("Root", 0, 1000), runs("Root::Prefetch", 0, 1000), runs("Root::Prefetch", 2000, 3000))
    assert found(consumer, thread(runs("Root::Prefetch::Map", 0, 300))) == []
    # Nothing else can be the reason, so less time is enough.
    assert found(consumer, thread(runs("Root::Prefetch::Map", 0, 1200), runs("Root::Prefetch::Map", 2900, 3000))) == [
        ["Map", pytest.approx(550e-9), 1.0]
    ]


def test_a_stage_is_not_slow_where_a_buffer_takes_longer():
    consumer = thread(
        runs("Root", 0, 1000), runs("Root::BatchV2", 0, 1000), runs("Root::BatchV2::Prefetch", 0, 700),
    )  # fmt: skip
    assert found(consumer) == []
    assert [name for name, *_ in found(thread(runs("Root::BatchV2", 0, 1000)))] == ["BatchV2"]


def test_no_pipeline_has_no_stages():
    assert input_stages.stages([], WAITING, 2) == {"stages": [], "stage_names": []}
    assert found() == [] and input_stages.stages(parallel_map(900), [], 2)["stages"] == []


@pytest.mark.parametrize(
    "iterator, methods",
    [
        ("ParallelMapV2", ["map"]), ("MapAndBatch", ["map", "batch"]), ("FiniteTake", ["take"]), ("TFRecord", ["TFRecordDataset"]),
        ("GroupByWindow", ["group_by_window"]), ("Generator", ["from_generator"]), ("ShuffleAndRepeat", ["shuffle", "repeat"]),
        ("MemoryCacheImpl", ["cache"]), ("FlatMap", ["flat_map"]), ("RebatchV2", ["rebatch"]),
    ],
)  # fmt: skip
def test_iterators_are_known_by_their_methods(iterator, methods):
    assert methods_of_iterator(iterator) == methods
