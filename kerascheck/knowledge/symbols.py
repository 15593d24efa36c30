"""What can be known of a symbol of a library; the tables are in the other files of this package, by topic."""

from __future__ import annotations

import enum


class State(enum.Enum):
    """What makes a call one of state, so that tf.data leaves a function that calls it serial.

    Source: ``IsFunctionStateful`` in core/grappler/optimizers/data/function_utils.cc, tried op by op on TensorFlow 2.21.
    """

    DRAWS = enum.auto()
    """It draws from a generator that goes on from call to call."""
    LOOKS_UP = enum.auto()
    """It looks things up in a table."""
    READS = enum.auto()
    """It reads a variable, also as a layer or model that has some."""
    PRINTS = enum.auto()
    ASSIGNS = enum.auto()
    """It changes a variable, a metric, a table, a queue or a file."""
    RUNS_PYTHON = enum.auto()
    """It runs a function of Python, which is taken to have state."""


class Writes(enum.Enum):
    """What a call changes that outlives it."""

    VARIABLE = enum.auto()
    METRIC = enum.auto()
    QUEUE = enum.auto()
    WEIGHTS = enum.auto()
    TABLE = enum.auto()
    RESOURCE = enum.auto()
    """Whichever the function is given: a variable, a file, a summary."""


class Trait(enum.Flag):
    """What else a function does."""

    NONE = 0
    RESHAPES = enum.auto()
    """It only repacks and reshapes: there is nothing to do in parallel."""
    RETYPES = enum.auto()
    """It only changes types."""
    EACH_ALONE = enum.auto()
    """It acts on every number alone, on any rank, so the same on a batch as on its elements."""
    WITH_NUMBERS = enum.auto()
    """The same, where all arguments but one are literal numbers."""
    SHAPE_MATTERS = enum.auto()
    """What it returns for a batch has another shape than a batch of what it returns, for some shapes of elements."""
    MOVES_PIXELS = enum.auto()
    """It leaves the numbers and their type as they are."""
    NORMALIZES = enum.auto()
    """It may prepare the numbers of an image for a model, and does no more than arithmetic."""
    READS_FILE = enum.auto()
    """It reads a file, and decodes it, if it does, without holding Python's lock."""
    DECODES_IMAGE = enum.auto()
    """It decodes the bytes of one image file."""
    DECODES_BYTES = enum.auto()
    """It takes numbers from bytes."""
    PARSES = enum.auto()
    """It decodes sound, or takes a record or a line apart."""
    RUNS_PYTHON = enum.auto()
    """It runs a function of Python within a graph, under Python's lock."""
    TRACES = enum.auto()
    """It hands a function on to code which runs it in the graph."""
    GIVES_NO_TENSOR = enum.auto()
    """Its result is no tensor although a tensor goes in."""
    MAKES_TENSOR = enum.auto()
    """It returns a tensor whatever it is given."""
    MAKES_ARRAY = enum.auto()
    """It returns a NumPy array."""
    STARTS_RUNTIME = enum.auto()
    """It initialises the devices."""
    SEEDS = enum.auto()
    """It seeds generators, those of other libraries too: a program that does nothing else with TensorFlow has imported it for that."""
    LOOKS_AT_DATASET = enum.auto()
    """It only looks at a dataset."""
    MULTIPLIES = enum.auto()
    """It multiplies matrices, or convolves."""
    IN_LARGE_TABLE = enum.auto()
    """It looks up rows of large tables, which are placed on the CPU on purpose."""
    JOINS = enum.auto()
    """It puts tensors together along an axis."""
    NO_BATCH = enum.auto()
    """It takes one element at a time, or makes one of a length of its own of each."""
