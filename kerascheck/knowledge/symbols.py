"""Kinds of facts about library symbols; the other files of this package hold the tables, by topic."""

from __future__ import annotations

import enum


class State(enum.Enum):
    """Reasons for a call to be stateful, so that tf.data keeps a function with that call serial.

    Source: ``IsFunctionStateful`` in core/grappler/optimizers/data/function_utils.cc, tested op by op on TensorFlow 2.21.
    """

    DRAWS = enum.auto()
    """It draws from a generator that keeps its state across calls."""
    LOOKS_UP = enum.auto()
    """It reads a lookup table."""
    READS = enum.auto()
    """It reads a variable, also through a layer or model that has some."""
    PRINTS = enum.auto()
    ASSIGNS = enum.auto()
    """It changes a variable, a metric, a table, a queue or a file."""
    RUNS_PYTHON = enum.auto()
    """It runs a Python function, which counts as stateful."""


class Writes(enum.Enum):
    """Targets of side effects of a call."""

    VARIABLE = enum.auto()
    METRIC = enum.auto()
    QUEUE = enum.auto()
    WEIGHTS = enum.auto()
    TABLE = enum.auto()
    RESOURCE = enum.auto()
    """The argument itself: a variable, a file, a summary."""


class Trait(enum.Flag):
    """Further properties of a function."""

    NONE = 0
    RESHAPES = enum.auto()
    """It only repacks and reshapes: parallel calls gain nothing."""
    RETYPES = enum.auto()
    """It only converts types."""
    EACH_ALONE = enum.auto()
    """It maps every number independently, at any rank, so a batch gives the same as its elements."""
    WITH_NUMBERS = enum.auto()
    """The same, if all arguments except one are literal numbers."""
    SHAPE_MATTERS = enum.auto()
    """Its result for a batch differs in shape from a batch of its results, for some element shapes."""
    MOVES_PIXELS = enum.auto()
    """It keeps the numbers and their type."""
    NORMALIZES = enum.auto()
    """It may normalise an image for a model, and does only arithmetic."""
    READS_FILE = enum.auto()
    """It reads, and possibly decodes, a file without holding the GIL."""
    DECODES_IMAGE = enum.auto()
    """It decodes the bytes of one image file."""
    DECODES_BYTES = enum.auto()
    """It decodes numbers from bytes."""
    PARSES = enum.auto()
    """It decodes audio, or parses a record or a line."""
    RUNS_PYTHON = enum.auto()
    """It runs a Python function within a graph, holding the GIL."""
    TRACES = enum.auto()
    """It passes a function on to code that runs it in the graph."""
    GIVES_NO_TENSOR = enum.auto()
    """Its result is no tensor although its argument is one."""
    MAKES_TENSOR = enum.auto()
    """It always returns a tensor."""
    MAKES_ARRAY = enum.auto()
    """It returns a NumPy array."""
    STARTS_RUNTIME = enum.auto()
    """It initialises the devices."""
    SEEDS = enum.auto()
    """It seeds generators, also of other libraries: a program may import TensorFlow just for that."""
    LOOKS_AT_DATASET = enum.auto()
    """It only inspects a dataset."""
    MULTIPLIES = enum.auto()
    """It multiplies matrices, or convolves."""
    IN_LARGE_TABLE = enum.auto()
    """It looks up rows of large tables, which are placed on the CPU on purpose."""
    JOINS = enum.auto()
    """It joins tensors along an axis."""
    NO_BATCH = enum.auto()
    """It accepts one element at a time, or returns a length of its own for each."""
