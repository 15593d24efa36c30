"""Operations and bytes of graphs and of compiled programs, against numbers counted by hand and by XLA."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kerascheck.runtime.verify.child import cpu_peaks, hlo, layer_costs
from kerascheck.runtime.verify.child.hlo_costs import costs_of, flops_of
from kerascheck.runtime.verify.child.layer_costs import Costs

IN_FRAMEWORKS = Path(__file__).parent / "costs_in_frameworks.py"


def total(costs, kind):
    amounts = [getattr(each, kind) for each in costs]
    return None if None in amounts else sum(amounts)


# Programs of XLA --------------------------------------------------------------------------------------------------

LOOP = """\
HloModule jit_loop

%body (p: (s32[], f32[4,8])) -> (s32[], f32[4,8]) {
  %p = (s32[], f32[4,8]{1,0}) parameter(0)
  %x = f32[4,8]{1,0} get-tuple-element(%p), index=1
  %w = f32[8,8]{1,0} constant({...})
  %dot = f32[4,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/kerascheck0x/dot"}
  ROOT %out = (s32[], f32[4,8]{1,0}) tuple(%p, %dot)
}

%cond (q: (s32[], f32[4,8])) -> pred[] {
  %q = (s32[], f32[4,8]{1,0}) parameter(0)
  ROOT %less = pred[] compare(%q, %q), direction=LT
}

ENTRY %main (a: f32[4,8]) -> f32[4,8] {
  %a = f32[4,8]{1,0} parameter(0)
  %t = (s32[], f32[4,8]{1,0}) tuple(%a, %a)
  %while = (s32[], f32[4,8]{1,0}) while(%t), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"10"}}
  ROOT %r = f32[4,8]{1,0} get-tuple-element(%while), index=1
}
"""
FUSED = """\
HloModule jit_gather

%inside (table: f32[1000,16], rows: s32[5,1]) -> f32[5,16] {
  %table = f32[1000,16]{1,0} parameter(0)
  %rows = s32[5,1]{1,0} parameter(1)
  %taken = f32[5,16]{1,0} gather(%table, %rows), metadata={op_name="jit(f)/kerascheck0x/gather"}
  ROOT %twice = f32[5,16]{1,0} add(%taken, %taken), metadata={op_name="jit(f)/kerascheck1x/add"}
}

