"""Selection of files, processing of findings, and isolation of errors."""

import faulthandler
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

from kerascheck.catalog import registry
from kerascheck.catalog.rule import Rule
from kerascheck.finding import Applicability, Edit, Fix, Severity
from kerascheck.lint import analyze_file, fixing, limits, pipeline, triage, trigger_search, workers
from kerascheck.lint.analyze_file import Analysis
from kerascheck.lint.session import Session
from kerascheck.project.config import Configuration, Settings, overrides_from
from kerascheck.project.discovery import File, discover
from kerascheck.source import Source


class MarkRule(Rule):
    """Reports every name that ends in _mark; in the imported file if there is an import."""

    code, name, summary, severity, triggers = "KC101", "mark", "a name is marked", Severity.WARNING, ("_mark",)

    def check(self, module):
        yield from self.in_module(module)
        for line in module.text.splitlines():
            if line.startswith("from ") and (other := module.project.find(module, line.split()[1], 0)):
                yield from self.in_module(other, Severity.ERROR)

    def in_module(self, module, severity=None):
        for node in module.tree.parents:
            name = getattr(node, "value", None)
            if isinstance(name, str) and name.endswith("_mark"):
                start, end = module.range_of(node)
                fix = Fix(
                    Applicability.SAFE, "Unmark", (Edit(end - len("_mark"), end, ""),), obligations=("only-comments",)
                )
                place = types.SimpleNamespace(module=module, node=node)
                yield self.finding(place, f"Unmark {name}.", severity=severity, fix=fix, related=[(place, "here")])


class DyingRule(Rule):
    """Performs the action that a word in the file names."""

    code, name, summary, severity = "KC102", "dying", "it dies", Severity.INFO
    triggers = ("raise_it", "die_here", "spin_here", "eat_here", "abort_here", "leave_here")

    def check(self, module):
        if "recurse" in module.text:
            raise RecursionError("maximum recursion depth exceeded")
        if "raise_it" in module.text:
            raise ZeroDivisionError("division\nby zero")
        if "die_here" in module.text:
            os.kill(os.getpid(), signal.SIGKILL)
        while "spin_here" in module.text:
            pass
        if "eat_here" in module.text:
            bytearray(1 << 30)
        if "abort_here" in module.text:
            faulthandler.disable()
            os.abort()
        if "leave_here" in module.text:
            os._exit(3)
        return iter(())


@pytest.fixture(autouse=True)
def fake_rules(monkeypatch, tmp_path):
    specs = []
    for rule in (MarkRule(), DyingRule()):
        spec = registry.RuleSpec(
            tmp_path, rule.code, rule.name, rule.summary, rule.severity, rule.triggers, True, rule.__doc__
        )
        spec.__dict__["rule"] = rule
        specs.append(spec)
    monkeypatch.setattr(registry, "rule_specs", lambda: tuple(specs))
    registry.invalidate()
    yield
    registry.invalidate()


@pytest.fixture
def lint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(files, *arguments, settings=None, **options):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        configuration = Configuration(overrides_from(settings or {}))
        return pipeline.lint(discover(arguments or ["."], configuration).files, configuration, **options)

    return run


def places(outcome):
    return [(f.location.path, f.location.line, f.location.column, f.code) for f in outcome.findings]


def errors(outcome):
    return [(e.location.path, e.location.line, e.code, e.message) for e in outcome.errors]


KERAS = "import keras\n"


def test_findings_are_sorted_and_have_locations(lint):
    outcome = lint({"b.py": KERAS + "y_mark\n(x_mark)\n", "a.py": KERAS + "z = [\n  1, z_mark,\n]\n"})
    assert places(outcome) == [("a.py", 3, 6, "KC101"), ("b.py", 2, 1, "KC101"), ("b.py", 3, 2, "KC101")]
    first = outcome.findings[0]
    assert (first.location.end_line, first.location.end_column, first.statement_lines) == (3, 12, (2, 4))
    assert first.related[0].location == first.location
    assert outcome.files == 2


