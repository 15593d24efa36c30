"""Values that calls return, and values that wrap others: instances, tensors, datasets, iterators."""

from __future__ import annotations

from dataclasses import dataclass, field

from kerascheck.interpreter.values.arguments import Arguments
from kerascheck.interpreter.values.base import Value, now
from kerascheck.interpreter.values.execution import Call, Class, DatasetOp, ExecutionPath, ModuleLike


@dataclass(eq=False, slots=True)
class ExternalInstance(Value):
    """The result of calling an external symbol: usually an instance of the class ``name``.

    Example:
        >>> call("model.compile(loss=keras.losses.MeanSquaredError())").given("loss").name
        'keras.losses.MeanSquaredError'
    """

    name: str
    call: Call | None = None
    attributes: dict[str, Value] = field(default_factory=dict)

    @property
    def created(self) -> int:
        """Time of its creation, on the clock :data:`now`; 0 if unknown."""
        return 0 if self.call is None else self.call.order


@dataclass(eq=False, slots=True)
class LoopVariable(ExternalInstance):
    """A Python number or string that varies with the iterations of a loop."""

    loop: ExecutionPath | None = None


@dataclass(eq=False, slots=True)
class Tensor(Value):
    """A value that is a tensor at run time: symbolic in traced code, eager elsewhere.

    Example:
        >>> isinstance(call("f(tf.constant(1.0))").arguments.positional[0], Tensor)
        True
    """

    origin: str = ""
    call: Call | None = None
    """The call of the layer that returned it, if any."""
    operands: tuple[Value, ...] = ()
    """The operands in eager code or in the function of a dataset, if known; those of a function are its call."""


@dataclass(eq=False, slots=True)
class Instance(Value):
    """An object of a class of the linted tree.

    Example:
        >>> given = call("class Data(keras.utils.PyDataset): pass", "model.fit(Data())").given("x")
        >>> given.cls.name, sorted(given.cls.external_bases())
        ('Data', ['keras.utils.PyDataset'])
    """

    cls: Class
    attributes: dict[str, Value]
    created: int = field(default_factory=now, repr=False, kw_only=True)


@dataclass(eq=False, slots=True)
class Partial(Value):
    """``functools.partial``: a callable with some arguments bound."""

    target: Value
    arguments: Arguments


@dataclass(eq=False, slots=True)
class ModuleValue(Value):
    """A module of the linted tree."""

    module: ModuleLike


@dataclass(eq=False, slots=True)
class IteratorValue(Value):
    """An iterator or wrapper (enumerate, zip, tqdm, iter) over other values; ``kind`` names it.

    Example:
        >>> call("f(enumerate([1, 2]))").arguments.positional[0].kind
        'enumerate'
    """

    kind: str
    over: list[Value]
    path: ExecutionPath | None = None


@dataclass(eq=False, slots=True)
class Dataset(Value):
    """A tf.data dataset, or a structure of datasets if it comes directly from tensorflow_datasets.

    Example:
        >>> call("model.fit(tf.data.Dataset.range(9).batch(3))").given("x").stage.name
        'batch'
    """

    stage: DatasetOp
