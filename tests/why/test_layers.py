"""Attribution of operations to layers, on made-up traces; and what the reports say about it."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from verify.made_up import FACTS

from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.child import hlo, layer_trace, xplane
from kerascheck.runtime.verify.child.intervals import seconds_of
from kerascheck.runtime.verify.child.layer_costs import Costs
from kerascheck.runtime.verify.child.layer_scopes import Owner, owner_of
from kerascheck.runtime.verify.child.layer_trace import attributed, busy, parents_of, rows
from kerascheck.runtime.verify.child.layer_trace import layers as child_layers
from kerascheck.runtime.verify.child.torch_trace import threads_of
from kerascheck.runtime.verify.step_trace import StepTrace
from kerascheck.runtime.why import layers
from kerascheck.runtime.why.diagnosis import diagnose
from kerascheck.runtime.why.json_report import _layers
from kerascheck.runtime.why.lines import Lines
from kerascheck.runtime.why.report_text import render
from kerascheck.runtime.why.step import Part, Step

OWNERS = [
    Owner("layer", "dense", "Dense", ("/a.py", 3)),
    Owner("layer", "conv1", "Conv2D", ("/a.py", 4), "ResNet50"),
    Owner("layer", "conv2", "Conv2D", ("/a.py", 4), "ResNet50"),
    Owner("optimizer", "adam", "Adam", ("/a.py", 9)),
    Owner("layer", "pool", "MaxPooling2D", ("/a.py", 4), "ResNet50"),
]
PROGRAM = """\
HloModule jit_train_step

%fused_computation (p: f32[8,4]) -> f32[8,4] {
  %p = f32[8,4]{1,0} parameter(0)
  %half = f32[2,4]{1,0} slice(%p), metadata={op_name="jit(train_step)/jvp(kerascheck0x)/dense/slice"}
  ROOT %whole = f32[6,4]{1,0} add(%p, %p), metadata={op_name="jit(train_step)/kerascheck3x/adam/add"}
}

%product (p.1: f32[8,4]) -> f32[8,8] {
  %relu = f32[800,400]{1,0} maximum(%p.1, %p.1), metadata={op_name="jit(train_step)/jvp(kerascheck1x)/conv1/max"}
  ROOT %dot = f32[8,8]{1,0} dot(%relu, %relu), metadata={op_name="jit(train_step)/transpose(jvp(kerascheck0x))/dense/dot"}
}

ENTRY %main (x: f32[8,4]) -> (f32[8,4], f32[]) {
  %x = f32[8,4]{1,0} parameter(0)
  %wrapped_iota = s32[8]{0} iota(), iota_dimension=0
  %copy = s32[8]{0} copy(%wrapped_iota)
  %add_fusion = f32[8,4]{1,0} fusion(%x), kind=kLoop, calls=%fused_computation, metadata={op_name="jit(train_step)/kerascheck3x/adam/add"}
  %dot_fusion.1 = f32[8,8]{1,0} fusion(%x, %copy), kind=kOutput, calls=%product
  ROOT %tuple = (f32[8,4]{1,0}, f32[]) tuple(%add_fusion, %add_fusion)
}
"""


def test_an_operation_belongs_to_its_innermost_scope():
    assert owner_of("StatefulPartitionedCall/kerascheck0x/model_1/kerascheck12x_1/dense_1/MatMul:MatMul") == (12, 0)
    assert owner_of("StatefulPartitionedCall/gradient_tape/kerascheck0x_3/dense/MatMul/MatMul_1:MatMul") == (0, 1)
    assert owner_of("jit(train_step)/transpose(jvp(kerascheck3x))/dense/dot_general") == (3, 1)
    assert owner_of("StatefulPartitionedCall/AddN_1:AddN") is None


def test_operations_of_tensorflow_are_counted_without_those_inside_them():
    events = [
        (0, 100, "ExecutorState::Process", None, None),
        (10, 60, "StatefulPartitionedCall/kerascheck0x/dense/PyFunc:PyFunc", None, None),
        (20, 50, "StatefulPartitionedCall/kerascheck3x/adam/Mul:Mul", None, None),
        (60, 70, "StatefulPartitionedCall/gradient_tape/kerascheck1x/conv1/Conv2DBackpropFilter:Conv2DBackpropFilter", None, None),
        (70, 90, "StatefulPartitionedCall/IteratorGetNext:IteratorGetNext", None, None),
        (90, 95, "StatefulPartitionedCall/AddN:AddN", None, None),
    ]  # fmt: skip
    found, fused = attributed([("tf_Compute/1", events), ("tf_data_iterator/2", events)], {})
    assert (found, fused) == ({(0, 0): 20, (3, 0): 30, (1, 1): 10, None: 5}, 0)


def test_a_fused_operation_is_divided_among_its_layers():
    names = hlo.names_of(hlo.of_text(PROGRAM))
    events = [(0, 40, "add_fusion", "add_fusion", "jit"), (40, 60, "dot_fusion.1", "dot_fusion.1", "jit")]
    found, fused = attributed([("tf_XLAEigen/1", events)], {"jit": names})
    # A quarter of the elements are the layer's; a product takes all of a fusion.
    assert (found, fused) == ({(0, 0): 10, (3, 0): 30, (0, 1): 20}, 40)


def test_an_instruction_that_xla_adds_belongs_to_its_reader():
    names = hlo.names_of(hlo.of_text(PROGRAM))
    found, _ = attributed([("tf_XLAEigen/1", [(0, 40, "copy", "copy", "jit")])], {"jit": names})
    assert found == {(0, 1): 40}


REWRITTEN = """\
HloModule jit_train_step

