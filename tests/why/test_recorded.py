"""Recorded profiles: made-up planes, files that cannot be read, and profiles of TensorFlow and JAX."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kerascheck.project.config import Configuration
from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.child import gpu_trace, intervals, recorded, xplane
from kerascheck.runtime.verify.child.xplane import Event
from kerascheck.runtime.verify.findings import findings_of
from kerascheck.runtime.why import gpu_views
from kerascheck.runtime.why.recorded import (
    NoProfile,
    RecordedProfile,
    created_layers,
    find_profile,
    read_profile,
    step_of,
)
from kerascheck.runtime.why.step import Part

SCRIPT = """\
import keras
model = keras.Sequential([
    keras.layers.Conv2D(8, 3, name="stem"),
    keras.layers.Dense(4),
    keras.layers.BatchNormalization(),
    keras.layers.BatchNormalization(),
])
"""


def event(start, end, name, **stats):
    return Event(start, end, name, stats)


CALL = "multi_step_on_iterator"
HOST = ("/host:CPU", [
    ("python", [event(1000 * n, 1000 * n + 900, CALL, tf_function_call="notTraced-nonXla") for n in range(4)]),
    ("tf_data_iterator_get_next/1", [event(1000 * n, 1000 * n + 300, "IteratorGetNextOp::DoCompute") for n in range(4)]),
    ("tf_Compute/2", [
        *(event(1000 * n + 200, 1000 * n + 500, "StatefulPartitionedCall/sequential_1/stem_1/convolution/Conv2D:Conv2D") for n in range(4)),
        *(event(1000 * n + 500, 1000 * n + 800, "StatefulPartitionedCall/gradient_tape/sequential_1/dense_3/MatMul/MatMul:MatMul") for n in range(4)),
        event(3800, 9000, "StatefulPartitionedCall/adam/Mul:Mul"),  # after the last step began
    ]),
])  # fmt: skip


def test_steps_are_divided_by_what_the_threads_do():
    facts = recorded.facts_of([HOST], {})
    assert (facts["steps"], facts["fits"], facts["seconds_per_step"]) == (3, True, pytest.approx(1e-6))
    # Fetching a batch while operations run is not waiting.
    assert {part: round(seconds * 1e9) for part, seconds in facts["parts"].items()} == {
        "computing": 600, "compiling": 0, "tracing": 0, "waiting": 200, "inside": 100, "between": 100,
    }  # fmt: skip
    assert [scope for scope, *_ in facts["scopes"]] == [
        "sequential_1/stem_1/convolution",
        "sequential_1/dense_3/MatMul",
    ]


def test_runs_of_a_jax_program_are_its_steps():
    ops = [event(100 * n, 100 * n + 60, "dot.1", hlo_op="dot.1", hlo_module="jit_step", run_id=n) for n in range(5)]
    calls = [event(n, n + 1, "PjitFunction(step)") for n in range(5)] + [event(0, 400, "PjitFunction(other)")]
    facts = recorded.facts_of([("/host:CPU", [("python", calls), ("tf_XLAEigen/1", ops)])], {})
    assert (facts["backend"], facts["function"], facts["steps"]) == ("jax", "step", 4)
    assert facts["parts"]["computing"] == pytest.approx(60e-9) and facts["parts"]["between"] == pytest.approx(40e-9)


@pytest.mark.parametrize(
    "planes", [[], [("/host:CPU", [])], [("/host:CPU", [("python", [event(0, 1, CALL, tf_function_call="x")])])]]
)
def test_a_profile_without_two_steps_says_so(planes):
    assert recorded.facts_of(planes, {}) == {"failure": "it shows no steps"}


@pytest.mark.parametrize(
    "name, scope",
    [
        ("StatefulPartitionedCall/gradient_tape/net/dense_1/MatMul/MatMul_1:_MklMatMul", ("net/dense_1/MatMul", 1)),
        ("jit(train_step)/transpose(jvp(net))/dense/dot_general", ("net/dense", 1)),
        ("jit(train_step)/jvp(net)/dense/dot_general", ("net/dense", 0)),
        ("AddN:AddN", None),
    ],
)
def test_scopes_are_what_surrounds_an_operation(name, scope):
    assert recorded.scope_of(name) == scope


def test_runs_of_a_jax_program_on_a_gpu_are_those_of_its_module():
    modules = ("XLA Modules", [event(100 * n, 100 * n + 80, "jit_step(17)", program_id=17) for n in range(3)])
    kernels = [event(100 * n, 100 * n + 70, "gemm", hlo_op="dot.1", hlo_module="jit_step") for n in range(3)]
    device = ("/device:GPU:0", [modules, ("Stream #1(Compute)", kernels)])
    calls = [event(n, n + 1, "PjitFunction(step)") for n in range(3)]
    facts = recorded.facts_of([("/host:CPU", [("python", calls)]), device], {})
    assert (facts["backend"], facts["steps"], facts["parts"]["computing"]) == ("jax", 2, pytest.approx(70e-9))
    assert facts["gpus"][0]["busy_seconds"] == pytest.approx(70e-9)


def gpu(*events):
    return (
        "/device:GPU:0 NVIDIA H100",
        [("Stream #7(Compute)", list(events)), ("XLA Ops", [event(0, 4000, "summary")])],
    )


def test_a_gpu_is_busy_waits_and_copies():
    kernels = [event(1000 * n + 400, 1000 * n + 700, "gemm_kernel" if n else "ncclAllReduce_f32") for n in range(4)]
    copies = [
        event(600, 800, "MemcpyH2D", memcpy_details="kind_src:pageable size:1000 dest:0 async:1"),
        event(900, 950, "MemcpyD2H", memcpy_details="size:8"),
    ]
    facts = recorded.facts_of([HOST, gpu(*kernels, *copies)], {})
    (view,) = restored(RecordedProfile, json.loads(json.dumps(facts)), "it").gpus
    assert [round(3e9 * each) for each in (view.busy_seconds, view.waiting_for_data_seconds, view.waiting_for_host_seconds)] == [
        900, 900, 1200,
    ]  # fmt: skip
    assert (view.kernels, round(view.kernel_seconds * 1e9)) == (1, 300)
    assert (view.copied_bytes, view.hidden_copy_seconds / view.copy_seconds) == (
        pytest.approx(1000 / 3),
        pytest.approx(0.5),
    )
    assert round(3e9 * view.collective_seconds) == 300
    # Kernels compute; the host's operations only launch them.
    assert facts["parts"]["computing"] > view.busy_seconds * 0.99


def test_the_view_of_a_gpu_is_said_in_three_lines():
    trace = restored(RecordedProfile, recorded.facts_of([HOST, gpu(event(400, 700, "gemm_kernel"))], {}), "it")
    from kerascheck.runtime.verify.step_trace import StepTrace

    text = "\n".join(gpu_views.lines(StepTrace(seconds_per_step=1e-6, gpus=trace.gpus)))
    assert text.startswith("GPU 0: 10% busy, 30% waiting for data, 60% waiting for the host.")
    assert "Longest kernels: gemm_kernel 100%." in text


def test_only_streams_count():
    named = event(0, 5, "gemm", tf_op="kerascheck0x/dense/MatMul:MatMul")
    plane = gpu(named, event(5, 6, "void kernel<float>(int)"), event(6, 9, "MemcpyH2D"))
    assert xplane.threads_of([HOST, plane]) == [
        ("Stream #7(Compute)", [
            (0, 5, "kerascheck0x/dense/MatMul:MatMul", None, None), (5, 6, "kernel:Kernel", None, None),
        ])
    ]  # fmt: skip
    assert len(gpu_trace.views([HOST, plane], 1)) == 1 and gpu_trace.views([HOST], 1) == []


def test_intervals():
    assert intervals.union([(3, 5), (0, 2), (1, 2), (4, 6)]) == [(0, 2), (3, 6)]
    assert intervals.covered([(0, 4), (6, 9)], [(1, 2), (3, 7)]) == [(1, 2), (3, 4), (6, 7)]
    assert intervals.minus([(0, 4), (6, 9)], [(1, 2), (3, 7)]) == [(0, 1), (2, 3), (7, 9)]


@pytest.fixture
def linted(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    return findings_of(script, Configuration())


def test_names_lead_to_lines_only_where_they_are_clear(linted):
    path = linted.script
    assert [(each.kind, each.place, each.name) for each in created_layers(linted)] == [
        ("Conv2D", (path, 3), "stem"), ("Dense", (path, 4), None), ("BatchNormalization", (path, 5), None),
        ("BatchNormalization", (path, 6), None),
    ]  # fmt: skip
    scopes = [
        ["net/stem_1/convolution", 5e-3, 0.0], ["net/dense_7/MatMul", 4e-3, 0.0], ["net/batch_normalization_1", 3e-3, 0.0],
        ["adam_1", 2e-3, 0.0], ["compile_loss/mse", 1e-3, 0.0], ["my_block/inner", 5e-4, 0.0],
    ]  # fmt: skip
    facts = recorded.facts_of([HOST], {}) | {"scopes": scopes, "total_seconds": 0.0155}
    step = step_of(restored(RecordedProfile, facts, "it"), linted)
    rows = [(row.role, row.kind, row.place) for row in step.facts.step_trace.rows]
    assert rows == [
        ("layer", "Conv2D", (path, 3)), ("layer", "Dense", (path, 4)), ("layer", "BatchNormalization", None),
        ("optimizer", "Adam", None), ("loss", "", None), ("layer", "my_block", None),
    ]  # fmt: skip
    assert set(step.parts) == {Part.COMPUTE, Part.INPUT, Part.UNEXPLAINED, Part.OVERHEAD}


def test_what_a_jax_host_does_is_unexplained(linted):
    facts = recorded.facts_of([HOST], {}) | {"backend": "jax", "fits": False}
    assert Part.PYTHON not in step_of(restored(RecordedProfile, facts, "it"), linted).parts


def test_the_newest_recording_is_taken(tmp_path):
    import os

    for number, name in enumerate(("2026_01_01", "2026_01_02")):
        folder = tmp_path / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(b"")
        os.utime(folder, (number, number))
    assert find_profile(str(tmp_path)).parent.name == "2026_01_02"


def test_folders_without_a_profile_say_what_is_missing(tmp_path):
    with pytest.raises(NoProfile, match="no such folder"):
        find_profile(str(tmp_path / "nope"))
    with pytest.raises(NoProfile, match=r"no \.xplane\.pb in it\. TensorBoard keeps them"):
        find_profile(str(tmp_path))
    (tmp_path / "a.trace.json.gz").write_bytes(b"")
    with pytest.raises(NoProfile, match="only a .trace.json.gz"):
        find_profile(str(tmp_path))


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "a.xplane.pb"
    with path.open("wb") as file:
        file.truncate((100 << 20) + 1)
    with pytest.raises(NoProfile, match="larger than 100 MiB"):
        find_profile(str(path))


def test_an_interpreter_without_tensorflow_is_named(tmp_path):
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(b"")
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(NoProfile, match="has no TensorFlow, which reads profiles"):
        read_profile(path, str(bare))


RECORDED = """\
import os, sys
os.environ["KERAS_BACKEND"] = sys.argv[1]
import keras
import numpy as np
import tensorflow as tf
x, y = np.ones((256, 32, 32, 3), "float32"), np.ones((256, 1), "float32")
model = keras.Sequential([
    keras.layers.Conv2D(48, 5, name="stem"),
    keras.layers.Flatten(),
    keras.layers.Dense(1),
])
model.compile("sgd", "mse")
model.fit(x, y, batch_size=32, verbose=0)
if sys.argv[1] == "jax":
    import jax
    jax.profiler.start_trace("logs")
    model.fit(x, y, batch_size=32, verbose=0)
    jax.profiler.stop_trace()