def test_files_without_keras_or_a_trigger_are_skipped(lint, monkeypatch):
    monkeypatch.setattr(Analysis, "check", lambda self, file: pytest.fail(file.path))
    words = KERAS + '"""About x_mark."""\n# x_mark\n'
    said = "'''As\nimport keras\n'''\nx_mark  # with keras\n"
    notebook = json.dumps(
        {"cells": [{"cell_type": "markdown", "source": "keras"}, {"cell_type": "code", "source": "x_mark  # keras"}]}
    )
    assert (
        lint(
            {"a.py": "x_mark\n", "b.py": KERAS, "only_in_words.py": words, "only_said.py": said, "c.ipynb": notebook}
        ).findings
        == []
    )


def test_trigger_matches_in_a_string_that_is_a_name():
    # As in os.environ["KERAS_BACKEND"].
    assert trigger_search.triggers_in_code('x["x_mark"]') and not trigger_search.triggers_in_code('x["the x_mark"]')


def test_trigger_matches_a_function_name(lint):
    assert places(lint({"a.py": KERAS + "def x_mark(): pass\n"})) == [("a.py", 2, 5, "KC101")]


def test_trigger_of_any_rule_selects_a_file(lint):
    files = {"a.py": KERAS + "from b import x\nraise_it = x\n", "b.py": "x_mark\n"}
    assert places(lint(files, settings={"select": ("mark",)})) == [("b.py", 1, 1, "KC101")]


# --- findings in other files --------------------------------------------------------------------------


def test_cross_file_finding_is_merged_with_the_other_files_findings(lint):
    outcome = lint({"a.py": KERAS + "from b import x\n_mark\n", "b.py": KERAS + "x_mark\n"})
    assert places(outcome) == [("a.py", 3, 1, "KC101"), ("b.py", 2, 1, "KC101")]
    assert [finding.severity for finding in outcome.findings] == [Severity.WARNING, Severity.ERROR]
    assert outcome.checked_from == {"b.py": {"a.py"}}
    assert outcome.sources["b.py"].text == KERAS + "x_mark\n"


def test_cross_file_finding_in_an_unlinted_file_is_dropped(lint):
    files = {"a.py": KERAS + "from b import x\n_mark\n", "b.py": KERAS + "x_mark\n"}
    assert places(lint(files, "a.py")) == [("a.py", 3, 1, "KC101")]


def test_importers_of_a_linted_file_are_analysed(lint, tmp_path):
    (tmp_path / ".git").mkdir()
    files = {
        "scripts/a.py": KERAS + "from pkg.middle import y\n_mark\n",
        "pkg/middle.py": "from .b import x as y\n",
        "pkg/b.py": KERAS + "x_mark\n",
        "other/b.py": KERAS + "x_mark\n",
        "train.py": KERAS + "from pkg.b import x\n_mark\n",
    }
    (finding,) = lint(files, "pkg/b.py").findings
    assert (finding.location.path, finding.severity) == ("pkg/b.py", Severity.ERROR)
    (finding,) = lint(files, "other/b.py").findings
    assert finding.severity is Severity.WARNING
    for jobs in (1, 2):
        session = Session(Configuration(), jobs=jobs)
        for text, line in ((files["pkg/b.py"], 2), (KERAS + "\n\nz_mark\n", 4), (KERAS + "\nz_mark\n", 3)):
            (finding,) = session.lint(Source("pkg/b.py", text)).findings
            assert (finding.severity, finding.location.line) == (Severity.ERROR, line)


@pytest.mark.parametrize("jobs", [1, 2])
def test_session_reports_findings_of_the_text_first(lint, tmp_path, jobs):
    (tmp_path / ".git").mkdir()
    importers = {f"{name}.py": KERAS + "from b import x\n_mark\n" for name in ("a", "c", "d")}
    lint({"b.py": KERAS + "x_mark\n", "alone.py": KERAS + "x_mark\n", **importers})
    session = Session(Configuration(), jobs=jobs)
    text = Source("b.py", KERAS + "\ny_mark\n")
    steps = list(session.steps(text))
    assert [is_whole for _, is_whole in steps] == (4 - jobs) * [False] + [True]
    severities = [[finding.severity for finding in outcome.findings] for outcome, _ in steps]
    assert severities == [[Severity.WARNING]] + (4 - jobs) * [[Severity.ERROR]]
    assert steps[-1][0].findings == session.lint(text).findings
    # With the import graph known and no importers, the first step is complete.
    assert [is_whole for _, is_whole in session.steps(Source("alone.py", KERAS + "x_mark\n"))] == [True]


