"""Every rule against its cases in rules/<family>/<slug>/cases.md, and the reader of these files."""

import re
from dataclasses import replace

import pytest
from cases import problems, read_cases

from kerascheck.catalog.registry import rule_specs

FILES = [(spec, spec.folder / "cases.md") for spec in rule_specs()]
CASES = [(spec, case) for spec, path in FILES if path.is_file() for case in read_cases(path)]
PARAMETERS = [pytest.param(spec, case, id=f"{spec.name}: {case.heading}") for spec, case in CASES]

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.mark.parametrize(("spec", "case"), PARAMETERS)
def test_case_has_the_expected_findings(spec, case, tmp_path):
    assert case.programs, "a heading without a program"
    place = f"rules/{spec.folder.parent.name}/{spec.folder.name}/cases.md"
    mismatches = []
    for number, program in enumerate(case.programs):
        folder = tmp_path / str(number)
        folder.mkdir()
        mismatches += [
            f"{place}:{program.line}: {case.heading}: {each}" for each in problems(program, spec.code, folder)
        ]
    if mismatches:
        pytest.fail("\n".join(mismatches), pytrace=False)


# Their cases depend on imports of TensorFlow, Keras, NumPy and other libraries.
_READERS_OF_IMPORTS = (
    "fit-in-loop half-floatx heavy-batch-callback late-backend-selection missing-mixed-precision model-in-loop "
    "predict-in-loop removed-fit-argument reused-model-benchmark"
).split()
_IMPORT_LINES = re.compile(r"^import [\w. ]+\n(?:import [\w. ]+\n)*", re.M)


def _joined(text, separator):
    """Joins the first import lines of a script to one line, behind an import of another library."""

    def one_line(match):
        lines = match[0].splitlines()
        return separator.join(["import abc", *lines]) + "\n" * len(lines)

    joined = _IMPORT_LINES.sub(one_line, text, count=1)
    return joined if separator == "; " else joined.replace(", import ", ", ")


@pytest.mark.parametrize("separator", [", ", "; "])
@pytest.mark.parametrize(("spec", "case"), [each for each in PARAMETERS if each.values[0].name in _READERS_OF_IMPORTS])
def test_imports_on_one_line_change_no_findings(spec, case, separator, tmp_path):
    for number, program in enumerate(case.programs):
        text = program.files.get("train.py", "")
        if (joined := _joined(text, separator)) != text:
            folder = tmp_path / str(number)
            folder.mkdir()
            changed = replace(program, files={**program.files, "train.py": joined}, said=[], diff=None)
            assert problems(changed, spec.code, folder) == []


LOOP = """\
from tensorflow import keras
model = keras.models.load_model('a.keras')
model.fit(x, y)
for row in load():
    model.predict(row[None])%s
"""
NOTEBOOK = 'python title="a.ipynb"'
IGNORED = '[tool.kerascheck.per-file-ignores]\n"*.py" = ["KC405"]\n'
UNMARKED = "train.py line 5: KC405 is not marked: warning"


def fenced(text, info="python"):
    return f"```{info}\n{text}```\n"


@pytest.mark.parametrize(
    ("text", "mismatches"),
    [
        (fenced(LOOP % "  # KC405"), []),
        (fenced(LOOP % "  # KC405:warning") + "\n> message: …batch…\n> fix: unsafe\n", []),
        (fenced(LOOP % ""), [UNMARKED]),
        (fenced(LOOP % "  # KC405:info"), ["train.py line 5: KC405 as info is missing", UNMARKED]),
        (fenced(LOOP % "  # KC405:pedantic"), ["train.py line 5: KC405 as pedantic is missing", UNMARKED]),
        (fenced(LOOP % "  # KC405 KC405"), ["train.py line 5: KC405 is missing"]),
        (fenced(LOOP % "  # KC405 KC407"), ["train.py line 5: KC407 is missing"]),
        (fenced(LOOP % "  # KC405") + "\n> fix: none\n", ["the fix of line 5 is 'unsafe', not 'none'"]),
        (fenced(LOOP % "  # KC405") + "\n> fix: unsafe\n\n> fix: unsafe\n", ["2 findings are quoted, 1 are found"]),
        (
            fenced(LOOP % "  # KC405") + fenced("-    model.predict(row)\n+    model(row)\n", "diff"),
            ["--fix changes this instead:\n-    model.predict(row[None])\n+    model.predict_on_batch(row[None])"],
        ),
        (fenced("1\n", 'python title="one.py"') + fenced(LOOP % ""), [UNMARKED]),
        (fenced("1\n", 'python title="one.py" linted') + fenced(LOOP % ""), []),
        (fenced(LOOP % "", 'python rules="KC101 KC115"'), []),
        (fenced("1\n# %%\n" + LOOP % "", NOTEBOOK), ["a.ipynb cell 2 line 5: KC405 is not marked: warning"]),
        (fenced("# %%\n1\n# %%\n" + LOOP % "  # KC405", NOTEBOOK), []),
        (fenced(IGNORED, 'toml title="pyproject.toml"') + fenced(LOOP % ""), []),
        (fenced("for\n"), ["train.py: does not parse: invalid syntax"]),
    ],
)
def test_mismatch_with_a_case_is_reported(tmp_path, text, mismatches):
    (tmp_path / "cases.md").write_text(f"# Cases\n\n## One\n\n{text}", encoding="utf-8")
    ((program,),) = [case.programs for case in read_cases(tmp_path / "cases.md")]
    (tmp_path / "program").mkdir()
    assert problems(program, "KC405", tmp_path / "program") == mismatches


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (fenced("1\n") + fenced("2\n"), [["train.py"], ["train.py"]]),
        (fenced("1\n", 'python title="a.py"') + fenced("2\n"), [["a.py", "train.py"]]),
        (fenced("1\n") + fenced("1\n", 'python title="a.py"') + fenced("2\n"), [["train.py"], ["a.py", "train.py"]]),
        (fenced("1\n", 'python title="a.py"') + "\n---\n\n" + fenced("2\n"), [["a.py"], ["train.py"]]),
    ],
)
def test_files_are_grouped_into_programs(tmp_path, text, files):
    (tmp_path / "cases.md").write_text(f"## One\n\nWords.\n\n{text}")
    (case,) = read_cases(tmp_path / "cases.md")
    assert (case.heading, case.line, [list(program.files) for program in case.programs]) == ("One", 1, files)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (fenced("1\n"), 1, "nothing stands before it that it belongs to"),
        ("## One\n\n> fix: none\n", 3, "nothing stands before it that it belongs to"),
        ("## One\n" + fenced("1\n") + "> fixed: none\n", 5, "'> fixed: none' is none of"),
        ("## One\n" + fenced("1\n", 'python title="a.py"') * 2, 5, "write --- between"),
        ("## One\n" + fenced("1\n", "python tittle=a.py"), 2, "says more than title"),
    ],
)
def test_malformed_case_is_rejected_with_its_line(tmp_path, text, line, problem):
    (tmp_path / "cases.md").write_text(text)
    with pytest.raises(ValueError, match=rf"cases\.md:{line}: .*{problem}"):
        read_cases(tmp_path / "cases.md")
