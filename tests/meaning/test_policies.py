"""Dtype policies at a call."""

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.program.policies import policy_at


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("tf.keras.mixed_precision.set_global_policy('mixed_float16')", "mixed_float16"),
        ("keras.mixed_precision.set_global_policy(keras.mixed_precision.Policy('mixed_bfloat16'))", "mixed_bfloat16"),
        ("keras.config.set_dtype_policy(policy='mixed_float16')", "mixed_float16"),
        ("def prepare(): keras.mixed_precision.set_global_policy('mixed_float16')\nprepare()", "mixed_float16"),
        ("if half: keras.mixed_precision.set_global_policy('mixed_float16')", None),
        (
            "keras.mixed_precision.set_global_policy('mixed_float16')\nkeras.mixed_precision.set_global_policy(name)",
            None,
        ),
        (
            "keras.mixed_precision.set_global_policy('mixed_float16')\nkeras.mixed_precision.set_global_policy('float32')",
            "float32",
        ),
        ("keras.mixed_precision.set_global_policy('mixed_float16')\nkeras.backend.clear_session()", None),
        ("", None),
    ],
)
def test_the_active_policy(tmp_path, before, expected):
    module = load(tmp_path, f"{IMPORTS}{before}\nkeras.layers.Dense(3)\n")
    (layer,) = module.program.calls("keras.layers.Dense")
    assert policy_at(module, layer) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{policy}\ndef build(): return keras.layers.Dense(3)", "mixed_float16"),
        ("def build(): return keras.layers.Dense(3)\n{policy}\nbuild()", "mixed_float16"),
        ("def build(): return keras.layers.Dense(3)\n{policy}", None),
    ],
)
def test_an_uncalled_function_may_run_before_the_policy(tmp_path, text, expected):
    module = load(tmp_path, IMPORTS + text.format(policy="keras.config.set_dtype_policy('mixed_float16')"))
    (layer,) = module.program.calls("keras.layers.Dense")
    assert policy_at(module, layer) == expected