@pytest.mark.parametrize(
    ("play", "severity"),
    [("for i in range(9):\n    x()\n", Severity.ERROR), ("x()\n", Severity.ERROR), ("y = x\n", Severity.WARNING)],
)
def test_importer_without_keras_is_analysed(lint, play, severity):
    files = {"play.py": "from b import x\n_mark\n" + play, "b.py": KERAS + "x_mark\n"}
    for names in ((), ("b.py",)):
        finding = next(finding for finding in lint(files, *names).findings if finding.location.path == "b.py")
        assert finding.severity is severity


def test_settings_of_the_file_with_the_finding_apply(lint):
    files = {
        "a.py": KERAS + "from pkg.b import x\n_mark\n",
        "pkg/b.py": KERAS + "x_mark\n",
        "pkg/__init__.py": "",
        "pkg/pyproject.toml": '[tool.kerascheck]\nignore = ["mark"]\n',
    }
    assert places(lint(files)) == [("a.py", 3, 1, "KC101")]


def test_file_with_two_names_is_linted_once(lint, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files = {"real/a.py": KERAS + "from b import x\n_mark\n", "real/b.py": KERAS + "x_mark\n"}
    outcome = lint(files, "link")
    assert [(path, line) for path, line, *_ in places(outcome)] == [("link/a.py", 3), ("link/b.py", 2)]
    assert outcome.findings[1].severity is Severity.ERROR


# --- suppressed and filtered findings ------------------------------------------------------------------


def test_comment_suppresses_on_its_line_and_at_both_ends_of_the_statement(lint):
    outcome = lint(
        {
            "a.py": KERAS
            + """\
x_mark  # noqa: KC101
f(  # kerascheck: ignore[mark]
  x_mark,
)
f(
  x_mark,
)  # noqa
f(
  # noqa
  x_mark,
)
"""
        }
    )
    assert [line for _, line, *_ in places(outcome)] == [11]


def test_min_severity_per_file_ignores_and_selection_filter_findings(lint):
    files = {"a.py": KERAS + "x_mark\n", "examples/a.py": KERAS + "x_mark\n"}
    assert len(lint(files).findings) == 2
    assert lint(files, settings={"min_severity": "error"}).findings == []
    assert lint(files, settings={"ignore": ("KC1",)}).findings == []
    files["pyproject.toml"] = '[tool.kerascheck.per-file-ignores]\n"examples/" = ["mark"]\n'
    assert places(lint(files)) == [("a.py", 2, 1, "KC101")]


# --- files that cannot be analysed --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("def f(:\n  pass\n", 1, "does not parse: invalid syntax"),
        ("x = 1\nx = 'open\n", 2, "does not parse: unterminated string literal (detected at line 2)"),
        (
            'x = "C:\\Users"\n',
            1,
            "does not parse: (unicode error) 'unicodeescape' codec can't decode bytes in position 2-3: truncated \\UXXXXXXXX escape",
        ),
        ('x = b"\\x1"\n', 1, "does not parse: (value error) invalid \\x escape at position 0"),
        ("if x:\ny\n", 2, "does not parse: expected an indented block after 'if' statement on line 1"),
        ("import os\nprint 'x'\n", 2, "Python 2 code"),
        ("raise ValueError, 'x'\n", 1, "Python 2 code"),
        ("x = 0777\n", 1, "Python 2 code"),
        (b"# nothing\nx = '\xff'\n", 2, "is not valid utf-8 (byte 0xff)"),
    ],
)
def test_unparsable_file_is_one_error_and_others_are_linted(lint, text, line, message):
    outcome = lint({"bad.py": text, "good.py": KERAS + "x_mark\n"})
    assert places(outcome) == [("good.py", 2, 1, "KC101")]
    ((path, at, code, said),) = errors(outcome)
    assert (path, at, code) == ("bad.py", line, "KC999")
    assert said.startswith(message) and "\n" not in said


