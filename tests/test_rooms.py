"""Every rule against its own room: rules/<family>/<slug>/{rule,slow,fast,quiet}.py.

Expectations stand in the scripts, on the line where the finding is: ``# KC101``, with
``# KC101:info`` where the severity matters, and the code repeated for several findings
on one line. A slow.py that is meant to fail says so in its first line: ``# raises: ValueError``.
"""

import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest
from command import kerascheck

from kerascheck.explain import sections
from kerascheck.registry import rooms

EXPECTED = re.compile(r"[ \t]*# *(KC\d{3}(?::\w+)?(?: +KC\d{3}(?::\w+)?)*)[ \t]*$", re.MULTILINE)
RAISES = re.compile(r"\A# raises: (\w+)\n")
HEADINGS = [
    "What it does",
    "Why it costs",
    "What the runtime does by itself",
    "Use instead",
    "Fix safety",
    "References",
]
ROOMS = rooms()

every_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)


def findings(room, path):
    ran = kerascheck("--isolated", "--select", room.code, "--output-format", "json", path)
    assert ran.code in (0, 1), ran
    report = json.loads(ran.out)
    return [finding for finding in report["findings"] if finding["code"] == room.code]


def expectations(room, text):
    """Line and severity (None: any) of every finding of the room's rule that the script is marked with."""
    expected = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := EXPECTED.search(line):
            for mark in match[1].split():
                code, _, severity = mark.partition(":")
                if code == room.code:
                    expected.append((number, severity or None))
    return expected


def unmarked(text):
    return RAISES.sub("", EXPECTED.sub("", text))


def describe(problems):
    return "\n".join(f"  line {line}: {what}" for line, what in sorted(problems))


def test_there_are_rooms():
    assert ROOMS


@every_room
def test_a_room_is_complete(room):
    assert {path.name for path in room.folder.iterdir() if path.suffix == ".py"} >= {"slow.py", "fast.py", "quiet.py"}


@every_room
def test_documentation_has_every_section(room):
    written = sections(room)
    assert [heading for heading in written if heading in HEADINGS] == HEADINGS
    assert all(written[heading] for heading in HEADINGS)


@every_room
def test_slow_has_exactly_the_marked_findings(room):
    text = (room.folder / "slow.py").read_text(encoding="utf-8")
    expected = expectations(room, text)
    assert expected, "slow.py marks no finding"
    problems = []
    unexplained = [(finding["line"], finding["severity"]) for finding in findings(room, room.folder / "slow.py")]
    for line, severity in expected:
        found = next((each for each in unexplained if each[0] == line and severity in (None, each[1])), None)
        if found is None:
            problems.append((line, f"missing{f' as {severity}' if severity else ''}"))
        else:
            unexplained.remove(found)
    problems += [(line, f"not marked: {severity}") for line, severity in unexplained]
    assert not problems, "\n" + describe(problems)


SILENT = [
    pytest.param(room, script, id=f"{room.name}-{script.name}")
    for room in ROOMS
    for script in sorted([room.folder / "fast.py", *room.folder.glob("quiet*.py")])
]


@pytest.mark.parametrize(("room", "script"), SILENT)
def test_the_repaired_and_the_similar_are_silent(room, script):
    noisy = [(finding["line"], finding["message"]) for finding in findings(room, script)]
    assert not noisy, "\n" + describe(noisy)


@every_room
def test_fixing_slow_gives_fast_and_fixing_again_changes_nothing(room, tmp_path):
    slow = unmarked((room.folder / "slow.py").read_bytes().decode())
    fast = unmarked((room.folder / "fast.py").read_bytes().decode())
    script = tmp_path / "slow.py"
    script.write_bytes(slow.encode())
    by_hand = sum(finding["fix"] is None for finding in findings(room, script))
    fixed = fix(room, script)
    if by_hand:
        # fast.py then holds what a person wrote: only that the rest stays can be checked.
        assert re.search(r"\bno (?:automatic )?fix\b", sections(room)["Fix safety"], re.IGNORECASE), (
            "a rule with findings that it does not fix says in 'Fix safety' that there is no fix, and why"
        )
        assert len(findings(room, script)) == by_hand
    else:
        assert fixed.splitlines() == fast.splitlines()
        assert fixed == fast
    assert fix(room, script) == fixed


def fix(room, script):
    kerascheck("--isolated", "--select", room.code, "--fix", "--unsafe-fixes", script)
    return script.read_bytes().decode()


# --- running them ------------------------------------------------------------------------------------


def run_script(path):
    environment = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run([sys.executable, str(path)], env=environment, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def runs(request):
    """Starts every script that a selected test needs, two at a time: each spends most of its time importing TensorFlow."""
    with ThreadPoolExecutor(2) as pool:
        wanted = [item.callspec.params["room"] for item in request.session.items if item.originalname == RUN_TEST]
        futures = {
            path: pool.submit(run_script, path)
            for room in wanted
            for path in (room.folder / "slow.py", room.folder / "fast.py")
        }
        yield futures
        for future in futures.values():
            future.cancel()


RUN_TEST = "test_slow_and_fast_run_and_agree"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs TensorFlow: pip install kerascheck[verify]")
@every_room
def test_slow_and_fast_run_and_agree(room, runs):
    slow, fast = (runs[room.folder / name].result() for name in ("slow.py", "fast.py"))
    assert fast.returncode == 0, fast.stderr
    fast_loss = last_loss(fast.stdout)
    raises = RAISES.match((room.folder / "slow.py").read_text(encoding="utf-8"))
    if raises:
        assert slow.returncode != 0, "slow.py was meant to fail"
        assert raises[1] in slow.stderr, slow.stderr
        return
    assert slow.returncode == 0, slow.stderr
    slow_loss = last_loss(slow.stdout)
    tolerance = room.rule.loss_tolerance
    if tolerance is not None:
        assert math.isclose(slow_loss, fast_loss, rel_tol=tolerance), (slow_loss, fast_loss)


def last_loss(output):
    lines = output.strip().splitlines()
    match = re.fullmatch(r"loss: (\S+)", lines[-1]) if lines else None
    assert match, f"the last line is not 'loss: <number>':\n{output}"
    loss = float(match[1])
    assert math.isfinite(loss)
    return loss
