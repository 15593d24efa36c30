"""Tests that measure time run alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from turns import turn

WORKER = """\
import sys, time
from pathlib import Path
from turns import turn
folder, alone = Path(sys.argv[1]), sys.argv[2] == "alone"
for _ in range(int(sys.argv[3])):
    with turn(folder, alone):
        log = folder / "log"
        with log.open("a") as file: file.write("(" if alone else "<")
        time.sleep(0.01)
        with log.open("a") as file: file.write(")" if alone else ">")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_exclusive_test_and_other_tests_wait_for_each_other(tmp_path):
    others = [("shared", "20"), ("shared", "20"), ("alone", "8")]
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, tmp_path, *each], cwd=Path(__file__).parent) for each in others
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    log = (tmp_path / "log").read_text()
    assert log.count("()") == log.count("(") == 8, log
    assert log.count("<") == log.count(">") == 40
    for before in log.split("()"):
        assert before.count("<") == before.count(">"), log


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_process_that_outlives_its_test_holds_no_lock(tmp_path):
    with turn(tmp_path, alone=False):
        left = os.fork()
        if not left:
            signal.pause()
    try:
        waiting = [sys.executable, "-c", WORKER, tmp_path, "alone", "1"]
        assert subprocess.run(waiting, cwd=Path(__file__).parent, timeout=30).returncode == 0
    finally:
        os.kill(left, signal.SIGKILL)
        os.waitpid(left, 0)
