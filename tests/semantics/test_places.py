"""Where a piece of code stands."""

import pytest
from snippets import load

from kerascheck.semantics.places import handles_versions, happens_before, is_expected_to_raise, is_guarded


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("first()\nsecond()", True),
        ("second()\nfirst()", False),
        ("if a:\n    first()\nsecond()", False),
        ("if a:\n    first()\n    second()", True),
        ("if a:\n    first()\nelse:\n    second()", False),
        ("first()\nif a:\n    second()", True),
        ("with first() as x:\n    second()", True),
        ("try:\n    first()\nexcept E:\n    second()", True),
        ("try:\n    pass\nexcept E:\n    first()\nsecond()", False),
        ("def f(): second()\nfirst()\nf()", True),
        ("def f(): first()\nf()\nsecond()", True),
        ("def f(): first()\nsecond()\nf()", False),
        ("def f(): first()\nif a: f()\nsecond()", False),
        ("first()\ndef f(): second()", True),
        ("def f(): first()\ndef g(): second()", False),
        ("def f(): first()\nsecond()", False),
        ("def f(x=first()): pass\nsecond()", True),
        ("class A:\n    x = first()\nsecond()", True),
        ("f = lambda: first()\nf()\nsecond()", True),
        ("x = first() if a else 0\nsecond()", False),
        ("if __name__ == '__main__':\n    first()\nsecond()", True),
        ("def main():\n    if a:\n        first()\n        return\n    second()\nmain()", False),
        ("import multiprocessing as mp\ndef f(): second()\nfirst()\nmp.Process(target=f).start()", False),
        ("import multiprocessing as mp\ndef f():\n    first()\n    second()\nmp.Process(target=f).start()", True),
        ("import threading\ndef f(): second()\nfirst()\nthreading.Thread(target=f).start()", True),
    ],
)
def test_what_has_certainly_run(tmp_path, text, before):
    text = text.replace("first()", "tf.random.uniform([])").replace("second()", "tf.random.normal([])")
    program = load(tmp_path, f"import tensorflow as tf\n{text}\n").program
    (first,), (second,) = program.calls("tensorflow.random.uniform"), program.calls("tensorflow.random.normal")
    assert happens_before(first, second) is before
    assert not happens_before(second, first) or not before


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("tf.print(1)", False),
        ("if a: tf.print(1)", True),
        ("a and tf.print(1)", False),
        ("tf.print(1) if a else 0", True),
        ("if __name__ == '__main__': tf.print(1)", False),
        ("def f(): tf.print(1)\nif a: f()", True),
        ("def f(debug=False):\n    if debug: tf.print(1)\nf(load())", True),
        ("def f(debug=False):\n    if debug: tf.print(1)\nf(True)", False),
        ("try: pass\nexcept E: tf.print(1)", True),
        ("match a:\n    case 1: tf.print(1)", True),
        ("for i in load(): tf.print(1)", False),
        ("with a: tf.print(1)", False),
    ],
)
def test_places_under_a_condition(tmp_path, text, guarded):
    (call,) = load(tmp_path, f"import tensorflow as tf\n{text}\n").program.calls("tensorflow.print")
    assert is_guarded(call.scope) is guarded


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


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("try:\n    mark()\nexcept ValueError: pass", True),
        # The program around it, as in try: app.run(main).
        ("def main(): mark()\ntry: main()\nexcept SystemExit: pass", False),
        ("mark()", False),
    ],
)
def test_what_is_expected_to_raise(tmp_path, code, expected):
    (call,) = load(tmp_path, "from z import mark\n" + code).program.calls("z.mark")
    assert is_expected_to_raise(call.scope) is expected
