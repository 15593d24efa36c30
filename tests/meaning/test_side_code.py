"""Branches and functions for debugging and benchmarks."""

import pytest
from snippets import load

from kerascheck.meaning.program.side_code import side_code_around, side_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if args.debug: f()", "if args.debug"),
        ("if DEBUG and fast: f()", "if DEBUG and fast"),
        ("if DEBUG or fast: f()", None),
        ("if not FLAGS.debug: pass\nelse: f()", "else of if not FLAGS.debug"),
        ("if not debug: f()", None),
        ("if debug: pass\nelse: f()", None),
        ("if not (args.fast or not args.debug): f()", "if not (args.fast or not args.debug)"),
        ("if config['debug']: f()", "if config['debug']"),
        ("if os.environ.get('DEBUG_MODE'): f()", "if os.environ.get('DEBUG_MODE')"),
        ("if args.benchmark is True: f()", "if args.benchmark is True"),
        ("if args.benchmark == False: f()", None),
        ("if args.profile != False: f()", "if args.profile != False"),
        ("if mode == 'debug': f()", None),
        ("if debug(): f()", None),
        ("if debug_rate > 3: f()", None),
        ("if args.debugger: f()", None),
        ("def benchmark_input(): f()", "benchmark_input"),
        ("def benchmarks(): f()", None),
        ("def run_benchmark(): f()", "run_benchmark"),
        ("def profiled(): f()", None),
        ("def go(): f()\nif args.debug: go()", "if args.debug"),
        ("def go(): f()\nif args.debug: go()\ngo()", None),
    ],
)  # fmt: skip
def test_side_code(tmp_path, text, expected):
    module = load(tmp_path, f"import os\nimport tensorflow as tf\nfrom x import *\n{text}\n")
    calls = [call for call in module.run.calls if module.tree.code_of(call.node) == "f()"]
    assert side_code_around(module, module.tree, calls[0].node) == expected
    assert (None in map(side_path, (call.path for call in calls))) is (expected is None)