ENTRY %main (t: f32[1000,16], i: s32[5,1]) -> f32[5,16] {
  %t = f32[1000,16]{1,0} parameter(0)
  %i = s32[5,1]{1,0} parameter(1)
  ROOT %fusion = f32[5,16]{1,0} fusion(%t, %i), kind=kLoop, calls=%inside
}
"""


def test_a_loop_counts_as_often_as_it_runs():
    found = Costs(costs_of(hlo.of_text(LOOP)))
    assert found.of([0]) == [10 * 2 * 4 * 8 * 8, 10 * 4 * (4 * 8 + 8 * 8 + 4 * 8), "float32"]


def test_a_loop_of_unknown_length_is_unknown():
    found = Costs(costs_of(hlo.of_text(LOOP.replace("known_trip_count", "other"))))
    assert found.of([0]) == [None, None, ""] and found.total()[:2] == [None, None]


def test_a_fused_operation_reads_only_the_rows_that_it_takes():
    """Each owner has its own operations; they share the bytes like the time."""
    found = Costs(costs_of(hlo.of_text(FUSED)))
    size = 4 * (5 * 16 + 5 * 1 + 5 * 16)
    assert found.of([0]) == [0, size / 2, ""] and found.of([1]) == [5 * 16, size / 2, ""]


def test_an_owner_without_operations_is_unknown():
    assert Costs(()).of([3]) == [None, None, ""]


def test_calls_of_libraries():
    """cuBLAS and cuDNN compute the products of a GPU; other calls are unknown."""

    def made(text):
        (instructions,) = hlo.of_text(f"ENTRY %main (a: f32[8,4]) -> f32[8,2] {{\n{text}\n}}").values()
        return flops_of(instructions[-1], {each.name: each for each in instructions})

    operands = "  %a = f32[8,4]{1,0} parameter(0)\n  %b = f32[4,2]{1,0} parameter(1)\n"
    config = 'backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}'
    call = '  ROOT %c = (f32[8,2]{1,0}, s8[9]{0}) custom-call(%a, %b), custom_call_target="%s", ' + config
    assert made(operands + call.replace("%s", "__cublas$gemm")) == 2 * 8 * 2 * 4
    assert made(operands + call.replace("%s", "TopK")) is None
    image = "  %a = f32[2,9,9,3]{3,2,1,0} parameter(0)\n  %b = f32[3,3,3,8]{3,2,1,0} parameter(1)\n"
    conv = (
        "  ROOT %c = (f32[2,7,7,8]{3,2,1,0}, u8[0]{0}) custom-call(%a, %b), window={size=3x3}, "
        'dim_labels=b01f_01io->b01f, custom_call_target="__cudnn$convForward"'
    )
    assert made(image + conv) == 2 * (2 * 7 * 7 * 8) * (3 * 3 * 3)
    backward = conv.replace("2,7,7,8", "3,3,3,8").replace("Forward", "BackwardFilter")
    gradient = image.replace("%b = f32[3,3,3,8]", "%b = f32[2,7,7,8]")
    assert made(gradient + backward) == 2 * (2 * 7 * 7 * 8) * (3 * 3 * 3)


def test_a_program_counts_as_often_as_it_runs():
    """An instruction that two threads compute has two events."""
    events = [(0, 1, name, name, "jit") for name in ("fusion", "fusion", "fusion", "fusion", "r", "r")]
    program = hlo.of_text(FUSED.replace("ROOT %fusion", "%fusion").replace("kind=kLoop, calls=%inside\n", "kind=kLoop, calls=%inside\n  ROOT %r = f32[5,16]{1,0} negate(%fusion)\n"))  # fmt: skip
    found = Costs(layer_costs._of_programs({"jit": program, "unused": program}, events), 2)
    assert found.of([1])[0] == 5 * 16


def test_loops_run_as_often_as_their_operations():
    name = "StatefulPartitionedCall/lstm/while/body/_3/lstm/while/"
    events = [(at, at + 1, f"{name}{kind}:{kind}", None, None) for at, kind in enumerate(["MatMul"] * 40 + ["Add"] * 3)]
    assert layer_costs._runs_of_loops(lambda: (2, [("t", events)]), 1) == {"StatefulPartitionedCall/lstm/while": 20}
    inner = [(0, 1, f"{name}again/while/body/_9/Mul:Mul", None, None)] * 80
    found = layer_costs._runs_of_loops(lambda: (2, [("t", events + inner)]), 1)
    assert found["StatefulPartitionedCall/lstm/while/lstm/while/again/while"] == 40


def test_activity_of_a_gpu():
    streams = [("Stream #1", [(0, 10, "a", None, None), (5, 20, "b", None, None)]), ("Stream #2", [(90, 100, "c", None, None)])]  # fmt: skip
    assert layer_costs.kernels(streams, 1) == {"kernels": 3, "busy_seconds": pytest.approx(30e-9)}
    assert layer_costs.kernels([("tf_Compute/1", streams[0][1])], 1) == {}


# Peaks of the processor -------------------------------------------------------------------------------------------


class Recording:
    """A state of the probes, with the peaks of one framework known."""

    def __init__(self, **facts):
        self.recorder = SimpleNamespace(facts={"backend": "jax", "versions": {"jax": "1.0"}, **facts})
        self.run = {"plan": {"known_peaks": ["jax 1.0"]}}


def test_peaks_are_measured_only_where_they_are_unknown():
    fit = SimpleNamespace(kind="fit")
    assert cpu_peaks.cpu_peaks(Recording(), fit) == {"peaks_of": "jax 1.0"}
    assert cpu_peaks.cpu_peaks(Recording(gpus=["a card"]), fit) is None
    assert cpu_peaks.cpu_peaks(Recording(backend="torch"), fit) is None
    assert cpu_peaks.cpu_peaks(Recording(), SimpleNamespace(kind="optimizer loop")) is None


def test_the_array_exceeds_the_caches_and_fits_into_the_memory(monkeypatch):
    monkeypatch.setattr(cpu_peaks, "available_bytes", lambda: None)
    assert cpu_peaks._SMALLEST <= cpu_peaks._array_bytes() <= cpu_peaks._LARGEST
    monkeypatch.setattr(cpu_peaks, "available_bytes", lambda: 80 << 20)
    assert cpu_peaks._array_bytes() == 10 << 20


# With a framework -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_frameworks_agree():
    """In a process of its own: threads of JAX must not be forked with the next tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", str(IN_FRAMEWORKS)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=IN_FRAMEWORKS.parents[2], env=environment)
    assert ran.returncode == 0, ran.stdout
