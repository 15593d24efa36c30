"""Findings as text, one line each, and JSON."""

import json
from dataclasses import replace

import pytest

from kerascheck.finding import Applicability, Edit, Evidence, FileError, Finding, Fix, Location, Related, Severity
from kerascheck.report import common, concise, overview, text
from kerascheck.report import json as json_report
from kerascheck.report.report import Report
from kerascheck.source import Cell, Source


def plain(text, **colours):
    return text


CODE = "\nif x:\n\tds = ds.map(\n\t\tf)\n"
SCRIPT = Source("a.py", CODE)
START = CODE.index("ds.map")
FIX = Fix(
    Applicability.SAFE, "Add the argument", (Edit(CODE.index(")"), CODE.index(")"), ", 1"), Edit(0, 0, "import x\n"))
)


def finding(**changes):
    given = {
        "code": "KC101",
        "name": "serial-map",
        "severity": Severity.WARNING,
        "location": SCRIPT.locate(START, CODE.index(")") + 1),
        "message": "This map is serial; write more.",
        "because": "It draws random numbers.",
        "fix": FIX,
        "related": (Related(Location("b.py", None, 7, 2, 7, 4), "this draws"),),
    }
    return Finding(**{**given, **changes})


def show(*findings, errors=(), sources=None, width=100):
    return "\n".join(text.render(list(findings), list(errors), sources or {"a.py": SCRIPT}, plain, width=width))


def test_text_shows_code_cause_and_fix():
    assert (
        show(finding())
        == """\
a.py:3:7  warning  KC101 serial-map
  This map is serial; write more.
2 | if x:
3 |     ds = ds.map(
  |          ^^^^^^^
  = because: It draws random numbers.
  = see: b.py:7:2: this draws
  = fix: Add the argument [--fix]
"""
    )


def test_carets_align_with_wide_characters_and_control_characters_are_removed():
    code = "x = '日本\x1b'; f(é)\n"
    source = Source("a.py", code)
    location = source.locate(code.index("f("), code.index(")") + 1)
    lines = show(finding(location=location, because=None, fix=None, related=()), sources={"a.py": source}).splitlines()
    assert lines[2:] == ["1 | x = '日本 '; f(é)", "  |              ^^^^"]


def test_text_shows_the_lines_of_a_cell():
    code = "a = 1\nb = 2\n"
    source = Source("n.ipynb", code, cells=(Cell(0, 0, 6), Cell(4, 6, 12)))
    shown = show(finding(location=source.locate(6, 7)), sources={"n.ipynb": source})
    assert shown.startswith("n.ipynb:cell 5:1:1  warning  KC101 serial-map  (b = 2)\n")
    assert "1 | b = 2\n  | ^\n" in shown
    assert "fix: Add the argument [--fix]" in shown


@pytest.mark.parametrize(("width", "used"), [(100, 100), (80, 80), (400, 120), (7, 40)])
def test_text_is_wrapped_to_the_terminal(width, used):
    lines = show(finding(because="word " * 80, message="wird " * 80), width=width).splitlines()
    at = lines.index(next(line for line in lines if "because" in line))
    assert lines[at + 1].startswith(" " * len("  = because: ") + "word")
    assert lines[1].startswith("  wird wird") and lines[2].startswith("  wird wird")
    assert used - 5 < max(map(len, lines)) <= used


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import tensorflow as tf\nimport numpy as np\n", "import tensorflow as tf ..."),
        ("\n  \npass\n# Load   the data\n", "# Load the data"),
        ("\n" + "x" * 50, "x" * 30 + " ..."),
        ("model.compile(optimizer='adam', loss='mse')", "model.compile(optimizer='adam' ..."),
        ("a\x1bb", "a b"),
        ("pass\n", None),
    ],
)
def test_cell_is_identified_by_its_first_words(code, words):
    source = Source("n.ipynb", "b\n" + code, cells=(Cell(0, 0, 2), Cell(4, 2, 2 + len(code))))
    head = show(finding(location=source.locate(2, 3)), sources={"n.ipynb": source}).splitlines()[0]
    assert head == "n.ipynb:cell 5:1:1  warning  KC101 serial-map" + (f"  ({words})" if words else "")