def test_syntax_that_only_libcst_accepts_is_no_error(lint, monkeypatch):
    monkeypatch.setattr(triage, "is_refused", lambda code: True)
    assert errors(lint({"a.py": "x = 1\n"})) == []


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfimport keras\r\nx_mark\r\n",
        b"import keras\rx_mark\r",
        b"import keras\n\x0c\nx_mark\n",
        b"# coding: latin-1\nimport keras; '\xe9'; x_mark\n",
        b"import keras\nx_mark",
        b"import keras\nif 1:\n\tx_mark\n",
    ],
)
def test_encodings_and_newlines_keep_locations(lint, text):
    outcome = lint({"a.py": text})
    (finding,) = outcome.findings
    source = outcome.sources["a.py"]
    line = source.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[finding.location.line - 1]
    assert line[finding.location.column - 1 :].startswith("x_mark")
    assert errors(outcome) == []


def test_unparsable_cell_is_one_error_and_others_are_linted(lint):
    cells = ["import keras\n", "!ls\nfor x in:\n  y", "x_mark", "print 'x'", "%%bash\n(", "x_mark = ("]
    notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": source} for source in cells]}
    outcome = lint({"n.ipynb": json.dumps(notebook)})
    assert [(f.location.cell, f.location.line) for f in outcome.findings] == [(2, 1)]
    assert [(e.location.cell, e.location.line, e.message[:13]) for e in outcome.errors] == [
        (1, 2, "does not pars"), (3, 1, "Python 2 code"), (5, 1, "does not pars"),
    ]  # fmt: skip


ALIVE = ["x_mark"]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("x = 'it's'", "unterminated string literal"),
        ('x = """open', "unterminated triple-quoted string literal"),
        ("x = f(1,\n", "'(' was never closed"),
        ("x = 1)", "unmatched ')'"),
        ("x = 1 + \\", "unexpected EOF"),
        ("def f():", "expected an indented block"),
        ("@decorator", "invalid syntax"),
        ("else:\n    x", "invalid syntax"),
        ("if x:\n\ty\n        z", "inconsistent use of tabs"),
        ("    x = (", "'(' was never closed"),
        ("print 'x'", "Python 2 code"),
        ("print x", "Python 2 code"),
        ("y = `x`", "Python 2 code"),
        ("if x <> y:\n    pass", "Python 2 code"),
        ("Use `SELECT` and `FROM` here.", "does not parse"),
        ("`SELECT` を使う", "does not parse"),
        ("return 1", "'return' outside function"),
        ("break", "'break' outside loop"),
        ("x = '\\N{nothing}'", "(unicode error)"),
        ("x = " + "(" * 300 + ")" * 300, "could not be analysed: it is nested too deeply"),
        ("<<<<<<< HEAD", "invalid syntax"),
        ("This isn't code", "unterminated string literal"),
    ],
)
def test_broken_cell_at_any_position_affects_only_itself(lint, broken, message):
    cells = [
        ["import keras\n", broken, *ALIVE, *ALIVE],
        ["import keras\n", *ALIVE, *ALIVE, broken],
        [broken, "import keras\n", *ALIVE, *ALIVE],
    ]
    for number, sources in enumerate(cells):
        notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": source} for source in sources]}
        outcome = lint({"n.ipynb": json.dumps(notebook)})
        alive = [number for number, source in enumerate(sources) if source in ALIVE]
        assert [finding.location.cell for finding in outcome.findings] == alive
        ((cell, found_message),) = [(error.location.cell, error.message) for error in outcome.errors]
        assert cell == sources.index(broken) and message in found_message
        # Reports can still show the broken cell.
        assert broken in outcome.sources["n.ipynb"].text


@pytest.mark.parametrize(
    "cell",
    [
        "%%writefile a.py\nx = (", "%%html\n<b>it's</b>", "%%bash\necho 'x", "%%unknown it's\nx = (", "%%time\nx = 1", "%%script false\nx = (", "  ", "# (",
        "?x", "x?", "x.y??", "!ls \\\n  -l '", "!echo (", "files = !ls '", "if x:\n    !ls {x}\nelse:\n    %cd y", "%time f(x)", "%run a.py it's", ",f a b", "/f a",
        "await f()", "async for x in y:\n    z", "async with x:\n    y", "    x = 1\n    y = 2", "x = 1\ry = 2", "\ufeffx = 1", "x = '\ud83d'", "x = '\0'", "\x0cx = 1",
        "pip install x", "%matplotlib inline",
    ],
)  # fmt: skip
def test_ipython_syntax_is_no_error(lint, cell):
    notebook = {
        "nbformat": 4,
        "cells": [{"cell_type": "code", "source": source} for source in ("import keras\n", cell, "x_mark")],
    }
    outcome = lint({"n.ipynb": json.dumps(notebook)})
    assert errors(outcome) == [] and [finding.location.cell for finding in outcome.findings] == [2]


