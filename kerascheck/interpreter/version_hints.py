"""Version hints: code that shows for which versions a module is written."""

from __future__ import annotations

import re

from kerascheck.interpreter.module import GRAPH_SWITCH, Module
from kerascheck.interpreter.target import VersionHints
from kerascheck.knowledge.import_patterns import IMPORTS, TOP_LEVEL_IMPORTS

# Arguments and modules that Keras 2 removed. Their users need Keras 1, or a Keras 2 package that still translates them.
_MAY_BE_OF_KERAS_1 = re.compile(
    r"nb_epoch|samples_per_epoch|nb_val_samples|border_mode|visualize_util|inner_init|\b(?:Dense|GRU|LSTM)\([^()\n=]*,\s*\d"
)
_OF_KERAS_1 = re.compile(
    r"\.fit(?:_generator)?\((?:[^()]|\([^()]*\))*?[(,\s](?:nb_epoch|samples_per_epoch|nb_val_samples)\s*="
    r"|\b(?:Convolution|Conv|MaxPooling|AveragePooling)\w*\((?:[^()]|\([^()]*\))*?[(,\s]border_mode\s*="
    r"|\bkeras\.utils\.visualize_util\b|[(,\s]inner_init\s*=\s*[\"']"
    # Before 0.1 the sizes of input and output came first.
    r"|\b(?:Dense|GRU|LSTM)\(\s*[^(),=]+,\s*\d+\s*[,)]"
)
_BACKEND = re.compile(r"""KERAS_BACKEND["']\]?\s*[=,:]\s*["'](tensorflow|jax|torch)["']""")
# Backends removed after Keras 2.3, the last version with several before version 3. Indented lines may be one branch of
# several.
_BACKEND_OF_2 = re.compile(
    rf"""^\S.*KERAS_BACKEND["']\]?\s*[=,:]\s*["'](?:theano|cntk|mxnet|plaidml)|{TOP_LEVEL_IMPORTS}plaidml\.keras\b""",
    re.M,
)
# Objects of tensorflow.python.keras come from a copy of Keras 2 inside TensorFlow, whichever Keras is installed.
_LEGACY = re.compile(
    rf"""{IMPORTS}tf_keras\b|TF_USE_LEGACY_KERAS["']\]?\s*[=,]\s*["'](?:1|true)["']"""
    rf"|{IMPORTS}tensorflow\.python\.keras(?:\.(?:models|layers|engine|applications)\b|\s+import\s+.*\b(?:models|layers|applications|Model|Sequential|Input)\b|\s+as\b|\s*$)"
    r"|^\s*from\s+tensorflow\.python\s+import\s+keras\b",
    re.M | re.I,
)


class HintsOfModule(VersionHints):
    """Version hints from the code of a module, searched at first use."""

    def __init__(self, module: Module):
        self._module = module

    @property
    def is_of_tensorflow_1(self) -> bool:
        return self._module.is_of_tensorflow_1 or self._module.project.imports_tensorflow_1(self._module)

    @property
    def is_of_multi_backend_keras(self) -> bool:
        module = self._module
        return module.does(_MAY_BE_OF_KERAS_1) and module.does(_OF_KERAS_1) or module.mentions(_BACKEND_OF_2)

    @property
    def is_of_keras_2(self) -> bool:
        # Keras 3 does not train without eager execution: fit raises RuntimeError (tested with Keras 3.15).
        return self._module.mentions(_LEGACY) or self._module.does(GRAPH_SWITCH)

    @property
    def backend(self) -> str | None:
        written = _BACKEND.search(self._module.code) if self._module.mentions(_BACKEND) else None
        return written[1] if written else None
