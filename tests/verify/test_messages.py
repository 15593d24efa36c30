"""Messages of the measured process: parsing, errors, and equal keys on both sides."""

import ast
import dataclasses
import json
import typing
from pathlib import Path

import pytest
from verify.made_up import WIRE_FACTS

from kerascheck.runtime.verify import child, messages, samples
from kerascheck.runtime.verify.messages import (
    BlockTiming,
    Frame,
    InvalidMessage,
    LateFacts,
    Ready,
    Started,
    StepTime,
    TrainingFacts,
    TrainingReport,
    TrainingStart,
    parse,
    parse_facts,
)
from kerascheck.runtime.verify.step_trace import LayerTime, OwnerTime
from kerascheck.runtime.why.recorded import RecordedProfile

BLOCK = {"event": "block", "steps": 2, "seconds": 0.2, "inner_steps": 1, "inner_seconds": 0.1, "ticks": [0.1, 0.1]}
END = {
    "event": "end",
    "reason": "done",
    "durations": [[0.1, 1, True]],
    "stack": [["/a.py", 3, 0]],
    "facts": {**WIRE_FACTS, "runtime_model_failed": "KeyError: 'x'"},
}


def sent(message, **changes):
    return json.dumps(message | changes)


def test_each_event_has_its_class():
    assert parse(b'{"event": "started"}') == Started() and parse('{"event": "ready"}') == Ready()
    start = parse('{"event": "training", "kind": "fit", "number": null, "order": 1, "stack": [["/a.py", 3, 0]]}')
    assert start == TrainingStart("fit", None, 1, (Frame("/a.py", 3, 0),))
    assert parse(sent(BLOCK)) == BlockTiming(2, 0.2, 1, 0.1, ticks=(0.1, 0.1))
    report = parse(sent(END))
    assert isinstance(report, TrainingReport)
    assert report.durations == (StepTime(0.1, 1, True),) and report.place == ("/a.py", 3)
    assert report.facts.chain[0].place == ("/a.py", 5)


def test_errors_of_diagnostics_are_collected():
    facts = parse(sent(END)).facts
    late = parse('{"event": "more", "facts": {"rows_failed": "no rows", "traces": 3}, "pending": ["model"]}')
    assert isinstance(late, LateFacts) and late.pending == ("model",)
    together = late.added_to(facts)
    assert together.failures == {"runtime_model": "KeyError: 'x'", "rows": "no rows"}
    assert together.traces == 3 and together.chain == facts.chain


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"event": "other"}', "other"),
        ("{}", "event"),
        (sent(BLOCK, steps="two"), "the message 'block'.steps cannot be \"two\""),
        (sent(BLOCK, colour=1), "has no field 'colour'"),
        ('{"event": "block", "steps": 1}', "lacks the field 'inner_seconds'"),
        (sent(END, durations=[[0.1, 1]]), "durations must have 3 items, not 2"),
        (sent(END, facts={"colour": 1}), "facts has no field 'colour'"),
        (sent(END, facts={"gpus": [1]}), "facts.gpus cannot be 1"),
        (sent(END, facts={"model": {"jit_compile": None}}), "facts.model.jit_compile cannot be null"),
    ],
)
def test_a_damaged_message_is_one_error_that_names_the_field(line, words):
    with pytest.raises(InvalidMessage) as raised:
        parse(line)
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_a_damaged_message_ends_the_run_with_that_error(tmp_path, monkeypatch):
    from kerascheck.runtime.verify import process
    from kerascheck.runtime.verify.rounds import run_alone

    monkeypatch.setattr(process, "parse", lambda line: parse(line.replace(b'"reason"', b'"raeson"')))
    script = process.Script(str(tmp_path / "a.py"), {str(tmp_path / "a.py"): "x = 1\n"})
    run = run_alone(script, process.Plan(), start_limit=60, block_limit=5)
    assert "sent a damaged message" in run.failure and "no field 'raeson'" in run.failure


# The same keys on both sides --------------------------------------------------------------------------------------