@pytest.mark.parametrize(
    ("first", "last"), [("x = f(1,", "2)"), ("x = '''", "'''"), ("x = [", "]"), ("x = 1 + \\", "2")]
)
def test_cells_that_parse_only_together_are_errors(lint, first, last):
    sources = ["import keras", first, "x_mark", last]
    notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": source} for source in sources]}
    outcome = lint({"n.ipynb": json.dumps(notebook)})
    assert [finding.location.cell for finding in outcome.findings] == [2]
    assert [error.location.cell for error in outcome.errors] == ([1, 3] if last != "2" else [1])


def test_failing_rule_is_one_error_and_others_run(lint):
    outcome = lint({"a.py": KERAS + "raise_it\nx_mark\n", "b.py": KERAS + "x_mark\n"})
    assert len(outcome.findings) == 2
    ((path, _, code, message),) = errors(outcome)
    assert (path, code) == ("a.py", "KC998")
    assert message.startswith("rule KC102 (dying) failed: ZeroDivisionError: division by zero (test_engine.py:")
    assert "please report" in message


def test_recursion_limit_is_not_reported_as_a_rule_failure(lint):
    outcome = lint({"a.py": KERAS + "x_mark = 'recurse', die_here\n"})
    assert errors(outcome) == [("a.py", 1, "KC999", "could not be analysed: it is nested too deeply")]
    assert len(outcome.findings) == 1


def deep(kind, depth=7000):
    return {
        "sum": "x = " + "+".join(["1"] * depth) + "\n",
        "brackets": "x = " + "(" * depth + "1" + ")" * depth + "\n",
        "calls": "x = a" + ".b()" * depth + "\n",
        "branches": "if x:\n pass\n" + "elif x:\n pass\n" * depth,
    }[kind]


@pytest.mark.parametrize("kind", ["sum", "brackets", "calls", "branches"])
def test_deeply_nested_code_does_not_end_the_run(lint, kind):
    outcome = lint({"deep.py": KERAS + deep(kind) + "x_mark\n", "a.py": KERAS + "x_mark\n"})
    assert ("a.py", 2, 1, "KC101") in places(outcome)
    messages = [message for _, _, code, message in errors(outcome) if code == "KC999"]
    assert len(outcome.findings) == 2 or messages[0].startswith("could not be analysed: ")


LONG = {
    "numbers": "table = [" + ", ".join(map(str, range(200_000))) + "]\n",
    "rows": "table = [" + ",\n".join(f"[{i}, '{i}']" for i in range(20_000)) + "]\n",
    "pieces": "text = (" + "\n".join(["'piece'"] * 5000) + ")\n",
    "pieces in a line": "text = " + " ".join(["'piece'"] * 5000) + "\n",
}


@pytest.mark.parametrize("kind", LONG)
def test_long_literals_are_fast_and_keep_locations(lint, kind):
    text = KERAS + LONG[kind] + "f(x_mark)\n"
    notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": text}]}
    outcome = lint({"a.py": text, "n.ipynb": json.dumps(notebook), "b.py": KERAS + "from a import table\n_mark\n"})
    assert errors(outcome) == []
    line = text.count("\n")
    assert places(outcome) == [("a.py", line, 3, "KC101"), ("b.py", 3, 1, "KC101"), ("n.ipynb", line, 3, "KC101")]
    # Code that was left out of parsing cannot be rewritten.
    assert outcome.sources["a.py"].text == text
    assert [finding.fix is None for finding in outcome.findings] == [True, False, True]


# --- processes ----------------------------------------------------------------------------------------

bounded = pytest.mark.skipif(not workers.can_fork(), reason="needs fork and resource limits")


