"""The command line, run in this process."""

import contextlib
import io

import pytest

from kerascheck.cli import main


class Ran:
    """What one run of the command line gave."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}\n{self.out}\n{self.err}"


def kerascheck(*arguments, stdin=b""):
    """Run the command line as the installed script does, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
    return Ran(ended.value.code, out.getvalue(), err.getvalue())