else:
    tf.profiler.experimental.start("logs")
    model.fit(x, y, batch_size=32, verbose=0)
    tf.profiler.experimental.stop()
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_a_recorded_fit_is_explained_by_layer(tmp_path, backend):
    pytest.importorskip(backend)
    (tmp_path / "train.py").write_text(RECORDED)
    subprocess.run([sys.executable, "train.py", backend], cwd=tmp_path, check=True, capture_output=True)
    command = [sys.executable, "-m", "kerascheck", "why", "train.py", "--profile", "logs", "--python", sys.executable]
    ran = subprocess.run([*command, "--output-format", "json"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "reads logs and executes nothing" in ran.stderr
    found = json.loads(ran.stdout)
    rows = found["layers"]["rows"]
    assert (rows[0]["kind"], rows[0]["place"]["line"]) == ("Conv2D", 8)
    assert found["layers"]["steps"] == 7 and found["layers"]["unattributed_share"] < 0.2
    parts = {each["part"]: each["share"] for each in found["parts"]}
    assert "compute" in parts and sum(parts.values()) == pytest.approx(1, abs=0.01)
    damaged = Path(next((tmp_path / "logs").rglob("*.xplane.pb")))
    damaged.write_bytes(damaged.read_bytes()[:3000])
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 2 and "it is cut or is no profile" in ran.stderr.splitlines()[-1]
