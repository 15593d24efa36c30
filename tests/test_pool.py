"""Worker processes that check files."""

import subprocess
import sys

import pytest

PROGRAM = """
import _thread, threading
from kerascheck.lint.analyze_file import with_large_stack
from kerascheck.lint.workers import can_fork

print(can_fork(), all(with_large_stack(lambda: True) and can_fork() for _ in range(100)))
lock = _thread.allocate_lock()
lock.acquire()
_thread.start_new_thread(lock.acquire, ())
print(threading.active_count(), can_fork())
lock.release()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_process_with_a_native_thread_is_not_forked():
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("True True\n1 False\n", "")
