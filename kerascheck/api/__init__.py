"""What a rule may import, and all of it: docs/rule-api.md lists it by question."""

from __future__ import annotations

from kerascheck.api import conditions, data, fixes, graph, models, names, program, requirements, training, written
from kerascheck.applies import Applies
from kerascheck.finding import Applicability, Edit, Fix, Severity
from kerascheck.interpreter.place import Place
from kerascheck.interpreter.values import (
    UNKNOWN,
    Call,
    Const,
    Dataset,
    External,
    Function,
    Group,
    Instance,
    Iteration,
    Made,
    Mapping,
    Method,
    Scope,
    Stage,
    Tensor,
    Value,
    constant,
    datasets_in,
    holds_tensor,
    options_of,
    shows_tensor,
)
from kerascheck.meaning.data.mapped_functions import display_name
from kerascheck.meaning.module import Module
from kerascheck.rule import CommentsRule, Diagnosis, RequirementsRule, Rule, Silence
from kerascheck.source.requirements import Requirement, RequirementsFile
from kerascheck.source.suppression import Comments, Directive

__all__ = [
    "UNKNOWN",
    "Applicability",
    "Applies",
    "Call",
    "Comments",
    "CommentsRule",
    "Const",
    "Dataset",
    "Diagnosis",
    "Directive",
    "Edit",
    "External",
    "Fix",
    "Function",
    "Group",
    "Instance",
    "Iteration",
    "Made",
    "Mapping",
    "Method",
    "Module",
    "Place",
    "Requirement",
    "RequirementsFile",
    "RequirementsRule",
    "Rule",
    "Scope",
    "Severity",
    "Silence",
    "Stage",
    "Tensor",
    "Value",
    "conditions",
    "constant",
    "data",
    "datasets_in",
    "display_name",
    "fixes",
    "graph",
    "holds_tensor",
    "models",
    "names",
    "options_of",
    "program",
    "requirements",
    "shows_tensor",
    "training",
    "written",
]
