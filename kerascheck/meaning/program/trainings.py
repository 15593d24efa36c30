"""Where a program trains: by ``fit``, by hand-written steps, and by searches of other libraries."""

from __future__ import annotations

import re
from functools import cached_property

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.values import (
    Call,
    Class,
    ExecutionPath,
    ExternalInstance,
    Instance,
    Value,
    flat,
)
from kerascheck.knowledge.classes import (
    GRADIENT_TAPE,
    MODEL,
    OPTIMIZER_APPLY,
    OPTIMIZER_MINIMIZE,
    OPTIMIZER_STATELESS_APPLY,
    class_of,
)
from kerascheck.knowledge.name_heuristics import (
    ADVERSARIES,
    GAN_NAMES,
    REINFORCEMENT_LEARNING,
)
from kerascheck.meaning.program.model_calls import ModelCalls
from kerascheck.meaning.program.tapes import tape_of

# Estimators of scikit-learn around a function that builds a model, and searches over the models that one builds.
_TRAINS_FOR_OTHERS = re.compile(r"\bKeras(?:Classifier|Regressor)$|^keras_tuner\..*\.search$")


class Trainings(ModelCalls):
    """The calls and places that update weights."""

    @cached_property
    def updates(self) -> list[Call]:
        """Calls that update weights in hand-written steps: minimize and apply of Keras, and apply_gradients of whatever optimizer."""
        return [
            call
            for call in self._calls
            if call.attribute == "apply_gradients" or call.name in (OPTIMIZER_MINIMIZE, OPTIMIZER_APPLY)
        ]

    @cached_property
    def assigned_updates(self) -> list[Call]:
        """Gradient descent written out: variable.assign_sub(rate * gradient)."""
        return self._calls.of_methods("assign_sub") if self._calls.named(GRADIENT_TAPE) else []

    @cached_property
    def constructors(self) -> dict[Instance, Call]:
        """The call that made each object of a class of the tree."""
        return {
            call.receiver: call
            for call in reversed(self._calls.of_methods("__init__"))
            if isinstance(call.receiver, Instance)
        }

    def constructor_of(self, value: Value) -> Call | None:
        """The call that made or loaded a model of Keras, or an object of a class of the tree; None where that cannot be seen."""
        if isinstance(value, ExternalInstance) and class_of(value.name) == MODEL:
            return value.call
        return self.constructors.get(value) if isinstance(value, Instance) else None

    @cached_property
    def training_places(self) -> list[tuple[CodeLocation, Call]]:
        """Where the module trains when it is run, in program order, with the call that does.

        That is each fit, and each innermost loop around a step written by hand.
        """
        if self._module.is_graph_code:
            return []
        found: dict[cst.CSTNode, tuple[int, CodeLocation, Call]] = {}
        for call in self.model_calls("fit", "fit_generator"):
            if self.is_executed(call.path):
                found.setdefault(call.node, (call.order, CodeLocation(call.module, call.node), call))
        stateless = self.calls(OPTIMIZER_STATELESS_APPLY)
        for call in [*self.updates, *self.model_calls("train_on_batch"), *self.assigned_updates, *stateless]:
            if self.is_executed(call.path) and not _in_keras_step(call.path):
                # Around the tape, not around the variables that are updated one by one.
                tape = tape_of(self._module, call)
                loop = _training_loop(tape.path if tape is not None else call.path)
                if loop is not None and (loop.node not in found or call.order < found[loop.node][0]):
                    found[loop.node] = (call.order, CodeLocation(loop.module, loop.node), call)
        return [(place, call) for _, place, call in sorted(found.values(), key=lambda each: each[0])]

    @property
    def first_training(self) -> CodeLocation | None:
        """The first fit, or the innermost loop that trains, if the module trains when it is run; else None."""
        return self.training_places[0][0] if self.training_places else None

    @cached_property
    def trains(self) -> bool:
        """Something in the program updates weights, whether it is seen to be executed or not."""
        return bool(self.updates or list(self.model_calls("fit", "fit_generator", "train_on_batch"))) or any(
            map(_TRAINS_FOR_OTHERS.search, self._calls.names)
        )

    def trains_behind(self, call: Call) -> bool:
        """Whether weights are updated behind a call, or somewhere of which the place in the program is not seen."""
        return not self._trainings or any(
            training.order > call.order or not self.is_executed(training.path) for training in self._trainings
        )

    @cached_property
    def _trainings(self) -> list[Call]:
        """The calls that update weights, in steps written by hand or through a model's own methods."""
        return [*self.updates, *self.assigned_updates, *self.model_calls("fit", "fit_generator", "train_on_batch")]

    @cached_property
    def _training_branches(self) -> set[ExecutionPath]:
        """The branches that all training of the program stands in; what a handler trains is another way to train."""
        around = [
            {condition for condition in training.path.conditions(within="program") if condition.kind == "branch"}
            for training in self._trainings
        ]
        return set.intersection(*around) if around else set()

    def is_optional(self, path: ExecutionPath) -> bool:
        """Whether a place runs under a condition under which the program may train without it: not one such as ``if mode == "train"``, which decides on the training, too."""
        return any(condition not in self._training_branches for condition in path.conditions(within="program"))

    def is_executed(self, path: ExecutionPath) -> bool:
        """Whether a place runs when the module is run as a script (or notebook)."""
        return path.root.function is None and path.root.module is self._module

    @cached_property
    def compiled_metrics(self) -> set[Class]:
        """The classes of the tree whose objects a model is compiled with as metrics."""
        return {
            value.cls
            for call in self.model_calls("compile")
            for value in flat(call.given("metrics"))
            if isinstance(value, Instance)
        }

    @cached_property
    def reinforcement_learning(self) -> bool:
        """The program imports environments for reinforcement learning."""
        return self._mentions(REINFORCEMENT_LEARNING)

    @cached_property
    def adversarial(self) -> bool:
        """Two networks trained against each other, by their names."""
        return self._mentions(GAN_NAMES) or any(all(map(module.mentions, ADVERSARIES)) for module in self._modules)


def _in_keras_step(path: ExecutionPath) -> bool:
    return any(frame.traced in ("train_step", "call") for frame in path.frames())


def _training_loop(path: ExecutionPath) -> ExecutionPath | None:
    """The innermost loop over data or steps around a weight update."""
    return path.innermost_loop(within="program", comprehensions=False)
