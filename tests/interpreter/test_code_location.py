"""Context of a piece of code."""

import pytest
from snippets import IMPORTS, load, written

from kerascheck.interpreter.code_location import (
    construction_of,
    expects_one,
    handles_versions,
    in_session,
    is_left_unused,
    is_off_by_default,
    place_in_module,
    receiver_text,
    takes_parameter,
)
from kerascheck.interpreter.values import UNKNOWN

HEAD = IMPORTS + "from z import flag, gpus, mark\n"


def mark(folder, files, head=HEAD):
    """The module, and the call of ``mark`` in the program."""
    module = load(folder, files, head)
    (call,) = module.program.calls("z.mark")
    return module, call


@pytest.mark.parametrize(
    ("code", "handles"),
    [
        ("try:\n    mark()\nexcept TypeError: pass", True),
        ("def f(): mark()\nif tf.__version__ < '2': f()", True),
        ("if tf.__version__ < '2': mark()", True),
        ("if flag: mark()", False),
        # The handler logs errors of the whole training.
        ("def f(): mark()\ntry: f()\nexcept Exception as e: log(e)", False),
    ],
)
def test_code_for_one_version(tmp_path, code, handles):
    assert handles_versions(mark(tmp_path, code)[1].path) is handles


@pytest.mark.parametrize(
    ("script", "place"),
    [
        ("import helper\nhelper.go()", "helper.go()"),
        ("import helper\ndef f(): helper.go()\nf()", "helper.go()"),
        ("from z import mark\nmark()", "mark()"),
    ],
)
def test_a_call_in_another_module_is_located_at_the_call_from_the_script(tmp_path, script, place):
    files = {"train.py": script + "\n", "helper.py": "from z import mark\ndef go(): inner()\ndef inner(): mark()\n"}
    module, call = mark(tmp_path, files)
    found = place_in_module(module, call)
    assert found.module is module and written(module, found.node) == place


def test_a_call_made_by_an_import_is_located_at_itself(tmp_path):
    files = {
        "train.py": "import helper\n",
        "helper.py": "import os\nfrom z import mark\nos.environ['A'] = '1'\nmark()\n",
    }
    module, call = mark(tmp_path, files)
    assert place_in_module(module, call).module is call.module is not module


@pytest.mark.parametrize(
    ("text", "place", "name"),
    [
        ("class A:\n    def __init__(self): mark()\nA()", "A()", "A"),
        ("class A:\n    def __init__(self): mark()\nclass B:\n    def __init__(self): self.a = A()\nB()", "B()", "B"),
        ("class A:\n    def __init__(self): mark()\ndef f(): return A()\nf()", "A()", "A"),
        ("class A:\n    def go(self): mark()\nA().go()", "mark()", None),
        ("mark()", "mark()", None),
    ],
)
def test_a_call_in_a_constructor_is_located_at_the_construction(tmp_path, text, place, name):
    module, call = mark(tmp_path, text)
    found, cls = construction_of(call)
    assert (written(module, found.node), cls.name if cls else None) == (place, name)


@pytest.mark.parametrize(
    ("line", "unused"),
    [
        ("mark()", True),
        ("[mark()]", True),
        ("a = mark()", True),
        ("a = [mark()]", True),
        ("a = mark()\nprint(a)", False),
        ("a = mark()\ndel a", False),
        ("print(mark())", False),
        ("a.b = mark()", False),
        ("mark().run()", False),
    ],
)
def test_a_result_without_a_read_name_is_unused(tmp_path, line, unused):
    assert is_left_unused(mark(tmp_path, line)[1]) is unused


@pytest.mark.parametrize(
    ("condition", "one"),
    [
        ("if len(gpus) == 1: mark()", True),
        ("if len(gpus) == 2: mark()", False),
        ("if len(gpus) > 1: mark()", False),
        ("if len(gpus) == 1: pass\nelse: mark()", False),
        ("if gpus: mark()", False),
        ("def f(): mark()\nif len(gpus) == 1: f()", True),
    ],
)
def test_code_for_one_device(tmp_path, condition, one):
    assert expects_one(mark(tmp_path, condition)[1].path) is one


@pytest.mark.parametrize(
    ("text", "session"),
    [
        ("with tf.compat.v1.Session() as s: mark()", True),
        ("def f(): mark()\nwith tf.compat.v1.Session(): f()", True),
        ("with tf.device('cpu'): mark()", False),
        ("mark()", False),
    ],
)
def test_code_in_a_session(tmp_path, text, session):
    assert in_session(mark(tmp_path, text)[1].path) is session


@pytest.mark.parametrize(
    ("parameters", "takes"),
    [("a", True), ("b", False), ("b, /, a", True), ("b, *, a", True), ("b, **c", True), ("a, /", True), ("*a", False)],
)
def test_a_function_takes_named_and_collected_parameters(tmp_path, parameters, takes):
    _, call = mark(tmp_path, f"def f({parameters}): pass\nmark(f)")
    assert takes_parameter(call.first, "a") is takes


def test_an_unknown_function_may_take_every_parameter():
    assert takes_parameter(UNKNOWN, "a") and takes_parameter(None, "a")


@pytest.mark.parametrize(
    ("text", "off"),
    [
        ("def f(debug=False):\n    if debug: mark()\nf(flag)", True),
        ("def f(debug=None):\n    if debug: mark()\nf(flag)", True),
        ("def f(*, debug=False):\n    if debug: mark()\nf(debug=flag)", True),
        ("def f(debug=True):\n    if debug: mark()\nf(flag)", False),
        ("def f(debug):\n    if debug: mark()\nf(flag)", False),
        ("def f(debug=False):\n    if debug: pass\n    else: mark()\nf(flag)", False),
        ("def f(other=False, debug=flag):\n    if debug: mark()\nf(flag)", False),
        ("if flag: mark()", False),
    ],
)
def test_code_switched_off_by_a_parameter_default(tmp_path, text, off):
    assert is_off_by_default(mark(tmp_path, text)[1]) is off


@pytest.mark.parametrize(
    ("assigned", "off"),
    [
        ("self.debug = False", True),
        ("self.debug = None", True),
        ("self.debug = debug", True),
        ("self.debug: bool = False", True),
        ("self.debug = True", False),
        ("self.debug = other", False),
        ("self.debug = False\n        self.debug = True", False),
        ("self.debug = False\n        self.debug += 1", False),
        ("self.other = False", False),
    ],
)
def test_code_switched_off_by_an_attribute(tmp_path, assigned, off):
    init = f"    def __init__(self, other, debug=False):\n        {assigned}\n"
    text = f"class C:\n{init}    def go(self):\n        if self.debug: mark()\nC(flag, flag).go()"
    assert is_off_by_default(mark(tmp_path, text)[1]) is off


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("self.Model.fit(1)", "model self"),
        ("model.fit(1)", "model"),
        ("nets[0].model.fit(1)", "model"),
        ("fit(1)", ""),
        ("build().fit(1)", ""),
    ],
)
def test_the_text_of_a_receiver_is_its_dotted_name(tmp_path, line, text):
    assert receiver_text(load(tmp_path, f"{line}\n", HEAD).run.calls[-1]) == text