@bounded
@pytest.mark.parametrize("number", [0, 25])
@pytest.mark.parametrize(
    ("act", "code", "message"),
    [
        ("spin_here", "KC999", "it takes more than 2 s and 1 s per 1,000 lines"),
        ("eat_here", "KC999", "it takes more than 450 MB of memory"),
        ("abort_here", "KC999", "it takes more than 450 MB of memory"),
        ("leave_here", "KC998", "the process that analysed it failed"),
    ],
)
def test_expensive_file_is_abandoned_and_others_are_linted(lint, monkeypatch, number, act, code, message):
    monkeypatch.setattr(limits, "SECONDS", 0.2)
    outcome = lint(
        many(number, **{"a.py": KERAS + "x_mark\n", "bad.py": KERAS + f"x_mark\n{act}\n", "c.py": KERAS + "x_mark\n"}),
        jobs=2,
    )
    ((path, line, found_code, text),) = errors(outcome)
    assert (path, line, found_code) == ("bad.py", 1, code) and message in text
    assert {"a.py", "c.py"} <= {path for path, *_ in places(outcome)}
    assert len(outcome.findings) >= 2 + sum(range(1, number + 1))


@bounded
@pytest.mark.parametrize("jobs", [1, 2])
def test_expensive_text_is_abandoned_and_the_next_is_linted(lint, monkeypatch, jobs):
    monkeypatch.setattr(limits, "SECONDS", 0.2)
    session = Session(Configuration(), jobs=jobs)
    for _ in range(2):
        assert "it takes more than 2 s" in errors(session.lint(Source("a.py", KERAS + "spin_here\n")))[0][3]
        assert places(session.lint(Source("a.py", KERAS + "x_mark\n"))) == [("a.py", 2, 1, "KC101")]


@bounded
def test_imported_lines_count_towards_the_limit(lint, monkeypatch):
    texts = []
    monkeypatch.setattr(limits.Limits, "extend", lambda self, text, share=1.0: texts.append(text))
    files = {"a.py": KERAS + "from b import x\n_mark\n", "b.py": "x_mark\n"}
    analysis = analyze_file.Analysis(limits=limits.Limits())
    lint(files)
    for _ in range(2):
        texts.clear()
        analysis.check(File("a.py", Settings()))
        assert texts == [files["a.py"], files["b.py"]]


def many(number, **special):
    files = {f"d{i % 5}/m{i:02}.py": KERAS + "x_mark\n" * (i + 1) for i in range(number)}
    return {**files, **special}


def test_workers_give_the_same_result_as_one_process(lint, monkeypatch):
    files = many(30, **{"d1/bad.py": "import keras; x_mark = ("})
    alone, together = lint(files, jobs=1), lint(files, jobs=3)
    monkeypatch.setattr(triage, "_SPREAD_FROM", 10)
    spread = lint(files, jobs=3)
    assert len(alone.findings) == sum(range(1, 31))
    for other in (together, spread):
        assert (other.findings, other.errors, other.sources) == (alone.findings, alone.errors, alone.sources)


@bounded
def test_file_is_checked_again_after_its_worker_dies(lint, monkeypatch):
    files, parent, classify = many(30), os.getpid(), triage._classify
    alone = lint(files, jobs=1)
    monkeypatch.setattr(
        triage,
        "_classify",
        lambda path: os._exit(3) if os.getpid() != parent and "m07" in path else classify(path),
    )
    together = lint(files, jobs=3)
    assert together.findings == alone.findings and len(alone.findings) == sum(range(1, 31))