def test_first_words_of_a_cell_that_do_not_fit_are_on_the_next_line():
    source = Source("n.ipynb", "model = keras.Sequential()\nx\n", cells=(Cell(4, 0, 29),))
    lines = show(finding(location=source.locate(0, 5)), sources={"n.ipynb": source}, width=60).splitlines()
    assert lines[:2] == ["n.ipynb:cell 5:1:1  warning  KC101 serial-map", "  (model = keras.Sequential() ...)"]


def test_heading_of_a_cell_with_a_long_path_takes_two_lines():
    path = "notebooks/" + "long_" * 8 + "name.ipynb"
    source = Source(path, "model = keras.Sequential()\nx\n", cells=(Cell(4, 0, 29),))
    lines = show(finding(location=source.locate(0, 5)), sources={path: source}, width=80).splitlines()
    assert lines[:2] == [f"{path}:cell 5:1:1", "  warning  KC101 serial-map  (model = keras.Sequential() ...)"]
    script = Source(path.replace("ipynb", "py"), "x\n")
    assert show(finding(location=script.locate(0, 1)), sources={script.path: script}, width=60).startswith(
        f"{script.path}:1:1  warning  KC101 serial-map\n"
    )


def test_consecutive_equal_findings_are_shown_once():
    other = {"location": Location("a.py", None, 4, 3, 4, 4)}
    shown = show(finding(), finding(**other), finding(location=Location("a.py", None, 5, 1, 5, 1)))
    assert shown.count("serial-map") == 1 and shown.endswith(
        "  = fix: Add the argument [--fix]\n  = also: lines 4, 5\n"
    )
    for changed in (
        {"message": "No."},
        {"because": None},
        {"severity": Severity.ERROR},
        {"fix": None},
        {"code": "KC102"},
    ):
        assert "also" not in show(finding(), finding(**other, **changed))
    assert (
        show(finding(), finding(**other, code="KC102"), finding(location=Location("a.py", None, 5, 1, 5, 1))).count(
            "serial-map"
        )
        == 3
    )


def test_locations_in_the_same_file_show_only_the_line():
    related = tuple(Related(Location(path, None, 7, 2, 7, 4), "this draws") for path in ("a.py", "b.py"))
    shown = show(finding(related=related))
    assert "see: line 7: this draws" in shown and "see: b.py:7:2: this draws" in shown
    elsewhere = Related(Location("a.py", 4, 7, 2, 7, 4), "this draws")
    assert "see: cell 5, line 7: this draws" in show(finding(related=(elsewhere,)))


def frame(line, marked, width=60):
    source = Source("a.py", f"first = 1\n{line}\n")
    start = source.text.index(marked)
    shown = show(
        finding(location=source.locate(start, start + len(marked))), sources={"a.py": source}, width=width
    ).splitlines()
    return shown[2 : shown.index("  = because: It draws random numbers.")]


def test_long_line_is_cropped_around_the_marked_range():
    code, carets = frame("x = [" + "0, " * 200_000 + "bad_call(1), " + "1, " * 200_000 + "]", "bad_call(1)")
    assert max(map(len, (code, carets))) <= 60
    assert code.startswith("2 | ...") and code.endswith("...")
    assert code[carets.index("^") : carets.rindex("^") + 1] == "bad_call(1)"


def test_line_is_cropped_only_on_the_right_if_the_marked_range_fits():
    *_, code, carets = frame("ds = ds.map(f)" + ".batch(2)" * 20, "ds.map(f)")
    assert code.startswith("2 | ds = ds.map(f).batch(2)") and code.endswith("...") and len(code) <= 60
    assert carets == "  |      ^^^^^^^^^"
    *_, code, carets = frame("x = " + "call(" + "1, " * 99 + ")", "call(" + "1, " * 99 + ")")
    assert code.startswith("2 | x = call(1, 1,") and carets.startswith("  |     ^^^^")
    assert frame("x" * 46 + "(y, z)", "(y, z)")[-2] == "2 | " + "x" * 46 + "(y, z)"


def test_long_marked_range_is_cropped():
    *_, code, carets = frame("y = " + "a" * 90 + "f(" + "b" * 300 + ")", "f(" + "b" * 300 + ")")
    assert code[carets.index("^") :].startswith("f(bbb") and max(len(code), len(carets)) <= 60


