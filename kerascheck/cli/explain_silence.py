"""The reasons why rules do not report a line, as text for its author.

There are three sources. A rule yields a :class:`~kerascheck.catalog.rule.Silence` with its reason. Comments and settings
hide findings. Facts about the program, such as that no training uses a dataset, are found by assuming the opposite: if a
rule then reports the line, the fact is its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kerascheck.catalog import registry
from kerascheck.catalog.rule import Diagnosis, Rule, Silence
from kerascheck.cli.line_facts import facts_of_line
from kerascheck.interpreter.values import DatasetConsumer
from kerascheck.lint.analyze_file import Analysis, FileResult, is_left_out, is_shown, lines_of, placed, said_of
from kerascheck.lint.session import Session
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.graph.traced_code import find_traced_calls
from kerascheck.project.config import Configuration, Settings
from kerascheck.project.suppression import suppressions
from kerascheck.report.common import count

if TYPE_CHECKING:
    from kerascheck.catalog.registry import RuleSpec
    from kerascheck.finding import Finding, SortKey
    from kerascheck.meaning.module import Module
    from kerascheck.meaning.program.program import Program
    from kerascheck.project.discovery import File
    from kerascheck.source import Source

_LONGEST_LINE, _LONGEST_CODE = 100, 60
_MOST_CODES = 8


def explain(source: Source, file: File, line: int, cell: int | None = None) -> Iterator[str]:
    """What each rule says about a line, or why it says nothing, as lines of text.

    Args:
        line: counted from 1; in notebooks within the cell.
        cell: the notebook's cell, counted from 1; None in scripts.

    Raises:
        ValueError: the file does not parse, or there is no such line.
    """
    first, last = _line_range(source, line, cell)
    here = source.line_of(first)
    module = _load(source, file)
    yield f"{source.path}:{'' if cell is None else f'cell {cell}:'}{line}: {_shortened(source.line_text(first), _LONGEST_LINE)}"
    yield from _about_the_program(module, first, last)
    shown = Session(Configuration(isolated=True, default=file.settings)).lint(source).findings
    reported = _reported(shown, source.path, line, source.locate(first, first).cell)
    merged = {key: each for each in shown for key in each.covers if key != each.sort_key}
    silent, specs = [], [spec for spec in registry.rule_specs() if spec.kind is Rule]
    for spec in specs:
        statements = [f"reports this line: {message}" for message in reported.get(spec.code, ())]
        try:
            statements = statements or list(dict.fromkeys(_statements(spec, module, here, file.settings, merged)))
        except Exception as problem:  # noqa: BLE001 - a fault of one rule costs that rule, as in a check
            statements = [
                f"failed: {type(problem).__name__}: {problem}; this is a fault of {spec.by or 'kerascheck'}: please report it with the file"
            ]
        yield from (f"{spec.code} {spec.name} {text}" for text in statements)
        if not statements:
            silent.append(spec)
    for suppose in (_as_if_trained, _as_if_repeated, _as_if_eager, *_other_programs(module)):
        supposed = _load(source, file)
        fact = suppose(supposed, here)
        for spec in list(silent) if fact else ():
            if (code := _reported_code(spec, supposed, here, file.settings)) is not None:
                silent.remove(spec)
                yield f"{spec.code} {spec.name} looked at `{code}`: {fact}."
    if len(silent) == len(specs):
        yield from facts_of_line(module, here)
    yield from _left_alone(silent, module)
    silent = [spec for spec in silent if spec.applies.to(module)]
    others = "other " * (len(silent) < len(specs))
    yield f"{count(len(silent), f'{others}rule')} found nothing to report."


def _left_alone(specs: Sequence[RuleSpec], module: Module) -> Iterator[str]:
    """Which of the rules do not speak of such a program, by what it is."""
    codes: dict[str, list[str]] = {}
    for spec in specs:
        if (exception := spec.applies.exception(module)) is not None:
            codes.setdefault(exception, []).append(spec.code)
    for exception, listed in codes.items():
        those = ", ".join(listed) if len(listed) <= _MOST_CODES else count(len(listed), "rule")
        yield f"{those} {'does' if len(listed) == 1 else 'do'} not apply here: {exception}"


def _load(source: Source, file: File) -> Module:
    result = FileResult(file.path)
    module = Analysis([source]).load(source, file.settings, result)
    if module is None:
        raise ValueError(result.errors[0].message)
    return module


def _about_the_program(module: Module, first: int, last: int) -> Iterator[str]:
    runtime = module.runtime
    yield f"Judged for TensorFlow {runtime.tensorflow_version} and Keras {runtime.keras} (backend: {runtime.backend})."
    if module.is_graph_code:
        yield "The file is written for the graphs of TensorFlow 1."
    if (test := _test_around(module, first, last)) is not None:
        yield f"`{test}` looks like a test, so nothing in it is reported."


def _test_around(module: Module, first: int, last: int) -> str | None:
    """The name of the unit test that a line stands in; None where it stands in none."""
    from kerascheck.interpreter.run import is_test

    for node, function in module.run.functions.items():
        if function.module is module and is_test(function):
            start, end = module.tree.range_of(node)
            if start < last and first < end:
                return function.name
    return None


def _line_range(source: Source, line: int, cell: int | None) -> tuple[int, int]:
    """Offsets of the first character of a line and of the one behind it."""
    if source.cells is None and cell is not None:
        raise ValueError(f"this is no notebook: name the line alone, as in --explain-silence {line}")
    if source.cells is not None and cell is None:
        raise ValueError(f"this is a notebook: name the cell too, as in --explain-silence 1:{line}")
    if source.cells is None:
        lines, begin = source.text.splitlines(keepends=True), 0
    else:
        part = next((each for each in source.cells if each.index + 1 == cell), None)
        if part is None:
            raise ValueError(f"there is no code cell {cell}")
        lines, begin = source.text[part.start : part.end].splitlines(keepends=True), part.start
    if not 1 <= line <= len(lines):
        raise ValueError(f"there is no line {line}")
    first = begin + sum(map(len, lines[: line - 1]))
    return first, first + len(lines[line - 1])


def _reported(shown: Sequence[Finding], path: str, line: int, cell: int | None) -> dict[str, list[str]]:
    """The messages of the findings on a line, by code."""
    found: dict[str, list[str]] = {}
    for finding in shown:
        place = finding.location
        if (place.path, place.cell) == (path, cell) and line in (place.line, *finding.statement_lines):
            found.setdefault(finding.code, []).append(f"{finding.message}{_unsafe(finding)}")
    return found


def _statements(
    spec: RuleSpec, module: Module, here: int, settings: Settings, merged: Mapping[SortKey, Finding]
) -> Iterator[str]:
    """What a rule itself says about a line of the text; ``merged`` has the shown finding for each that it replaces."""
    for said in said_of(spec, module):
        if said.at.module is not module or here not in lines_of(said.at):
            continue
        if isinstance(said, Silence):
            reason: str | None = said.reason
        else:
            reason = _hidden_by(spec, said, settings)
            if reason is None:
                joined = merged.get(placed(spec, said)[0].sort_key)
                if joined is not None:
                    yield f"is part of {joined.code} at line {joined.location.line}, which orders the whole chain: {said.message}"
                    continue
                yield f"reports this line: {said.message}{_unsafe(said)}"
                continue
        yield f"looked at `{_code_of(module, said)}`: {reason}."


def _unsafe(said: Diagnosis | Finding) -> str:
    """Which proofs the fix of a finding lacks, as a further sentence; empty where it lacks none."""
    fix = said.fix
    return f" Its fix is unsafe: {fix.objections}." if fix is not None and fix.objections else ""


def _hidden_by(spec: RuleSpec, diagnosis: Diagnosis, settings: Settings) -> str | None:
    """Why a finding is not shown; None where nothing hides it."""
    source = diagnosis.at.module.source
    if suppressions(source).silencing(spec.code, spec.name, lines_of(diagnosis.at)):
        return "a comment silences it"
    if spec not in registry.enabled(settings.selections):
        return "the rule is not selected" if spec.on_by_default else "the rule is off until it is selected"
    if not is_shown(diagnosis, spec.code, settings):
        counted = diagnosis.tally is not None and not diagnosis.tally.repaired_since
        reason = (
            f"one line for the whole run counts it; --select {spec.code} shows it here."
            if counted
            else "this costs nothing where the code runs, so only --pedantic reports it."
        )
        return f"{reason} {diagnosis.because or ''}".rstrip(" .")
    if diagnosis.severity < settings.min_severity:
        return f"it is of severity {diagnosis.severity}, which min-severity leaves out"
    if is_left_out(settings, source.path, spec.code, spec.name):
        return "per-file-ignores leaves it out"
    return None


def _code_of(module: Module, said: Diagnosis | Silence) -> str:
    start, end = module.range_of(said.at.node)
    # What a method is called of tells more than its name alone, if it is short.
    whole = " ".join(module.text[module.tree.range_of(said.at.node)[0] : end].split())
    return whole if len(whole) <= _LONGEST_CODE else _shortened(module.text[start:end])


def _shortened(code: str, longest: int = _LONGEST_CODE) -> str:
    code = " ".join(code.split())
    return code if len(code) <= longest else code[: longest - 3] + "..."


def _reported_code(spec: RuleSpec, module: Module, here: int, settings: Settings) -> str | None:
    """What a rule reports that is on a line of the text, or is explained by it; None where it reports nothing, or fails."""
    try:
        for said in said_of(spec, module, in_side_code=True):
            if isinstance(said, Silence) or said.at.module is not module:
                continue
            places = [said.at, *(place for place, _ in said.related)]
            is_here = any(place.module is module and here in lines_of(place) for place in places)
            if is_here and not _hidden_by(spec, said, settings):
                return _code_of(module, said)
        return None
    except Exception:  # noqa: BLE001 - what is supposed need not be a program that a rule expects
        return None


def _as_if_trained(module: Module, here: int) -> str | None:
    """Tell a module that the datasets of a line are trained on; in words what it does with them, or None where it trains on them."""
    stages = [stage for stage in module.run.stages if stage.module is module and here in lines_of(stage)]
    pipelines = module.pipelines
    roles = frozenset().union(*map(pipelines.roles, stages))
    if not stages or "train" in roles:
        return None
    unseen = "unknown" in roles and [
        op for op in pipelines.operations(*(stage.name for stage in stages)) if op.stages[0] in stages
    ]
    for stage in stages:
        ends = [each for each in (stage, *pipelines.downstream(stage)) if not pipelines.children(each)]
        module.run.sinks.extend(DatasetConsumer("train", end, end.module, end.node, end.path) for end in ends)
    # What has been computed of the datasets rests on what they fed before.
    del module.memory[Pipelines]
    uses = [_USES[role] for role in sorted(roles & _USES.keys())]
    if uses:
        return f"this dataset is used for {' and '.join(uses)} only"
    if not unseen:
        return "this dataset never reaches fit or a training loop"
    if any(op.may_feed_training for op in unseen):
        return "where this dataset is trained on is not seen from here"
    return "its use is not seen from here, and a name around it says validation or test data"


_USES = {
    "validation": "validation", "evaluate": "evaluation", "predict": "prediction", "adapt": "adapting a layer", "inspect": "a look at some elements",
    "side": "debugging or a benchmark",
}  # fmt: skip


def _as_if_repeated(module: Module, here: int) -> str | None:
    """Tell a module that the loops around a line are long; in words how short they are, or None where they are not known to be."""
    run = module.run
    inside = [
        *(loop for loop in run.loops if loop.module is module and here in lines_of(loop)),
        *(call.path for call in run.calls if call.module is module and here in lines_of(call)),
        *(stage.path for stage in run.stages if stage.module is module and here in lines_of(stage)),
    ]
    around = {loop for path in inside for loop in path.loops(within="program") if loop.turns is not None}
    turns = [loop.turns for loop in around if loop.turns is not None]
    for loop in around:
        loop.trips = loop.most = None
    if len(turns) == 1:
        return f"the loop around it makes {count(turns[0], 'iteration')} at most"
    return "the loops around it make few iterations" if turns else None


def _as_if_eager(module: Module, here: int) -> str | None:
    """Tell a module that nothing compiles the functions that a line is in, or begins; in words what does, or None where nothing does."""
    compiled = {
        frame
        for call in module.run.calls
        for frame in call.path.frames()
        if frame.traced == "tf.function"
        and any(each.module is module and here in lines_of(each) for each in (call, frame.function) if each is not None)
    }
    for frame in compiled:
        frame.traced = None
        module.run.compiled.discard(frame.function.node if frame.function is not None else frame.node)
    module.memory.pop(find_traced_calls, None)
    return "tf.function compiles it" if compiled else None


_PROGRAM_FACTS: dict[str, Callable[[Program], str]] = {
    "adversarial": lambda program: "names say that this program trains two networks against each other",
    "mentions_precision": lambda program: f"`{program.precision_mention}` says that this program may choose its precision",
    "uses_float64": lambda program: "this program computes in float64",
    "reinforcement_learning": lambda program: "this program uses environments for reinforcement learning",
    "pins_cpu": lambda program: "this program hides the GPUs",
    "needs_tpu": lambda program: "this program runs on TPUs only",
}  # fmt: skip
"""Properties of a program that exclude it from a rule as a whole, each with its description."""


def _other_programs(module: Module) -> Iterator[Callable[[Module, int], str]]:
    """Suppositions that deny the facts about a program: each fact alone, then all of them together."""
    facts = [fact for fact in _PROGRAM_FACTS if getattr(module.program, fact)]
    for denied in (*((fact,) for fact in facts), *((tuple(facts),) if len(facts) > 1 else ())):
        yield partial(_as_if_without, denied, " and ".join(_PROGRAM_FACTS[fact](module.program) for fact in denied))


def _as_if_without(facts: Sequence[str], described: str, module: Module, here: int) -> str:
    """Tell a module that its program lacks these facts; returns them in words."""
    for fact in facts:
        setattr(module.program, fact, False)
    return described
