"""Findings and fixes survive rewriting a program into an equivalent one.

Every mutation of tests/mutations.py rewrites each script of the rooms. Afterwards all findings have to be there, at the same
statements, with the same severities and applicabilities. One table lists the exceptions, with a reason each.
"""

from __future__ import annotations

import ast
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from mutations import OF_TEXTS, OF_TREES, SCRIPT, CannotMutate, Files, reformatted, script, statements_of
from programs import Program, is_complete, lint, programs_of_rules

from kerascheck.finding import Applicability, FileError, Finding

SHARES = 8
"""Number of shares of the programs; together they take about a minute."""
LEAST_PROGRAMS = 480
"""Minimum number of programs that take part."""
EXPECTED: dict[str, set[tuple[str, str, str]]] = {
    "the names of variables and functions tell what they are for: augmentation, validation, inference, a network, a game": {
        ("renamed", "KC101", "serial_map/cases.md"),
        ("renamed", "KC111", "image_data_generator/cases.md"),
        ("renamed", "KC115", "shuffle_after_batch/cases.md"),
        ("renamed", "KC305", "half_floatx/cases.md"),
        ("renamed", "KC306", "half_floatx/cases.md"),
        ("renamed", "KC405", "predict_in_loop/cases.md"),
        ("renamed", "KC415", "fit_in_loop/cases.md"),
    },
    "a comment suppresses a finding": {
        ("reformatted", "KC101", "unused_suppression/slow.py"),
        ("reformatted", "KC900", "unused_suppression/slow.py"),
    },
    "a comment states the versions that the script requires": {
        ("reformatted", "KC210", "random_layer_while_loop/slow.py"),
        ("reformatted", "KC211", "random_layer_while_loop/slow.py"),
    },
    "a comment shows that the script was a notebook": {("reformatted", "KC128", "discarded_dataset/cases.md")},
    "a notebook shows the last expression of a cell": {("as_notebook", "KC128", "discarded_dataset/cases.md")},
    "a file of definitions alone is a module for others, but a notebook is not": {
        ("as_notebook", "KC202", "host_sync_in_call/cases.md"),
        ("as_notebook", "KC203", "py_function_in_call/cases.md"),
        ("as_notebook", "KC204", "state_created_in_call/cases.md"),
        ("as_notebook", "KC205", "python_loop_in_call/cases.md"),
    },
    "a dataset that nothing uses may be for those that import the file, but no notebook, local variable or script is imported": {
        ("as_notebook", "KC107", "py_function_in_map/cases.md"),
        ("in_guard", "KC107", "py_function_in_map/cases.md"),
        ("in_main", "KC107", "py_function_in_map/cases.md"),
    },
    "no fix moves a statement out of its block or cell": {
        ("as_notebook", "KC307", "late_device_config/cases.md"),
        ("as_notebook", "KC307", "late_device_config/slow.py"),
        ("in_guard", "KC307", "late_device_config/cases.md"),
        ("in_guard", "KC307", "late_device_config/slow.py"),
        ("in_main", "KC307", "late_device_config/cases.md"),
        ("in_main", "KC307", "late_device_config/slow.py"),
        ("in_guard", "KC702", "late_backend_selection/cases.md"),
        ("in_main", "KC702", "late_backend_selection/cases.md"),
    },
    "the fix moves an import along only where that has no other name": {
        ("aliased", "KC702", "late_backend_selection/cases.md"),
    },
    "no fix rewrites a statement of several lines": {
        ("one_argument_a_line", "KC312", "partial_memory_growth/cases.md"),
        ("one_argument_a_line", "KC208", "non_cudnn_rnn/cases.md"),
        ("one_argument_a_line", "KC312", "partial_memory_growth/slow.py"),
        ("one_argument_a_line", "KC415", "fit_in_loop/slow.py"),
        ("one_argument_a_line", "KC415", "tiny_batch/cases.md"),
    },
    "no fix changes a chain whose variables have types": {
        ("annotated", "KC103", "map_before_batch/slow.py"),
        ("annotated", "KC103", "map_before_batch/cases.md"),
        ("annotated", "KC114", "take_after_cache/cases.md"),
        ("annotated", "KC129", "take_after_cache/slow.py"),
        ("annotated", "KC104", "parse_single_example/slow.py"),
        ("annotated", "KC113", "parse_single_example/slow.py"),
        ("annotated", "KC132", "skip_after_map/cases.md"),
    },
    "other files may call a function of a module, so that fewer proofs hold": {
        ("with_helpers", "KC414", "removed_fit_argument/slow.py"),
        ("with_helpers", "KC307", "late_device_config/cases.md"),
        ("with_helpers", "KC101", "missing_memory_growth/slow.py"),
        ("with_helpers", "KC103", "map_before_batch/cases.md"),
        ("with_helpers", "KC101", "parse_single_example/slow.py"),
        ("with_helpers", "KC104", "parse_single_example/cases.md"),
        ("with_helpers", "KC104", "parse_single_example/slow.py"),
    },
    "no fix adds the setting to a module, which the script imports too late": {
        ("with_helpers", "KC306", "missing_steps_per_execution/cases.md"),
        ("with_helpers", "KC306", "parse_single_example/slow.py"),
        ("with_helpers", "KC306", "policy_after_layers/slow.py"),
        ("with_helpers", "KC306", "pretrained_input_range/slow.py"),
    },
    "variables of a function are known better than those of a module": {
        ("in_main", "KC210", "pretrained_input_range/cases.md"),
    },
    "a class is judged by what its own module does with it, and the training is in another": {
        ("with_helpers", "KC201", "numpy_in_call/cases.md"),
        ("with_helpers", "KC201", "numpy_in_call/slow.py"),
        ("with_helpers", "KC203", "py_function_in_call/slow.py"),
        ("with_helpers", "KC205", "python_loop_in_call/slow.py"),
        ("with_helpers", "KC202", "debug_left_on/cases.md"),
        ("with_helpers", "KC207", "side_effect_in_function/cases.md"),
        ("with_helpers", "KC207", "side_effect_in_function/slow.py"),
        ("with_helpers", "KC304", "missing_loss_scaling/slow.py"),
    },
    "the finding is at the call, where the strategy is, and not in the module that knows none": {
        ("with_helpers", "KC501", "build_outside_scope/slow.py"),
    },
    "the type of a tensor is proven for plain assignments at the top of a file, and for names as they are usually imported": {
        ("annotated", "KC103", "sequential_record_reads/cases.md"),
        ("annotated", "KC104", "parse_single_example/cases.md"),
        ("annotated", "KC312", "partial_memory_growth/cases.md"),
        ("annotated", "KC312", "partial_memory_growth/slow.py"),
        ("as_notebook", "KC201", "numpy_in_call/cases.md"),
        ("in_main", "KC312", "partial_memory_growth/cases.md"),
        ("aliased", "KC201", "numpy_in_call/cases.md"),
        ("annotated", "KC201", "numpy_in_call/cases.md"),
        ("in_guard", "KC201", "numpy_in_call/cases.md"),
        ("in_main", "KC201", "numpy_in_call/cases.md"),
    },
}
STRONGER = {
    # No other file can import names from a function, or below a guard.
    ("in_main", "KC201", "numpy_in_call/cases.md"),
    ("in_guard", "KC201", "numpy_in_call/cases.md"),
}
"""Cases in which a fix may become safe, because the other form of the program leaves less open."""
MUTATIONS = {mutation.__name__: mutation for mutation in (*OF_TEXTS, *OF_TREES)}