%convolution (a: f32[8,4], b: f32[8,4]) -> f32[4,4] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[8,4]{1,0} parameter(1)
  ROOT %inner = f32[4,4]{1,0} dot(%a, %b)
}

ENTRY %main (x: f32[8,4], kernel: f32[4,4], other: f32[4,4]) -> f32[4,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %kernel = f32[4,4]{1,0} parameter(1)
  %other = f32[4,4]{1,0} parameter(2)
  %moved = f32[4,8]{0,1} transpose(%x), dimensions={1,0}
  %forward = f32[8,4]{1,0} dot(%x, %kernel), metadata={op_name="jit(train_step)/jvp(kerascheck1x)/dot_general"}
  %second = f32[8,4]{1,0} dot(%forward, %other), metadata={op_name="jit(train_step)/jvp(kerascheck0x)/dot_general"}
  %max = f32[8,4]{1,0} maximum(%second, %second), metadata={op_name="jit(train_step)/transpose(jvp(kerascheck4x))/max"}
  %gradient = f32[4,4]{1,0} fusion(%moved, %max), kind=kOutput, calls=%convolution
  %unclear = f32[4,4]{1,0} dot(%max, %max)
  %sum = f32[4,4]{1,0} add(%gradient, %unclear), metadata={op_name="jit(train_step)/kerascheck3x/add"}
}
"""


def test_a_rewritten_product_belongs_to_the_layer_that_reads_the_same_input():
    names = hlo.names_of(hlo.of_text(REWRITTEN))
    assert owner_of(names["gradient"][0][0]) == (1, 1)  # not (3, 0), the optimizer that reads it
    assert owner_of(names["moved"][0][0]) == (1, 1)
    assert owner_of(names["forward"][0][0]) == (1, 0)
    assert owner_of(names["unclear"][0][0]) is None


@pytest.mark.parametrize("programs", [{}, {"jit": {}}, {"jit": {"copy": []}}])
def test_an_instruction_that_is_not_known_is_not_attributed(programs):
    found, _ = attributed([("tf_XLAEigen/1", [(0, 40, "copy", "copy", "jit")])], programs)
    assert found == {None: 40}


@pytest.fixture
def trace():
    found = {(0, 0): 1e6, (1, 0): 2e6, (2, 1): 4e6, (3, 0): 2e6, None: 1e5, (4, 0): 9e5}
    facts = {
        **rows(OWNERS, (found, 0.0), 2, Costs(())),
        "steps": 2,
        "seconds_per_step": 0.005,
        "busy_seconds": 0.005,
        "overhead_seconds": 0.5,
    }
    return restored(StepTrace, json.loads(json.dumps(facts)), "step_trace")


def step_with(trace):
    facts = replace(FACTS, step_trace=trace)
    return Step("fit", 0.01, {Part.COMPUTE: 0.009}, ("/a.py", 30), [("/a.py", 1, 30)], facts=facts)


def test_layers_of_one_class_and_line_are_one_row(trace):
    assert list(layers.by_row(trace, Lines({}))) == [
        "2 Conv2D of ResNet50 60% (a.py:4)",
        "optimizer Adam 20% (a.py:9)",
        "Dense 10% (a.py:3)",
        "MaxPooling2D 9%",
    ]
    assert layers.by_direction(trace) == "forward 39%, backward 40%, optimizer 20%, not attributed 1%"
    assert [row["share"] for row in _layers(step_with(trace))["rows"]] == pytest.approx([0.6, 0.2, 0.1, 0.09])


def test_the_leading_layer_is_the_cause_of_computing(trace):
    answer = diagnose(step_with(trace), [], Lines({}))
    cause = answer.causes[Part.COMPUTE]
    assert (cause.what, cause.place) == ("2 Conv2D of ResNet50", ("/a.py", 4))
    text = "\n".join(render(answer, 80))
    assert "Operations: 2 Conv2D of ResNet50 60% (a.py:4), optimizer Adam 20%" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    covered = diagnose(step_with(replace(trace, busy_seconds=0.003)), [], Lines({}))
    assert "\n  forward 23%, backward 24%, optimizer 12%, not attributed 1%, between\n  operations 40%\n" in "\n".join(
        render(covered, 80)
    )


def test_no_layer_leads_if_most_operations_are_not_attributed(trace):
    unclear = replace(trace, unattributed_seconds=10 * trace.total_seconds, total_seconds=11 * trace.total_seconds)
    assert layers.cause(unclear) is None
    assert layers.cause(replace(trace, rows=())) is None
    assert "no profiler" in layers.remark(replace(FACTS, failures={"layer_trace": "OSError: no profiler"}))
    assert "belong to no layer" in layers.remark(replace(FACTS, step_trace=unclear))


def test_shares_are_of_the_step_where_operations_cover_part_of_it(trace):
    covered = replace(trace, busy_seconds=0.003)
    assert layers.by_direction(covered) == (
        "forward 23%, backward 24%, optimizer 12%, not attributed 1%, between operations 40%"
    )
    assert next(iter(layers.by_row(covered, Lines({})))) == "2 Conv2D of ResNet50 36% (a.py:4)"
    assert layers.cause(covered).share == pytest.approx(0.36)
    document = _layers(step_with(covered))
    assert document["between_operations_share"] == pytest.approx(0.4)
    assert document["rows"][0]["share_of_step"] == pytest.approx(0.36)
    alone = replace(covered, seconds_alone=0.004)  # the profiler lengthened the time between operations
    assert next(iter(layers.by_row(alone, Lines({})))) == "2 Conv2D of ResNet50 45% (a.py:4)"
    unknown = replace(trace, busy_seconds=None)
    assert (
        "between" not in layers.by_direction(unknown)
        and _layers(step_with(unknown))["between_operations_share"] is None
    )
    little = replace(trace, busy_seconds=0.0024)
    assert layers.cause(little) is None  # most of the step runs no operation
    assert "operations run in only 48% of a step" in diagnose(step_with(little), [], Lines({})).advice[0].text
    assert "operations run" not in diagnose(step_with(covered), [], Lines({})).advice[0].text


def test_no_layer_is_the_cause_if_the_fixed_cost_leads(trace):
    facts = replace(FACTS, step_trace=trace)
    parts = {Part.COMPUTE: 0.004, Part.OVERHEAD: 0.006}
    step = Step("fit", 0.01, parts, ("/a.py", 30), [("/a.py", 1, 30)], facts=facts)
    assert diagnose(step, [], Lines({})).causes.get(Part.COMPUTE) is None


def test_an_operation_of_xla_lasts_until_the_next_one_of_its_run():
    def event(start, end, name, run):
        return xplane.Event(start, end, name, {"hlo_op": name, "hlo_module": "jit", "run_id": run})

    first, second = event(0, 10, "fusion", 1), event(14, 20, "dot", 1)
    inside, later = event(15, 16, "copy", 1), event(30, 32, "fusion", 2)
    waited = xplane.Event(2, 25, "ThunkExecutor::Execute (wait for completion)", {"run_id": 1})
    threads = [("tf_XLAEigen/1", [first, later]), ("tf_XLAEigen/2", [second, inside]), ("tf_XLAPjRt/3", [waited])]
    found = {name: [each[:2] for each in events] for name, events in xplane.threads_of([("/host:CPU", threads)])}
    assert found == {
        "tf_XLAEigen/1": [(0, 14), (30, 32)],
        "tf_XLAEigen/2": [(14, 25), (15, 16)],  # the end of the run is known
        "tf_XLAPjRt/3": [(2, 25)],
    }


@pytest.mark.parametrize(("seconds", "steps", "is_long"), [(1.0, 2, False), (4.0, 1, True)])
def test_long_steps_are_warmed_up_once(monkeypatch, seconds, steps, is_long):
    clock = SimpleNamespace(now=0.0)
    ran = []

    def run():
        ran.append(1)
        clock.now += seconds

    monkeypatch.setattr(layer_trace.time, "perf_counter", lambda: clock.now)
    assert layer_trace._warm_up(SimpleNamespace(run=run)) is is_long
    assert len(ran) == steps


def test_the_fixed_cost_names_the_share_of_the_optimizer(trace):
    def advice(trace):
        facts = replace(FACTS, step_trace=trace)
        step = Step("fit", 0.01, {Part.OVERHEAD: 0.009}, ("/a.py", 30), [("/a.py", 1, 30)], facts=facts)
        return diagnose(step, [], Lines({})).advice[0].text

    assert advice(trace).endswith(". Adam takes 20% of a step, whatever the size of the batch")
    assert "Adam" not in advice(replace(trace, rows=trace.rows[:1]))


def test_time_is_busy_while_an_operation_runs_on_any_thread():
    events = [(0, 4, "a/MatMul:MatMul", None, None), (3, 6, "b/Mul:Mul", None, None)]
    other = [(5, 8, "c/Add:Add", None, None), (8, 20, "IteratorGetNext:IteratorGetNext", None, None)]
    threads = [("tf_Compute/1", events), ("tf_Compute/2", other), ("tf_data_x/1", [(20, 30, *events[0][2:])])]
    assert seconds_of(busy(threads)) == pytest.approx(8e-9)


def torch_event(name, start, end, parent=None, number=-1, scope=0, forward=0, kernels=()):
    """An event of ``torch.profiler`` on thread 1, in microseconds."""
    return SimpleNamespace(
        name=name, time_range=SimpleNamespace(start=start, end=end, elapsed_us=lambda: end - start), thread=1,
        cpu_parent=parent, sequence_nr=number, scope=scope, fwd_thread=forward, kernels=kernels,
        device_type=SimpleNamespace(name="CPU"),
    )  # fmt: skip


def torch_events():
    outer = torch_event("kerascheck1x", 0, 50, scope=7)
    inner = torch_event("kerascheck0x", 5, 40, outer, scope=7)
    linear = torch_event("aten::linear", 10, 30, inner, number=4)
    product = torch_event("aten::addmm", 12, 30, linear, number=5, kernels=[SimpleNamespace(duration=3.0)])
    relu = torch_event("aten::relu", 42, 46, outer, number=6)
    engine = torch_event("autograd::engine::evaluate_function: AddmmBackward0", 60, 70, number=5, forward=1)
    node = torch_event("AddmmBackward0", 61, 70, engine, number=5, scope=1, forward=1)
    backward = torch_event("aten::mm", 62, 69, node, kernels=[SimpleNamespace(duration=6.0)])
    unknown = torch_event("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 70, 72)
    return [unknown, backward, node, engine, relu, product, linear, inner, outer]


def test_a_backward_operation_of_pytorch_belongs_to_its_forward_operation():
    threads = threads_of(torch_events(), cuda=False)
    found, _ = attributed(threads, {})
    # The time of Python inside a scope is no operation.
    assert found == {(0, 0): 20_000, (1, 0): 4_000, (0, 1): 10_000, None: 2_000}
    assert parents_of(threads, {}) == {0: 1, 1: None}
    assert seconds_of(busy(threads)) == pytest.approx(36e-6)


def test_on_a_gpu_the_kernels_of_an_operation_count():
    found, _ = attributed(threads_of(torch_events(), cuda=True), {})
    assert found == {(0, 0): 3_000, (0, 1): 6_000}


def test_layers_keep_those_around_them():
    owners = [Owner("layer", name, "Dense", ("/a.py", line)) for line, name in enumerate("abc", 1)]
    names = ["kerascheck2x/kerascheck0x/dense/MatMul:MatMul", "gradient_tape/kerascheck2x/kerascheck0x/MatMul:MatMul"]
    events = [(at, at + 1, name, None, None) for at, name in enumerate(names)]
    found, _ = attributed([("tf_Compute/1", events)], {})
    sent = child_layers(owners, found, parents_of([("tf_Compute/1", events)], {}), 1, Costs(()))
    inner, outer = restored(StepTrace, {"layers": json.loads(json.dumps(sent))}, "step_trace").layers
    assert (inner.name, inner.parent, inner.seconds) == ("a", 1, pytest.approx(2e-9))
    assert (outer.name, outer.parent, outer.seconds) == ("c", None, 0.0)
