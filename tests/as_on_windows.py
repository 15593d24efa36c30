"""Runs kerascheck without the parts of Python that Windows lacks: ``python tests/as_on_windows.py ARGUMENTS``.

Python's library and the dependencies keep those that they imported before. Paths and the file system stay those of this
machine; the workflow tests.yml runs on Windows itself.
"""

import asyncio  # noqa: F401
import multiprocessing.pool
import multiprocessing.popen_spawn_posix  # noqa: F401
import os
import platform  # noqa: F401
import signal
import sys

import click.shell_completion  # noqa: F401
import libcst.metadata  # noqa: F401
import pathspec  # noqa: F401

_OF_OS = (
    "fork killpg setsid getuid geteuid getgid getpgid setpgid sysconf sched_getaffinity wait3 wait4 mkfifo getloadavg"
)
# subprocess itself needs SIGKILL here.
_OF_SIGNAL = (
    "SIGALRM SIGHUP SIGUSR1 SIGUSR2 SIGXCPU SIGVTALRM SIGPROF SIGQUIT SIGTSTP SIGCHLD SIGPIPE SIGCONT setitimer alarm"
)

if __name__ == "__main__":
    if "server" in sys.argv:
        import pygls.lsp.server  # noqa: F401
    for module, names in ((os, _OF_OS), (signal, _OF_SIGNAL)):
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for name in ("resource", "fcntl", "pwd", "grp", "termios"):
        sys.modules[name] = None
    sys.platform = "win32"
    from kerascheck.cli.main import main

    main(sys.argv[1:])