class Place(NamedTuple):
    """A finding, without properties that differ between forms of one program."""

    statement: int | str | None
    """Its number in the original program; the path for a file that was not rewritten."""
    code: str
    severity: str
    pedantic: bool
    fix: str | None


@dataclass
class Difference:
    """A change of findings by a mutation."""

    program: str
    mutation: str
    code: str
    lines: list[str]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.mutation, self.code, self.program.partition(":")[0]

    def __str__(self) -> str:
        return "\n".join([f"{self.program}, {self.mutation}:", *self.lines])


@dataclass
class Form:
    """A form of a program, and its findings."""

    of: Program
    mutation: str
    files: Files
    findings: list[Finding]
    errors: list[FileError]

    def places(self) -> Counter[Place]:
        return Counter(map(self._place, self.findings))

    def _place(self, finding: Finding) -> Place:
        location = finding.location
        path = next((path for path in self.files if location.path.endswith(f"/{path}")), None)
        statement: int | str | None = location.path.rpartition("/")[2]
        if path is not None:
            statement = self.files[path].statement_at(location.cell, location.line, location.column)
        fix = finding.fix.applicability.value if finding.fix else None
        return Place(statement, finding.code, str(finding.severity), finding.pedantic, fix)


def scripts() -> list[Program]:
    """Return the examples with findings and the cases that are one complete script, beside files of other kinds."""
    return [
        program
        for program in programs_of_rules()
        if (program.heading or "/slow" in program.name)
        and sum(path.endswith((".py", ".ipynb")) for path in program.files) == 1
        and is_complete(program)
    ]


