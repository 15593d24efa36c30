"""Recorded profiles: made-up planes, files that cannot be read, and profiles of TensorFlow and JAX."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kerascheck.project.config import Configuration
from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.child import gpu_trace, hlo, intervals, recorded, xplane
from kerascheck.runtime.verify.child.xplane import Event
from kerascheck.runtime.verify.findings import findings_of
from kerascheck.runtime.verify.rounds import Run
from kerascheck.runtime.verify.step_trace import StepTrace
from kerascheck.runtime.why import gpu_views, json_report, report_html
from kerascheck.runtime.why import recorded as why_recorded
from kerascheck.runtime.why.created import created_by
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.explain import WhyResult
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.profile_layers import LayerNames
from kerascheck.runtime.why.recorded import NoProfile, RecordedProfile, explain_profile, read_profile, step_of
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
    assert [(each.kind, each.place, each.name) for each in created_by(linted).layers] == [
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
    assert [(each.name, each.parent, each.seconds) for each in step.facts.step_trace.layers] == [
        ("adam_1", None, 2e-3), ("loss", None, 1e-3), ("my_block", None, 5e-4), ("net", None, 0.0),
        ("batch_normalization_1", 3, 3e-3), ("dense_7", 3, 4e-3), ("stem_1", 3, 5e-3),
    ]  # fmt: skip


def test_names_of_a_live_model_come_first(linted):
    names = LayerNames(created_by(linted).layers, {"my_block": "Block", "tower_10": "Dense"})
    assert names.owner(("net", "my_block", "relu")).kind == "Block"
    owner = names.owner(("net", "tower_10", "MatMul"))
    assert (owner.kind, owner.scopes, owner.place) == ("Dense", ("net", "tower_10"), (linted.script, 4))


PIPELINE = """\
import tensorflow as tf
train = (
    tf.data.Dataset.range(9)
    .map(lambda x: x + 1)
    .batch(3)
)
{more}
model.fit(train)
"""


def waiting_for(tmp_path, stage, script, *others, **changed):
    path = tmp_path / "train.py"
    path.write_text(script)
    linted = findings_of(path, Configuration())
    facts = recorded.facts_of([HOST], {}) | {"stages": [[stage, 150e-9, 2.0]], "stage_names": ["Root", stage, *others]}
    step = step_of(restored(RecordedProfile, facts | changed, "it"), linted)
    return diagnose(step, linted.findings, Lines(linted.sources)), linted.script


def test_lines_of_a_notebook_are_those_of_its_cells(tmp_path):
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in ("import keras\nimport os\n", "layer = keras.layers.Dense(4)\n")
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    linted = findings_of(path, Configuration())
    (layer,) = created_by(linted).layers
    assert Lines(linted.sources).shown(*layer.place) == "train.ipynb cell 2:1"


def advice_on_input(diagnosis):
    return next(one for one in diagnosis.advice if one.part is Part.INPUT)


def test_the_slowest_stage_has_the_line_that_creates_it(tmp_path):
    diagnosis, path = waiting_for(tmp_path, "MapAndBatch", PIPELINE.format(more=""), "Range")
    assert diagnosis.causes[Part.INPUT].place == (path, 4)
    assert advice_on_input(diagnosis).findings[0].location.line == 4
    assert advice_on_input(diagnose(diagnosis.step, [], diagnosis.lines)).text == (
        "map() and batch() are the slowest stage, although they run in parallel already: do less there, or cache() the "
        "results if they never change"
    )


@pytest.mark.parametrize(
    "more, others",
    [
        ("other = train.map(lambda x: x)", ()),  # two calls
        ("", ("ParallelMapV2",)),  # a library may create one of the two
    ],
)
def test_the_line_of_a_stage_is_unknown_where_several_may_create_it(tmp_path, more, others):
    diagnosis, _ = waiting_for(tmp_path, "MapAndBatch", PIPELINE.format(more=more), *others)
    cause = diagnosis.causes[Part.INPUT]
    assert (cause.what, cause.place) == ("MapAndBatch", None)


def test_a_stage_of_validation_data_is_not_that_of_the_training(tmp_path):
    script = PIPELINE.replace("model.fit(train)", "model.fit(x, y, validation_data=train)").format(more="")
    assert waiting_for(tmp_path, "MapAndBatch", script)[0].causes[Part.INPUT].place is None


def test_a_profile_is_never_run_again(tmp_path):
    for changed in (
        {"parts": {"waiting": 1e-6}},
        {"parts": {"between": 1e-6}, "backend": "jax"},
        {"parts": {"compiling": 1e-6}},
        {"parts": {"tracing": 1e-6}},
    ):
        diagnosis, _ = waiting_for(tmp_path, "Root", "import keras\n", **{"stages": []} | changed)
        text = " ".join(one.text for one in diagnosis.advice)
        assert text and "quiet" not in text and "0 " not in text
    assert "fixed" not in waiting_for(tmp_path, "Root", "", parts={"between": 1e-6})[0].headline


def test_events_of_iterators_name_the_stage_that_steps_wait_for():
    iterators = (
        "tf_data_iterator_resource/1",
        [event(0, 4000, "Iterator::Root::Prefetch::MapAndBatch", parallelism=2)],
    )
    facts = recorded.facts_of([("/host:CPU", [*HOST[1], iterators])], {})
    assert facts["stages"] == [["MapAndBatch", pytest.approx(200e-9), 2.0]]


def test_the_page_and_json_say_what_a_profile_shows(tmp_path):
    diagnosis, path = waiting_for(tmp_path, "Generator", "import keras\n", parts={"waiting": 5e-7})
    answer = WhyResult(Run(), findings_of(path, Configuration()), diagnosis)
    page = re.sub(r"<[^>]+>", "", report_html.render(answer, None, []))
    assert "from_generator() runs your Python in one thread" in page and "line unknown" in page
    assert "100% of the time that steps wait for stages" in page and "in 3 steps of the profile" in page
    assert not re.search("on one batch|TensorFlow's own|added by TensorFlow|From_generator", page)
    (stage,) = json_report.report(answer, None, None)["stages"]
    assert (stage["place"], stage["added_by_tensorflow"]) == (None, False)


STEP_OF_KERAS = event(0, 400, "$trainer.py:256 iterator_step")


@pytest.mark.parametrize(
    "function, python, scope, fits",
    [
        ("train_step", [STEP_OF_KERAS], "", True),
        ("train_step", [], "jit(train_step)/jvp(compile_loss)/mse/sub", True),
        ("train_step", [], "jit(train_step)/dense/dot_general", False),  # a loop with a function of this name
        ("<lambda>", [STEP_OF_KERAS], "", True),
        ("my_step", [STEP_OF_KERAS], "", False),
        ("compiled_train_step", [], "", True),
    ],
)
def test_fit_on_jax_is_told_by_its_functions(linted, function, python, scope, fits):
    module = f"jit_{function}"
    ops = [event(100 * n, 100 * n + 60, "dot.1", hlo_op="dot.1", hlo_module=module, run_id=n) for n in range(5)]
    calls = [event(n, n + 1, f"PjitFunction({function})") for n in range(5)]
    program = {"main": [hlo.Instruction("dot.1", "dot", scope, [], [], [])]}
    facts = recorded.facts_of([("/host:CPU", [("python", calls + python), ("tf_XLAEigen/1", ops)])], {module: program})
    step = step_of(restored(RecordedProfile, facts, "it"), linted)
    assert (facts["fits"], step.kind) == (fits, "fit" if fits else "training loop")
    assert set(step.parts) == {Part.COMPUTE, Part.UNEXPLAINED}


def test_the_peak_of_a_gpu_is_that_of_its_allocator():
    def allocation(at, name, kind, **stats):
        return event(at, at, f"Memory{kind}", allocator_name=name, bytes_reserved=0, **stats)

    allocations = [
        allocation(
            1, "GPU_0_bfc", "Allocation", bytes_allocated=1 << 30, bytes_available=15 << 30, peak_bytes_in_use=3 << 30
        ),
        allocation(
            2, "GPU_0_bfc", "Deallocation", bytes_allocated=0, bytes_available=16 << 30, peak_bytes_in_use=4 << 30
        ),
        allocation(3, "GPU_1_bfc", "Allocation", bytes_allocated=1 << 20, peak_bytes_in_use=5 << 20),
        event(4, 4, "Another", allocator_name="GPU_0_bfc", peak_bytes_in_use=9 << 30),
        allocation(4, "cpu", "Allocation", bytes_allocated=9 << 30, peak_bytes_in_use=9 << 30),
    ]
    host = ("/host:CPU", [*HOST[1], ("other", allocations)])
    facts = recorded.facts_of([host, gpu(event(400, 700, "gemm")), ("/device:GPU:1", []), ("/device:GPU:2", [])], {})
    trace = restored(RecordedProfile, json.loads(json.dumps(facts)), "it")
    text = list(gpu_views.lines(StepTrace(seconds_per_step=1e-6, gpus=trace.gpus)))
    assert [line for line in text if "Peak" in line] == [
        "  Peak of its memory since the start of the process: 4.0 GiB of 16.0 GiB.",
        "  Peak of its memory since the start of the process: 5 MiB.",
    ]


@pytest.fixture
def explained(tmp_path, linted, monkeypatch):
    """Explain a run of made-up files."""

    def explain(facts, *hosts):
        for host in hosts:
            (tmp_path / f"{host}.xplane.pb").write_bytes(b"")
        profile = restored(RecordedProfile, facts, "it")
        monkeypatch.setattr(why_recorded, "read_profile", lambda path, python: profile)
        return list(explain_profile(str(tmp_path), "python", lambda: linted).diagnosis.remarks)

    return explain


def test_one_host_of_several_is_named(explained):
    remarks = explained(recorded.facts_of([HOST], {}), "worker0", "worker1", "worker2")
    assert remarks[0].startswith("read from 3 steps of 1 of 3 hosts: worker0, recorded ")
    assert remarks[1] == "--profile FILE reads the profile of another host"


def test_one_host_is_not_counted(explained):
    assert explained(recorded.facts_of([HOST], {}), "worker0")[0].startswith("read from 3 steps of worker0, recorded ")


def test_layers_without_programs_are_unknown(explained):
    facts = recorded.facts_of([HOST], {})
    assert any("layers are unknown" in each for each in explained(facts | {"lacks_programs": True}, "a"))
    assert not any("layers are unknown" in each for each in explained(facts, "a"))


def test_what_a_jax_host_does_is_unexplained(linted):
    facts = recorded.facts_of([HOST], {}) | {"backend": "jax", "fits": False}
    assert Part.PYTHON not in step_of(restored(RecordedProfile, facts, "it"), linted).parts


def test_an_interpreter_without_a_reader_is_named(tmp_path):
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(b"")
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(NoProfile, match="has neither TensorFlow nor JAX, which read profiles"):
        read_profile(path, str(bare))


def interpreter(folder, script):
    """A program in the place of an interpreter."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "script, said",
    [
        (
            "kill -9 $$",
            "its reader was ended by SIGKILL, perhaps for lack of memory: record fewer steps, ten are enough",
        ),
        ("exit 3", "its reader ended with status 3"),
        ("echo '[]'", "its reader ended with status 0"),
    ],
)
def test_a_reader_without_an_answer_says_how_it_ended(tmp_path, script, said):
    path = tmp_path / "a.xplane.pb"
    with pytest.raises(NoProfile) as problem:
        read_profile(path, interpreter(tmp_path, script))
    assert str(problem.value) == f"{path}: {said}"


