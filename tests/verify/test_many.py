"""``verify`` on a list of scripts that end before they train, or are "measured" by a stand-in."""

import json
import sys
import threading

import click
import pytest
from command import click_runner
from verify.stand_ins import invoke, with_slurm, with_ssh
from verify.test_remote import git, needs_submitit

from kerascheck.cli.verify import verify
from kerascheck.runtime.verify import many

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a list of three entries, one of which is not a script; the working directory is another folder."""
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "a.py").write_text("import os, sys\nopen('log', 'a').write('a')\nsys.exit(' '.join(sys.argv[1:]))\n")
    (folder / "b.py").write_text("open('log', 'a').write('b')\nraise ValueError('no')\n")
    (folder / "many.txt").write_text("# all of them\na.py --epochs 3\nmissing.py\n\nb.py  # last\na.py  --epochs 3\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return folder


def rows(folder):
    return [json.loads(line) for line in (folder / "many.results.jsonl").read_text().splitlines()]


def test_every_script_has_a_row_and_none_stops_the_others(folder):
    result = invoke(str(folder / "many.txt"))
    assert result.return_value == 2
    first, second, third, summary = result.stdout.splitlines()
    assert first.startswith(
        "a.py --epochs 3  not run: the script called sys.exit() with '--epochs 3' before any training step"
    )
    assert second.startswith("missing.py       not run: ") and "No such file" in second
    assert third.startswith("b.py             not run: the script raised ValueError: no at line 2")
    assert summary == "3 scripts: 3 not measured"
    # They ran in the folder of the list.
    assert (folder / "log").read_text() == "ab"


def test_unfinished_rows_are_resumed(folder):
    def ran():
        (folder / "log").unlink(missing_ok=True)
        invoke(str(folder / "many.txt"))
        return (folder / "log").read_text()

    assert ran() == "ab" and ran() == "ab"
    # Existing rows stay, and the newest row counts.
    assert [row["script"] for row in rows(folder)].count("a.py --epochs 3") == 2
    # A line that a crash cut off is harmless.
    with (folder / "many.results.jsonl").open("a") as stream:
        stream.write('{"version": 1, "scr')
    assert ran() == "ab"
    assert json.loads((folder / "many.results.jsonl").read_text().splitlines()[-1])["script"] == "b.py"


class Measured:
    """A verification that has completed or failed."""

    def __init__(self, **how):
        self._row = verification("no effect", **how)["verification"]

    def as_dict(self):
        return self._row


def test_measured_scripts_are_not_run_again_until_they_change(folder):
    path = str(folder / "many.txt")
    line = many.read_list(path)[0]
    many.Rows(path).add(line, "here", Measured(failure="the script raised"))
    assert not many.Rows(path).is_finished(line, "here")
    many.Rows(path).add(line, "here", Measured())
    assert many.Rows(path).is_finished(line, "here") and not many.Rows(path).is_finished(line, "there")
    (folder / "a.py").write_text((folder / "a.py").read_text() + "# changed\n")
    assert not many.Rows(path).is_finished(many.read_list(path)[0], "here")


def test_json(folder):
    table = json.loads(invoke(str(folder / "many.txt"), "--output-format", "json").stdout)
    assert [row["script"] for row in table["rows"]] == ["a.py --epochs 3", "missing.py", "b.py"]
    assert "ValueError" in table["rows"][2]["verification"]["failure"]


@pytest.mark.parametrize(
    "text, options, words",
    [
        ("", (), "names no script"),
        ("# nothing\n", (), "names no script"),
        ("a.py 'x\n", (), "many.txt:1: No closing quotation"),
        ("a.py\n", ("--", "--epochs", "3"), "arguments of the scripts of a list stand in its lines"),
        ("a.py\n", ("--output-format", "html"), "no HTML report"),
        ("a.py\n", ("--jobs", "2"), "--jobs is for slurm and ray"),
        ("a.py\n", ("--jobs", "2", "--on", "ssh://gpu1"), "--jobs is for slurm and ray"),
    ],
)
def test_usage(folder, text, options, words):
    (folder / "many.txt").write_text(text)
    with pytest.raises(click.ClickException, match=words.replace("(", r"\(")):
        invoke(str(folder / "many.txt"), *options)
    assert not (folder / "log").exists()


def verification(status, value=1.0, failure=None, waits=0.25):
    ratio = None if status is None else {"value": value, "low": value - 0.1, "high": value + 0.1}
    verdicts = [] if status is None else [{"status": status, "name": f"KC101 {status}", "ratio": ratio}]
    verdicts.append({"status": "not run", "name": "KC102", "ratio": None})
    return {
        "verification": {
            "failure": failure,
            "verdicts": verdicts,
            "trainings": [{"input_bound": waits}, {"input_bound": None}],
            "seconds": 61.2,
        },
        "problem": None,
    }


@pytest.mark.parametrize(
    "row, text, code",
    [
        (verification("confirmed", 1.8), "confirmed x1.80 [1.70-1.90]  KC101 confirmed  waits for data 25%  61 s", 1),
        (verification("no effect", 1.0), "no effect x1.00 [0.90-1.10]  KC101 no effect  waits for data 25%  61 s", 0),
        (verification(None, waits=None), "nothing to compare  61 s", 0),
        (verification(None, failure="the script\nraised"), "not run: the script raised", 2),
        ({"verification": None, "problem": "ssh cannot reach gpu1"}, "not run: ssh cannot reach gpu1", 2),
        (None, "not run yet", 2),
    ],
)
def test_rows_for_display(row, text, code):
    line = many.Line("a.py", "/a.py", ())
    assert next(many.table([line], [row])) == f"a.py  {text}"
    assert many.exit_code([row]) == code


def test_the_last_line_counts_the_rows_by_kind():
    kinds = [
        verification("confirmed", 1.8),
        verification("no effect"),
        verification("inconclusive"),
        verification("inconclusive"),
        None,
    ]
    lines = [many.Line(f"{index}.py", "/a.py", ()) for index in range(len(kinds))]
    *_, last = many.table(lines, kinds)
    without_fix = verification(None)
    without_fix["verification"]["observations"] = [{"code": "KC107"}]
    *_, alone = many.table(lines[:1], [without_fix])
    assert alone == "1 script: 1 without a fix to measure"
    assert last == "5 scripts: 1 with something to win, 2 inconclusive, 1 with nothing to win, 1 not measured"


def test_parallel_jobs_are_stopped_together():
    lines = [many.Line(name, f"/{name}", ()) for name in "abc"]
    stopped, running = [], threading.Barrier(3)

    def job(stop):
        running.wait(10)
        stopped.append(stop.wait(10))
        raise ValueError

    def fails(stop):
        running.wait(10)
        return "done"

    def interrupted(line, result, problem):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        many.measure_all({lines[0]: job, lines[1]: fails, lines[2]: job}, interrupted, 3)
    assert stopped == [True, True]


# On other machines ------------------------------------------------------------------------------------------------


def test_a_list_on_another_machine_prompts_once_and_resumes(folder, tmp_path, monkeypatch):
    log = with_ssh(tmp_path, monkeypatch)
    git(tmp_path, "init", "-q", str(folder))
    refused = click_runner().invoke(verify, [str(folder / "many.txt"), "--on", "ssh://gpu1"], standalone_mode=False)
    assert (
        isinstance(refused.exception, click.ClickException) and "--yes" in str(refused.exception) and not log.exists()
    )
    result = invoke(str(folder / "many.txt"), "--on", "ssh://gpu1", "--python", sys.executable, "--yes")
    assert result.stderr.count("UPLOADS") == 1 and "python a.py --epochs 3; python b.py" in result.stderr
    assert "sys.exit() with '--epochs 3'" in result.stdout and "ValueError: no at line 2" in result.stdout
    assert not (folder / "log").exists()
    assert {row["on"] for row in rows(folder)} == {"ssh://gpu1"}
    again = invoke(str(folder / "many.txt"), "--on", "ssh://gpu1", "--python", sys.executable, "--yes")
    assert again.stderr.count("UPLOADS") == 1 and "0 of 3 scripts are done" in again.stderr


def test_an_unreachable_machine_leaves_its_rows_unfinished(folder, tmp_path, monkeypatch):
    with_ssh(tmp_path, monkeypatch)
    run = (str(folder / "many.txt"), "--on", "ssh://nowhere", "--yes")
    assert "ssh cannot reach nowhere" in invoke(*run).stdout
    assert "0 of 3 scripts are done" in invoke(*run).stderr


@needs_submitit
def test_a_list_on_slurm_runs_several_jobs_in_parallel(folder, tmp_path, monkeypatch):
    with_slurm(tmp_path, monkeypatch)
    result = invoke(str(folder / "many.txt"), "--on", "slurm:gpu", "--jobs", "2", "--yes")
    assert "sys.exit() with '--epochs 3'" in result.stdout and "ValueError: no at line 2" in result.stdout