def test_carets_align_with_wide_characters_and_tabs_of_a_cropped_line():
    *_, code, carets = frame("x = '" + "\u65e5" * 100 + "'; \tcall(1); " + "y = 1; " * 50, "call(1)")
    shown = code.replace("\u65e5", "\u65e5\0")
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "call(1)"
    assert len(shown) <= 60


def test_errors_are_sorted_among_the_findings():
    error = FileError("KC999", Location("a.py", None, 1, 2, 1, 2), "does not parse")
    lines = list(concise.render([finding()], [error], {}))
    assert lines == [
        "a.py:1:2: error: KC999 does not parse",
        "a.py:3:7: warning: KC101 This map is serial; write more.",
    ]
    assert show(finding(), errors=[error]).startswith("a.py:1:2: KC999 does not parse\n\na.py:3:7  warning")


def test_json_has_every_field_and_locates_the_edits():
    error = FileError("KC999", Location("b.py", None, 1, 2, 1, 2), "does not parse")
    document = json.loads(json_report.render(Report([finding()], [error], {"a.py": SCRIPT}, 3)))
    assert document == {
        "version": 1,
        "findings": [
            {
                "path": "a.py", "cell": None, "cell_number": None, "line": 3, "column": 7, "end_line": 4, "end_column": 5,
                "code": "KC101", "name": "serial-map", "url": None, "severity": "warning", "pedantic": False,
                "message": "This map is serial; write more.", "because": "It draws random numbers.",
                "related": [
                    {"path": "b.py", "cell": None, "cell_number": None, "line": 7, "column": 2, "end_line": 7, "end_column": 4,
                     "message": "this draws"},
                ],
                "fix": {
                    "applicability": "safe",
                    "message": "Add the argument",
                    "unproven": [],
                    "withheld": None,
                    "edits": [
                        {"line": 1, "column": 1, "end_line": 1, "end_column": 1, "content": "import x\n"},
                        {"line": 4, "column": 4, "end_line": 4, "end_column": 4, "content": ", 1"},
                    ],
                },
                "evidence": None,
            },
        ],
        "repaired": [],
        "tallied": [],
        "errors": [{"path": "b.py", "cell": None, "cell_number": None, "line": 1, "column": 2, "code": "KC999", "message": "does not parse"}],
        "summary": {
            "files": 3, "findings": 1, "error": 0, "warning": 1, "info": 0, "fixable": 1, "errors": 1,
            "not_reported": {"in_baseline": 0, "on_unchanged_lines": 0}, "gone_from_baseline": 0,
            "rules": {"KC101": 1},
        },
    }  # fmt: skip


def test_missing_values_are_null_in_json():
    (found,) = json.loads(json_report.render(Report([finding(fix=None, because=None)], [], {"a.py": SCRIPT}, 1)))[
        "findings"
    ]
    assert (found["fix"], found["because"]) == (None, None)


def test_json_edits_of_a_notebook_include_their_cell():
    source = Source("n.ipynb", "a = 1\nb = 2\n", cells=(Cell(0, 0, 6), Cell(4, 6, 12)))
    fix = Fix(Applicability.UNSAFE, "Do", (Edit(8, 9, "x"), Edit(0, 0, "y")))
    found = finding(location=source.locate(6, 7), fix=fix)
    (entry,) = json.loads(json_report.render(Report([found], [], {"n.ipynb": source}, 1)))["findings"]
    assert (entry["cell"], entry["cell_number"], entry["line"]) == (4, 5, 1)
    edits = [(edit["cell"], edit["cell_number"], edit["line"], edit["column"]) for edit in entry["fix"]["edits"]]
    assert edits == [(0, 1, 1, 1), (4, 5, 1, 3)]


def test_summary_has_counts():
    unsafe = finding(severity=Severity.INFO, fix=Fix(Applicability.UNSAFE, "Do", FIX.edits))
    assert common.summary([], [], 2) == "No problems found in 2 files."
    assert common.summary([finding()], [], 1) == "Found 1 problem (1 warning) in 1 file; 1 fixable with --fix."
    assert common.summary(
        [finding(), finding(fix=None, severity=Severity.ERROR), unsafe], [FileError("", None, "")], 2
    ) == (
        "Found 3 problems (1 error, 1 warning, 1 hint) in 2 files; 1 fixable with --fix; 1 more with --fix --unsafe-fixes. 1 file error."
    )
    assert common.summary([unsafe], [], 1) == "Found 1 problem (1 hint) in 1 file; 1 fixable with --fix --unsafe-fixes."
    assert common.summary([finding(), unsafe], [], 1, unsafe=True).endswith("; 2 fixable with --fix --unsafe-fixes.")