def test_file_that_kills_its_worker_affects_only_itself(lint):
    files = many(30, **{"d1/m50.py": KERAS + "die_here\n", "d1/m51.py": KERAS + "x_mark\ndie_here\n"})
    seen = []
    outcome = lint(files, jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert len(outcome.findings) == sum(range(1, 31))
    assert errors(outcome) == [
        (f"d1/m{number}.py", 1, "KC999", "could not be analysed: the parser ran out of stack or memory on it")
        for number in (50, 51)
    ]
    assert seen[-1] == (32, 32)


def test_workers_can_be_spawned(tmp_path):
    for i in range(22):
        (tmp_path / f"m{i}.py").write_text("import keras\nmodel.predict(x)\nprint('x'\n")
    code = f"""
        import multiprocessing, sys
        if __name__ == "__main__":
            sys.platform = "elsewhere"
            from kerascheck.cli.main import main
            main(["--isolated", "--output-format", "concise", {str(tmp_path)!r}])
    """
    script = tmp_path / "run_it.py"
    script.write_text(textwrap.dedent(code))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout.count("KC999 does not parse") == 22, done.stderr
    assert done.returncode == 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 always looks into the working folder first")
def test_spawned_workers_import_nothing_from_the_working_folder(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    for name in ("types", "multiprocessing", "pickle", "keras"):
        (work / f"{name}.py").write_text(
            f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\nraise SystemExit(3)\n"
        )
    for name in ("a", "b", "c"):
        (work / f"{name}.py").write_text("import keras\nprint('x'\n")
    code = """
        import sys
        from kerascheck.lint import pipeline, triage
        from kerascheck.cli.main import main
        if __name__ == "__main__":
            sys.platform = "elsewhere"
            triage._SPREAD_FROM, pipeline._LIGHT_BYTES, pipeline.processors = 2, 0, lambda: 2
            main(["--isolated", "--output-format", "concise", "."])
    """
    script = tmp_path / "run_it.py"
    script.write_text(textwrap.dedent(code))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, script], cwd=work, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.count("KC999 does not parse") == 3, (done.stdout, done.stderr)
    assert not (tmp_path / "imported").exists()


def test_folder_deleted_during_the_run_is_one_error(lint, tmp_path):
    lint({"kept/a.py": KERAS + "x_mark\n", "gone/deep/b.py": KERAS, "gone/c.py": KERAS, "gone/d.ipynb": "{}"})
    files = discover(["."], Configuration()).files
    shutil.rmtree(tmp_path / "gone")
    outcome = pipeline.lint(files, Configuration())
    assert places(outcome) == [("kept/a.py", 2, 1, "KC101")]
    assert errors(outcome) == [("gone", 1, "KC999", "vanished while it was linted")]


def test_file_deleted_during_the_run_is_one_error(lint, tmp_path):
    lint({"a.py": KERAS, "b.py": KERAS + "x_mark\n"})
    files = discover(["."], Configuration()).files
    (tmp_path / "a.py").unlink()
    outcome = pipeline.lint(files, Configuration())
    assert places(outcome) == [("b.py", 2, 1, "KC101")]
    assert errors(outcome) == [("a.py", 1, "KC999", "cannot be read: No such file or directory")]


def test_comment_with_very_many_codes_suppresses_and_is_reported(tmp_path):
    """Runs in a separate process: a quadratic algorithm took minutes."""
    codes = ",".join(f"X{number}" for number in range(200_000))
    code = f"from tensorflow import keras\nm = keras.models.load_model('a')\nfor x in xs:\n    m.predict(x)  # noqa: KC306,{codes},KC405\n"
    (tmp_path / "a.py").write_text(code)
    (tmp_path / "b.py").write_text(f"# kerascheck: ignore-file[KC405,{codes}]\n" + code.partition("  #")[0] + "\n")
    ran = subprocess.run(
        [sys.executable, "-m", "kerascheck", ".", "--output-format", "concise", "-q", "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=100,
    )
    ending = "codes: which of them silence nothing is not looked for"
    assert ran.stdout.splitlines() == [
        f"a.py:4:19: error: KC999 this comment has 200002 {ending}",
        f"b.py:1:1: error: KC999 this comment has 200001 {ending}",
    ]
    assert ran.returncode == 2


# --- one text -----------------------------------------------------------------------------------------


def test_given_text_replaces_the_file_on_disk(lint, tmp_path):
    lint({"a.py": KERAS, "b.py": KERAS + "x_mark\n"})
    source = Source("a.py", KERAS + "from b import x\ny_mark\n")
    assert places(Session(Configuration()).lint(source)) == [("a.py", 3, 1, "KC101")]


def test_fix_handles_findings_caused_by_another_file(lint):
    outcome = lint({"a.py": KERAS + "from b import x\n_mark\n", "b.py": "# tensorflow\nx_mark\ny_mark  # noqa\n"})
    fixed = fixing.fix(outcome.sources["b.py"], File("b.py", Settings()), outcome, unsafe=False)
    assert fixed.text == "# tensorflow\nx\ny_mark  # noqa\n"
    assert (len(fixed.applied), fixed.remaining) == (1, [])


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="the parser of Python 3.10 reads it, which 3.10 then cannot compile"
)
def test_deeply_nested_text_is_rejected_before_parsing():
    outcome = Session(Configuration()).lint(Source("a.py", KERAS + deep("sum", 20_000) + "x_mark\n"))
    assert errors(outcome) == [("a.py", 1, "KC999", "could not be analysed: it is nested too deeply")]
