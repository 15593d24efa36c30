"""Where a piece of code stands."""

import pytest
from snippets import load

from kerascheck.interpreter.place import handles_versions


@pytest.mark.parametrize(
    ("code", "handles"),
    [
        ("try:\n    mark()\nexcept TypeError: pass", True),
        ("def f(): mark()\nif tf.__version__ < '2': f()", True),
        # What goes wrong in the whole of the training is written down.
        ("def f(): mark()\ntry: f()\nexcept Exception as e: log(e)", False),
    ],
)
def test_what_is_written_for_one_version(tmp_path, code, handles):
    (call,) = load(tmp_path, "import tensorflow as tf\nfrom z import mark\n" + code).program.calls("z.mark")
    assert handles_versions(call.scope) is handles