def test_fixes_on_request_name_their_option_and_are_not_counted():
    asked = finding(fix=Fix(Applicability.ON_REQUEST, "Do", FIX.edits))
    assert (
        common.summary([asked], [], 1)
        == common.summary([asked], [], 1, unsafe=True)
        == "Found 1 problem (1 warning) in 1 file."
    )
    assert "fix: Do [--select KC101 --fix]\n" in show(asked)
    assert common.statistics([asked], {}).splitlines()[1].split()[:2] == ["1", "0"]
    document = json.loads(json_report.render(Report([asked], [], {"a.py": SCRIPT}, 1)))
    assert (document["summary"]["fixable"], document["findings"][0]["fix"]["applicability"]) == (0, "on request")


def test_summary_after_fixing_counts_fixed_and_remaining_findings():
    assert common.summary([], [], 2, fixed=3) == "Found 3 problems (3 fixed, 0 remaining) in 2 files."
    assert (
        common.summary([finding(fix=None)] * 2, [], 2, fixed=3)
        == "Found 5 problems (3 fixed, 2 remaining: 2 warnings) in 2 files."
    )


def test_statistics_count_findings_and_time_per_rule():
    other = finding(code="KC102", name="missing-prefetch", fix=None)
    shown = common.statistics([finding(), other, other], {"KC101": 0.5, "KC102": 0.25, "KC103": 0.125})
    assert [line.split() for line in shown.splitlines()] == [
        ["count", "fixable", "ms", "rule"],
        ["2", "0", "250.0", "KC102", "missing-prefetch"],
        ["1", "1", "500.0", "KC101", "serial-map"],
        ["0", "0", "125.0", "all", "other", "rules"],
    ]


# --- evidence -----------------------------------------------------------------------------------------

CONFIRMED = Evidence(
    "confirmed", "steps are 1.84 times faster", 1.84, 1.79, 1.9, "2026-11-21", {"tensorflow": "2.21.0"}
)


def test_evidence_is_shown_with_its_finding():
    measured, other = finding(), finding(code="KC102")
    shown = "\n".join(text.render([measured, other], [], {"a.py": SCRIPT}, plain, {measured: CONFIRMED}))
    assert shown.count("  = measured: confirmed here: x1.84 [1.79-1.90], 2026-11-21\n") == 1
    lines = list(concise.render([measured, other], [], {"a.py": SCRIPT}, {measured: CONFIRMED}))
    assert [line.endswith(" (confirmed here: x1.84 [1.79-1.90], 2026-11-21)") for line in lines] == [True, False]
    found = json.loads(json_report.render(Report([measured, other], [], {"a.py": SCRIPT}, 1, {measured: CONFIRMED})))[
        "findings"
    ]
    assert found[0]["evidence"] == {
        "status": "confirmed", "reason": "steps are 1.84 times faster", "ratio": 1.84, "low": 1.79, "high": 1.9,
        "date": "2026-11-21", "versions": {"tensorflow": "2.21.0"}, "outdated": None,
    }  # fmt: skip
    assert found[1]["evidence"] is None


def test_unconfirmed_effect_is_not_called_absent():
    assert str(replace(CONFIRMED, status="no effect", low=0.99, ratio=1.0, high=1.02)).startswith(
        "no effect here: x1.00"
    )


# --- the overview below the findings ------------------------------------------------------------------

SUMMARIES = {"KC101": "map runs one call at a time", "KC411": "batch size is small for this model"}


def info(code="KC411", path="a.py", line=1, cell=None, **changes):
    place = Location(path, cell, line, 1, line, 2)
    return finding(
        **{
            "code": code,
            "name": "n",
            "severity": Severity.INFO,
            "location": place,
            "fix": None,
            "related": (),
            **changes,
        }
    )