MESSAGES = (Started, Ready, TrainingStart, BlockTiming, TrainingReport, RecordedProfile)
AS_ARRAYS = {
    messages.Frame, messages.StepTime, messages.TensorSpec, messages.Feeder, messages.PredictCall, samples.ThreadSample,
    samples.MainSample, samples.TimelineSegment, messages.LookupLayer, messages.EmbeddingTable, messages.VisibleDevices,
    OwnerTime, LayerTime,
}  # fmt: skip
ENVELOPE = {"event", "failure"}
WITHIN_THE_CHILD = {
    "__builtins__", "display", "get_ipython", "_", "keras", "tf_keras", "tf-keras", "tensorflow", "torch", "jax", "filepath",
    "__main__", "_kerascheck_child", "dataset loop", "gradient loop", "leader", "between",
}  # fmt: skip
"""Keys of dictionaries in the child that are not messages."""


def kinds(hint):
    """The dataclasses in a type annotation."""
    if dataclasses.is_dataclass(hint):
        yield hint
    for each in typing.get_args(hint):
        yield from kinds(each)


def fields_on_the_wire():
    """Names of all fields that are sent as keys."""
    found, pending = set(), list(MESSAGES)
    while pending:
        kind = pending.pop()
        for name, hint in typing.get_type_hints(kind).items():
            found.add(name)
            pending += [each for each in kinds(hint) if each not in AS_ARRAYS]
    return found - {"failures"}


def keys_in_the_child():
    """Keys of dictionaries and of assigned items, and keywords of ``send`` and ``finish``."""
    found = []
    for path in sorted(Path(child.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict):
                found += node.keys
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                found.append(node.slice)
            elif isinstance(node, ast.Call):
                name = getattr(node.func, "attr", "")
                if name in ("send", "finish"):
                    found += [ast.Constant(keyword.arg) for keyword in node.keywords]
                elif name == "setdefault":
                    found.append(node.args[0])
                elif name == "fromkeys":
                    found += getattr(node.args[0], "elts", [])
    return {each.value for each in found if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def test_the_child_sends_every_field():
    assert fields_on_the_wire() - keys_in_the_child() == set()


def test_every_key_that_the_child_sends_is_a_field():
    unknown = keys_in_the_child() - fields_on_the_wire() - ENVELOPE - WITHIN_THE_CHILD
    assert unknown == set()


TRAINING = """\
import keras
import tensorflow as tf

ds = tf.data.Dataset.range(512).map(lambda i: (tf.fill([8], tf.cast(i, tf.float32)), 1.0)).batch(16).prefetch(2)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(ds, epochs=50, verbose=0, validation_data=ds.take(2))
"""


@pytest.mark.slow
def test_a_training_sends_the_declared_fields(tmp_path, monkeypatch):
    pytest.importorskip("tensorflow")
    from kerascheck.runtime.verify import process
    from kerascheck.runtime.verify.rounds import run_alone
    from kerascheck.runtime.verify.scouting import SCOUT

    lines = []
    monkeypatch.setattr(process, "parse", lambda line: lines.append(json.loads(line)) or parse(line))
    (tmp_path / "a.py").write_text(TRAINING)
    script = process.Script(str(tmp_path / "a.py"), {str(tmp_path / "a.py"): TRAINING})
    plan = dataclasses.replace(SCOUT, parts=True, rows=True, block_seconds=0.3)
    run = run_alone(script, plan, start_limit=200, block_limit=60)
    assert run.failure is None and run.facts.failures == {}
    facts = {key for message in lines for key in message.get("facts", {})}
    assert facts <= {field.name for field in dataclasses.fields(TrainingFacts)}
    # The other fields are about other frameworks, forms of training and models.
    assert {
        "parts",
        "samples",
        "validation",
        "fit_arguments",
        "fit_start",
        "model",
        "versions",
        "rows",
        "timeline",
    } <= facts
    assert run.facts.parts.call > 0 and run.facts.fit_arguments.epochs == 50
    assert parse_facts({}) == TrainingFacts()
