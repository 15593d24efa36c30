"""The command line, run in this process."""

import contextlib
import inspect
import io

import pytest
from click.testing import CliRunner

from kerascheck.cli.main import main


class Ran:
    """The result of one run of the command line."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}\n{self.out}\n{self.err}"


def kerascheck(*arguments, stdin=b""):
    """Run the command line as the installed script does, in this process."""

    def run():
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        return ended.value.code

    return in_this_process(run, stdin)


def in_this_process(run, stdin=b""):
    """The exit code and output of ``run``, a function without parameters that returns an exit code."""
    # Streams of bytes, because some output is bytes, and newlines must stay unchanged.
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run()
    return Ran(code, *map(_written, (out, err)))


def _written(stream):
    stream.flush()
    return stream.buffer.getvalue().decode(errors="surrogateescape")


def click_runner() -> CliRunner:
    """A runner of click with separate stderr, which click before 8.2 provides only on request."""
    apart = "mix_stderr" in inspect.signature(CliRunner).parameters
    return CliRunner(mix_stderr=False) if apart else CliRunner()