def test_hints_have_one_entry_per_rule_with_the_first_locations():
    several = [info(line=line) for line in (7, 3, 12)] + [info(path="n.ipynb", cell=4)]
    assert list(overview.hints([info("KC101", "b.py", 8), *several], SUMMARIES, plain, 100)) == [
        "5 hints (info), by rule. All in full: --min-severity info; one rule: --select KC411.",
        "  4  KC411  batch size is small for this model: a.py:3, 7, 12, ...",
        "  1  KC101  map runs one call at a time: b.py:8",
        "",
    ]
    assert list(overview.hints([], SUMMARIES, plain, 100)) == []
    speed_first = list(overview.hints([info("KC101", "b.py", 8), *several], SUMMARIES, plain, 100, last={"KC411"}))
    assert [line.split()[1] for line in speed_first[1:3]] == ["KC101", "KC411"] and "--select KC101" in speed_first[0]


def test_hints_are_wrapped_between_locations():
    several = [info(path="some/folder/notebook.ipynb", cell=number, line=2) for number in range(12)]
    *_, first, second, third, _ = overview.hints(several, SUMMARIES, plain, 48)
    assert (first, second, third) == (
        "  12  KC411  batch size is small for this model:",
        "             some/folder/notebook.ipynb:cell 1:2,",
        "             cell 2:2, cell 3:2, ...",
    )


def test_locally_confirmed_info_is_shown_in_full():
    hint = info()
    assert overview.is_hint(hint, {}) and overview.is_hint(hint, {hint: replace(CONFIRMED, status="no effect")})
    assert not overview.is_hint(hint, {hint: CONFIRMED}) and not overview.is_hint(finding(), {})


def started(*findings, gains=None):
    return list(overview.start(overview.by_urgency(list(findings), gains or {}), SUMMARIES, plain, 100))


def test_many_findings_are_followed_by_where_to_start():
    warnings = [info(code, severity=Severity.WARNING) for code in ("KC101", "KC102", "KC103", "KC101")]
    error = info("KC900", line=9, severity=Severity.ERROR)
    assert started(*warnings[:3]) == []
    assert started(*warnings, gains={"KC103": 2.0, "KC102": 1.5}) == [
        "Start with the rules whose examples gained most when fixed:",
        "  warning  KC103  n: a.py:1",
        "  warning  KC102  n: a.py:1",
        "  warning  KC101  map runs one call at a time: a.py:1 and 1 other place",
        "",
    ]
    assert started(*warnings, error)[:2] == [
        "Start with the errors, then with the rules whose examples gained most when fixed:",
        "  error    KC900  n: a.py:9",
    ]


SAFE, UNSAFE, NONE = finding(), finding(fix=replace(FIX, applicability=Applicability.UNSAFE)), finding(fix=None)


@pytest.mark.parametrize(
    ("findings", "arguments", "fixing", "command"),
    [
        ([SAFE, UNSAFE], ["my folder"], False, "kerascheck 'my folder' --diff    (what --fix would change)"),
        ([UNSAFE], ["a.py"], False, "kerascheck a.py --diff --unsafe-fixes    (what all fixes would change)"),
        (
            [UNSAFE],
            ["--unsafe-fixes", "a.py"],
            False,
            "kerascheck --unsafe-fixes a.py --diff    (what all fixes would change)",
        ),
        ([SAFE], ["a" * 99], False, "the same command with --diff    (what --fix would change)"),
        ([SAFE], ["--fix", "a.py"], True, "kerascheck rule KC101    (what serial-map costs, and what to write)"),
        ([SAFE], ["-"], False, "kerascheck rule KC101    (what serial-map costs, and what to write)"),
        ([NONE], ["."], False, "kerascheck rule KC101    (what serial-map costs, and what to write)"),
        (
            [NONE],
            ["--rules", "a b", ".", "--rules=c"],
            False,
            "kerascheck rule KC101 --rules 'a b' --rules=c    (what serial-map costs, and what to write)",
        ),
        ([info()], ["."], False, "kerascheck . --min-severity info    (the hints in full)"),
        ([info()], ["-"], False, None),
        ([], ["."], False, None),
    ],
)
def test_most_useful_next_command_is_named(findings, arguments, fixing, command):
    rules = overview.by_urgency([each for each in findings if each.severity > Severity.INFO], {})
    given = overview.next_command(findings, rules, arguments, 100, fixing=fixing)
    assert given == (command and f"Next: {command}")
    if command:
        assert (
            overview.next_command(findings, rules, arguments, 40, fixing=fixing)
            == f"Next: {command.partition('    ')[0]}"
        )
