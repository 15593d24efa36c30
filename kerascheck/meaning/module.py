"""A module with all its analyses, each computed once."""

from __future__ import annotations

from kerascheck.interpreter.module import Module as InterpretedModule
from kerascheck.interpreter.values import Call
from kerascheck.meaning.calls import CallIndex
from kerascheck.meaning.data.image_flows import flows_of
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.meaning.models.building import models_of
from kerascheck.meaning.models.models import Model
from kerascheck.meaning.program.program import Program


class Module(InterpretedModule):
    """The input of rules: one parsed module and the meaning of its code.

    Example:
        >>> [each.name for each in module("ds = tf.data.Dataset.range(9).batch(3)").pipelines.operations("batch")]
        ['batch']
    """

    @property
    def calls(self) -> CallIndex:
        """The calls of the module, indexed by name, method, node and function."""
        return self.once(CallIndex)

    @property
    def pipelines(self) -> Pipelines:
        """The dataset pipelines of the module."""
        return self.once(Pipelines)

    @property
    def program(self) -> Program:
        """The facts about the module as a program."""
        return self.once(Program)

    @property
    def models(self) -> list[Model]:
        """The Keras models that the module builds, in program order."""
        return self.once(models_of)

    @property
    def image_flows(self) -> dict[Call, bool]:
        """The image iterators that the module trains on, each with whether it is paired with another."""
        return self.once(flows_of)
