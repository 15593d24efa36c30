"""Facts about a module as the entry of a program: training, devices, workload, versions."""

from __future__ import annotations

import re
from functools import cached_property

from kerascheck.interpreter.values import (
    constant,
)
from kerascheck.knowledge.devices import (
    RUN_FUNCTIONS_EAGERLY,
)
from kerascheck.knowledge.import_patterns import IMPORTS
from kerascheck.meaning.program.device_use import DeviceUse
from kerascheck.meaning.program.workload import Workload

_COMPILES = re.compile(
    r"\.(?:fit|compile|predict|evaluate|train_on)\w*\(|tf\.function|\bfunction\(|Model\(\s*(?:inputs|\[)|Input\(|export|\.save\("
)
_OLD_KERAS = re.compile(
    rf"{IMPORTS}(?:tensorflow\.)?keras\.(?:engine|objectives|layers\.(?:core|convolutional|recurrent|pooling|embeddings|merge|normalization|"
    r"advanced_activations|wrappers|noise|local|experimental)|utils\.(?:np_utils|generic_utils|training_utils))\b"
    r"|^\s*from\s+(?:tensorflow\.)?keras\s+import\s+.*\bobjectives\b|layers\.experimental\.preprocessing\b"
    # TensorFlow Addons cannot be imported beside Keras 3 (0.23, its last release).
    rf"|{IMPORTS}tensorflow_addons\b"
    # Its layers import keras.engine and other modules of Keras 2.
    rf"|{IMPORTS}keras_contrib\b"
    # Keras 3 has no base class of this name (keras/src/layers/rnn).
    r"|\bAbstractRNNCell\b"
    # Every layer of Keras 3 raises ValueError for it (keras/src/layers/layer.py, 3.15).
    r"|\bbatch_input_shape\s*="
    # Optimizers of Keras 3 have neither the argument nor the attribute, and models no fit_generator (tested with 3.15).
    r"|(?<!optim\.)\b(?:Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam|Ftrl)\([^()]*\blr\s*=|\boptimizer\.lr\b|\b_decayed_lr\b"
    r"|\boptimizers\.legacy\b|\bmixed_precision\.experimental\b|\.(?:fit_generator|predict_classes)\(",
    re.M,
)
_LEGACY_KERAS = re.compile("TF_USE_LEGACY_KERAS")


class Program(Workload, DeviceUse):
    """Facts about a module as the entry point of a program.

    Its parts are :class:`Trainings`, :class:`Workload` and :class:`DeviceUse`. It adds the version of Keras and eager
    execution.
    """

    @cached_property
    def needs_old_keras(self) -> bool:
        """Whether the program imports modules or passes an argument that Keras 3 lacks.

        Findings for Keras 3 only do not apply in that case.
        """
        return self._mentions(_OLD_KERAS)

    @cached_property
    def chooses_legacy_keras(self) -> bool:
        """Whether the program selects Keras 2 in its environment, possibly in an imported module."""
        return self._mentions(_LEGACY_KERAS)

    @property
    def keras(self) -> int:
        """Major version of the Keras that runs the program: 2 if its versions, its code or its environment ask for it."""
        old = self._module.runtime.keras < 3 or self.needs_old_keras or self.chooses_legacy_keras
        return 2 if old else 3

    @cached_property
    def runs_functions_eagerly(self) -> bool:
        """Whether ``tf.config.run_functions_eagerly(True)`` runs unconditionally.

        The call may be in a script beside the module that imports it.
        """
        own = any(
            constant(call.given("run_eagerly")) is True and not any(call.path.conditions(within="program"))
            for call in self._calls.named(RUN_FUNCTIONS_EAGERLY)
        )
        return own or self._module.project.is_switched_eager(self._module)

    @cached_property
    def runs_eagerly(self) -> bool:
        """Whether an unconditional switch makes compiled code run eagerly.

        It is ``run_functions_eagerly``, or ``run_eagerly`` of a model.
        """
        for call in self._calls.of_methods("compile", "run_eagerly"):
            switch = call.given("run_eagerly") if call.attribute == "compile" else call.assigned
            if constant(switch) is True and not any(call.path.conditions(within="program")):
                return True
        return self.runs_functions_eagerly

    @cached_property
    def steps_eagerly(self) -> bool:
        """Whether layers and models run eagerly: uncompiled steps update the weights, and no model is fitted.

        Also true for a notebook that neither trains nor compiles anything, because it cannot be imported.
        """
        if self._module.source.cells is not None and not self._module.mentions(_COMPILES):
            return True
        updates = [*self.updates, *self.assigned_updates]
        compiled = any(call.path.traced_by() for call in updates)
        return (
            bool(updates)
            and not compiled
            and next(self.model_calls("fit", "fit_generator", "train_on_batch", "evaluate"), None) is None
        )