READER = """\
import sys
import _kerascheck_child.recorded as recorded
def read(path):
    global kept
    kept = {read}
recorded.xplane.reader = lambda: (read, True)
recorded._MOST_BYTES = 64 << 20
recorded.main("a.xplane.pb")
"""
LOADED = """\
import importlib.util, sys
spec = importlib.util.spec_from_file_location("main", {main!r})
main = importlib.util.module_from_spec(spec)
spec.loader.exec_module(main)
main._load_package()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound memory")
@pytest.mark.parametrize(
    "read, said",
    [
        ("bytearray(1 << 27)", "reading it takes more than 0.1 GiB of memory: record fewer steps, ten are enough"),
        ("[bytearray(50 << 20), 1 / 0]",
         "it is cut or is no profile (ZeroDivisionError), or reading it takes more than 0.1 GiB of memory: record fewer "
         "steps, ten are enough"),
        ("1 / 0", "it is cut or is no profile (ZeroDivisionError)"),
    ],
)  # fmt: skip
def test_the_memory_of_the_reader_is_bounded(read, said):
    main = str(Path(recorded.__file__).with_name("__main__.py"))
    ran = subprocess.run(
        [sys.executable, "-c", LOADED.format(main=main) + READER.format(read=read)], capture_output=True
    )
    assert json.loads(ran.stdout) == {"failure": said}, ran.stderr


def test_events_that_nobody_uses_are_left_out():
    used = ["$trainer.py:256 iterator_step", "Iterator::Root", "PjitFunction(f)", "dot.1"]
    unused = ["$core.py:404 convert_to_numpy", "$<unknown> get", "ThreadpoolListener::Record"]
    assert [name for name in used + unused if not xplane._UNUSED.match(name)] == used


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


MAPPED = """\
import numpy as np
import keras
import tensorflow as tf