def forms_of(program: Program) -> Iterator[tuple[str, Files]]:
    text = program.files[program.main or ""]
    yield "as it is", script(text)
    for mutation in OF_TEXTS:
        yield mutation.__name__, mutation(text)
    plain = reformatted(text)[SCRIPT].text
    for mutation in OF_TREES:
        try:
            yield mutation.__name__, mutation(plain)
        except CannotMutate:
            pass


@dataclass
class Outcome:
    """The findings in the scripts of some rooms.

    Attributes:
        mutants: the number of compared mutants.
        differences: differences between their findings and those of the originals.
        broken: folders of rooms with a failing rule, which are not compared.
    """

    mutants: int
    differences: list[Difference]
    broken: set[str]


def _share(program: Program) -> int:
    # A room belongs to one share, so its exceptions do too.
    return zlib.crc32(program.rule.encode()) % SHARES


def _outcome(programs: list[Program], folder: Path) -> Outcome:
    written = [(program, *form) for program in programs for form in forms_of(program)]
    linted = [
        Program(
            program.rule,
            program.name,
            {path: text for path, text in program.files.items() if path != program.main}
            | {path: each.text for path, each in files.items()},
        )
        for program, _, files in written
    ]
    forms = [Form(*each, findings, errors) for each, findings, errors in zip(written, *lint(linted, folder))]
    by_name = {(form.of.name, form.mutation): form for form in forms}
    outcome = Outcome(0, [], set())
    for form in forms:
        if form.mutation == "as it is":
            continue
        is_of_text = any(form.mutation == mutation.__name__ for mutation in OF_TEXTS)
        before = by_name[form.of.name, "as it is" if is_of_text else "reformatted"]
        # Other tests report failing rules.
        if before.errors:
            outcome.broken.add(form.of.name.partition("/")[0])
        else:
            outcome.mutants += 1
            outcome.differences += _compare(before, form)
    return outcome


def _compare(before: Form, after: Form) -> Iterator[Difference]:
    text = next(iter(before.files.values())).text
    statements = [ast.unparse(node).splitlines()[0] for node in statements_of(ast.parse(text))]
    gone, new = before.places() - after.places(), after.places() - before.places()
    for error in after.errors:
        yield Difference(after.of.name, after.mutation, error.code, [f"  {error.message}"])
    for code in sorted({place.code for place in (*gone, *new)}):
        lines = [
            f"  {sign} {place.code} {'pedantic' if place.pedantic else place.severity}, fix {place.fix}: "
            f"{statements[place.statement] if isinstance(place.statement, int) else place.statement}"
            for sign, places in (("-", gone), ("+", new))
            for place in places
            if place.code == code
        ]
        yield Difference(after.of.name, after.mutation, code, lines)


def _makes_safe(difference: Difference) -> bool:
    """Whether an unsafe fix becomes safe: there are no exceptions, because safety is a property of the program."""
    safe = f"fix {Applicability.SAFE.value}:"
    return any(line.startswith("  +") and safe in line for line in difference.lines) and any(
        line.startswith("  -") and safe not in line for line in difference.lines
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_findings_and_fixes_survive_mutations(share, tmp_path):
    programs = [program for program in scripts() if _share(program) == share]
    outcome = _outcome(programs, tmp_path)
    assert len(programs) >= LEAST_PROGRAMS // SHARES // 2
    assert outcome.mutants >= 9 * len(programs)
    stronger = [str(each) for each in outcome.differences if _makes_safe(each) and each.key not in STRONGER]
    assert not stronger, "a fix became safe:\n" + "\n".join(stronger)
    reasons = {key: reason for reason, keys in EXPECTED.items() for key in keys}
    unexpected = [str(each) for each in outcome.differences if each.key not in reasons]
    assert not unexpected, "\n" + "\n".join(unexpected)
    here = {program.name.partition("/")[0] for program in programs} - outcome.broken
    stale = {key for key in reasons if key[2].partition("/")[0] in here} - {each.key for each in outcome.differences}
    assert not stale, "these stay the same now; take them out of the table"


def test_every_mutation_applies_and_enough_programs_take_part():
    programs = scripts()
    assert len(programs) >= LEAST_PROGRAMS
    some = programs[::8]
    count = Counter(name for program in some for name, _ in forms_of(program))
    assert count.keys() == {"as it is", *MUTATIONS}
    assert min(count.values()) >= len(some) // 3


def test_every_exception_names_a_mutation_and_an_existing_file():
    files = {program.name.partition(":")[0] for program in programs_of_rules()}
    for mutation, _, file in (key for keys in EXPECTED.values() for key in keys):
        assert mutation in MUTATIONS
        assert file in files
