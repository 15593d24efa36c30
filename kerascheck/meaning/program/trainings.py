"""Trainings of a program: ``fit``, hand-written steps, and searches by other libraries."""

from __future__ import annotations

import re
from functools import cached_property

import libcst as cst

from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.reached_code import reached_code
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
from kerascheck.meaning.program.side_code import side_path
from kerascheck.meaning.program.tapes import tape_of

# scikit-learn wrappers of a model-building function, and searches over the models that it builds.
_TRAINS_FOR_OTHERS = re.compile(r"\bKeras(?:Classifier|Regressor)$|^keras_tuner\..*\.search$")


class Trainings(ModelCalls):
    """The calls and places that update weights."""

    @cached_property
    def updates(self) -> list[Call]:
        """Calls of minimize, apply and apply_gradients that update weights in hand-written steps.

        minimize and apply are those of Keras, apply_gradients that of any optimizer.
        """
        return [
            call
            for call in self._calls
            if call.attribute == "apply_gradients" or call.name in (OPTIMIZER_MINIMIZE, OPTIMIZER_APPLY)
        ]

    @cached_property
    def assigned_updates(self) -> list[Call]:
        """Hand-written gradient descent: variable.assign_sub(rate * gradient)."""
        return self._calls.of_methods("assign_sub") if self._calls.named(GRADIENT_TAPE) else []

    @cached_property
    def constructors(self) -> dict[Instance, Call]:
        """The constructor call of each instance of a project class."""
        return {
            call.receiver: call
            for call in reversed(self._calls.of_methods("__init__"))
            if isinstance(call.receiver, Instance)
        }

    def constructor_of(self, value: Value) -> Call | None:
        """The call that created or loaded a Keras model, or an instance of a project class; None if unknown."""
        if isinstance(value, ExternalInstance) and class_of(value.name) == MODEL:
            return value.call
        return self.constructors.get(value) if isinstance(value, Instance) else None

    @cached_property
    def training_places(self) -> list[tuple[CodeLocation, Call]]:
        """The places where running the module trains, in program order, each with its call.

        These are each fit, and each innermost loop around a hand-written step. Excludes side code, unless nothing else
        trains.
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
                # Use the loop around the tape, not one over the variables.
                tape = tape_of(self._module, call)
                loop = _training_loop(tape.path if tape is not None else call.path)
                if loop is not None and (loop.node not in found or call.order < found[loop.node][0]):
                    found[loop.node] = (call.order, CodeLocation(loop.module, loop.node), call)
        places = [(place, call) for _, place, call in sorted(found.values(), key=lambda each: each[0])]
        return [each for each in places if side_path(each[1].path) is None] or places

    @property
    def first_training(self) -> CodeLocation | None:
        """The first fit or innermost training loop; None if running the module does not train."""
        return self.training_places[0][0] if self.training_places else None

    @cached_property
    def trains(self) -> bool:
        """Whether the program updates weights anywhere, whether executed or not."""
        return bool(self.updates or list(self.model_calls("fit", "fit_generator", "train_on_batch"))) or any(
            map(_TRAINS_FOR_OTHERS.search, self._calls.names)
        )

    def trains_behind(self, call: Call) -> bool:
        """Whether weights are updated after a call, or at an unknown point of the program."""
        return not self._trainings or any(
            training.order > call.order or not self.is_executed(training.path) for training in self._trainings
        )

    @cached_property
    def _trainings(self) -> list[Call]:
        """The calls that update weights, in hand-written steps or through methods of a model."""
        return [*self.updates, *self.assigned_updates, *self.model_calls("fit", "fit_generator", "train_on_batch")]

    @cached_property
    def _training_branches(self) -> set[ExecutionPath]:
        """The branches around all training code of the program; an exception handler is an alternative way to train."""
        around = [
            {condition for condition in training.path.conditions(within="program") if condition.kind == "branch"}
            for training in self._trainings
        ]
        return set.intersection(*around) if around else set()

    def is_optional(self, path: ExecutionPath) -> bool:
        """Whether a condition guards an execution path but not the training.

        A condition such as ``if mode == "train"`` affects both, so it does not count.
        """
        return any(condition not in self._training_branches for condition in path.conditions(within="program"))

    def is_executed(self, path: ExecutionPath) -> bool:
        """Whether an execution path runs when the module is executed as a script or notebook."""
        return path.root.function is None and path.root.module is self._module

    @cached_property
    def compiled_metrics(self) -> set[Class]:
        """The project classes whose instances are passed to ``compile`` as metrics."""
        return {
            value.cls
            for call in self.model_calls("compile")
            for value in flat(call.given("metrics"))
            if isinstance(value, Instance)
        }

    @cached_property
    def reinforcement_learning(self) -> bool:
        """Whether the program imports environments for reinforcement learning, or names its concepts."""
        return self._mentions(REINFORCEMENT_LEARNING)

    @cached_property
    def adversarial(self) -> bool:
        """Whether two networks train against each other, judging by their names.

        Ignores functions and classes that the program never names.
        """
        if not self._mentions(GAN_NAMES) and not any(all(map(each.mentions, ADVERSARIES)) for each in self._modules):
            return False
        return any(
            GAN_NAMES.search(text) or all(name.search(text) for name in ADVERSARIES) for text in self.reached_code
        )

    @cached_property
    def reached_code(self) -> list[str]:
        """The code of each module of the program that may run: see :func:`.reached_code`."""
        return reached_code(self._modules)


def _in_keras_step(path: ExecutionPath) -> bool:
    return any(frame.traced in ("train_step", "call") for frame in path.frames())


def _training_loop(path: ExecutionPath) -> ExecutionPath | None:
    """The innermost loop over data or steps around a weight update."""
    return path.innermost_loop(within="program", comprehensions=False)