def slow(x):
    for _ in range(20):
        x = tf.linalg.matmul(x, x)
    return x[0], 1.0

data = (
    tf.data.Dataset.from_tensor_slices(np.ones((640, 64, 64), "float32"))
    .map(slow, num_parallel_calls=2)
    .batch(32)
    .prefetch(1)
)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, verbose=0)
tf.profiler.experimental.start("logs")
model.fit(data, verbose=0)
tf.profiler.experimental.stop()
"""


def reported(folder, *options):
    command = [sys.executable, "-m", "kerascheck", "why", "train.py", "--profile", "logs"]
    ran = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def without_tensorflow(folder):
    """An interpreter that cannot import TensorFlow."""
    (folder / "tensorflow").mkdir()
    (folder / "tensorflow" / "__init__.py").write_text("raise ImportError")
    return interpreter(folder, f'PYTHONPATH={folder} exec {sys.executable} "$@"')


CHILD = Path(recorded.__file__).parent
STATISTIC = re.compile(r"stats\.get\(\"(\w+)|stats\[\"(\w+)|\"(\w+)\" (?:not )?in (?:self|event|e|each)?\.?stats")


def test_each_statistic_that_is_used_is_read():
    asked = {
        name
        for file in CHILD.glob("*.py")
        for names in STATISTIC.findall(file.read_text(encoding="utf-8"))
        for name in names
        if name
    }
    assert {"tf_op", "run_id", "step_num", "memcpy_details", "parallelism"} <= asked <= xplane._USED_STATS


@pytest.mark.slow
def test_a_slow_map_is_found_in_a_profile(tmp_path):
    pytest.importorskip("tensorflow")
    (tmp_path / "train.py").write_text(MAPPED)
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True, capture_output=True)
    found = json.loads(reported(tmp_path, "--python", sys.executable, "--output-format", "json"))
    (stage,) = found["stages"]
    assert (stage["name"], stage["place"]["line"], stage["added_by_tensorflow"]) == ("MapAndBatch", 12, False)
    if find_spec("jax"):  # reads it too
        again = json.loads(reported(tmp_path, "--python", without_tensorflow(tmp_path), "--output-format", "json"))
        assert again["stages"] == found["stages"] and again["layers"] == found["layers"]


@pytest.mark.slow
def test_jax_alone_reads_all_but_layers(tmp_path):
    pytest.importorskip("jax")
    (tmp_path / "train.py").write_text(RECORDED.replace("import tensorflow as tf\n", ""))
    subprocess.run([sys.executable, "train.py", "jax"], cwd=tmp_path, check=True, capture_output=True)
    said = reported(tmp_path, "--python", without_tensorflow(tmp_path))
    assert "per step (fit, jax)" in said and "Operations" not in said
    assert "JAX shows no compiled programs in a profile, so layers are unknown" in said


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
    assert (found["kind"], found["backend"]) == ("fit", backend)
    rows = found["layers"]["rows"]
    assert (rows[0]["kind"], rows[0]["place"]["line"]) == ("Conv2D", 8)
    assert found["layers"]["steps"] == 7 and found["layers"]["unattributed_share"] < 0.2
    parts = {each["part"]: each["share"] for each in found["parts"]}
    assert "compute" in parts and sum(parts.values()) == pytest.approx(1, abs=0.01)
    damaged = Path(next((tmp_path / "logs").rglob("*.xplane.pb")))
    damaged.write_bytes(damaged.read_bytes()[:3000])
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 2 and "it is cut or is no profile" in ran.stderr.splitlines()[-1]
