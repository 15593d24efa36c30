"""Floating-point operations and bytes of a graph of TensorFlow, from the shapes and types of its operations."""

import math
import sys

from .hlo_costs import Cost

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_LOOPS = ("While", "StatelessWhile")
_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
_NO_TRAFFIC = frozenset((
    "Const", "IdentityN", "NoOp", "Placeholder", "ReadVariableOp", "AssignVariableOp", "Reshape", "Shape",
    "ShapeN", "Size", "Rank", "ExpandDims", "Squeeze", "Assert", "CheckNumerics",
    "EnsureShape", "TensorListReserve", "TensorListGetItem", "TensorListSetItem", "TensorListPushBack",
    "TensorListPopBack", "TensorListLength", "TensorListElementShape", "EmptyTensorList", "OptionalGetValue",
    "OptionalFromValue", "OptionalHasValue", "IteratorGetNext", "IteratorGetNextAsOptional", "VarIsInitializedOp",
    "BroadcastGradientArgs", "MakeIterator", "AnonymousIteratorV3",
))  # fmt: skip
"""Operations that pass on what they get, or hold only a few numbers."""
_MOVES = frozenset((
    "Cast", "ConcatV2", "Fill", "Gather", "GatherNd", "GatherV2", "OneHot", "OnesLike", "Pack", "Pad", "PadV2",
    "MirrorPad", "Range", "ResourceGather", "ResourceGatherNd", "ReverseV2", "Slice", "Split", "SplitV", "StridedSlice",
    "StridedSliceGrad", "TensorListFromTensor", "TensorListGather", "TensorListStack", "Tile", "Transpose", "Unpack",
    "Where", "ZerosLike", "BroadcastTo", "SpaceToBatchND", "BatchToSpaceND", "DepthToSpace", "SpaceToDepth",
))  # fmt: skip
"""Operations without arithmetic."""
_SLICES = frozenset(("Gather", "GatherNd", "GatherV2", "ResourceGather", "ResourceGatherNd", "Slice", "StridedSlice"))
_FORWARD = ("Conv2D", "Conv3D", "DepthwiseConv2dNative")


def costs_of(concrete, batch, runs):
    """The :class:`Cost` of each operation in one call of a function.

    Args:
        concrete: a ``ConcreteFunction``.
        batch: (type, shape) of each component of a batch; traced shapes may leave its size open.
        runs: returns how often the body of a loop runs in a call, by the name of the loop; None if unknown.
    """
    return _Sized(concrete.graph, batch, runs).costs(concrete.graph.inputs, 1)[0]


def has_loops(graph):
    """Whether a graph, or a function that it calls, has loops."""
    for operation in graph.get_operations():
        if operation.type in _LOOPS:
            return True
        if operation.type in _CALLS and has_loops(_function(graph, operation.get_attr("f"))):
            return True
    return False


def _used(graph):
    """The operations that a result or a side effect needs, in order; TensorFlow does not run the others."""
    operations = graph.get_operations()
    pending = [each.op for each in graph.outputs] + [each for each in operations if each.op_def.is_stateful]
    found: dict = {}
    while pending:
        operation = pending.pop()
        if operation.name not in found:
            found[operation.name] = operation
            pending += [*(each.op for each in operation.inputs), *operation.control_inputs]
    return [each for each in operations if each.name in found]


def _function(graph, attribute):
    return graph._get_function(attribute.name).graph


class _List:
    """What is known about the elements of a list of tensors."""

    def __init__(self, shape, length=None, value=None):
        self.shape, self.length, self.value = shape, length, value
        self.tensors = []  # handles of the list; kept because their identities are keys


class _Sized:
    """A graph that is built again with the sizes of a batch, so that TensorFlow infers the shapes that it left open."""

    def __init__(self, graph, batch, runs, prefix="", lists=None):
        self._graph, self._batch, self._runs = graph, batch, runs
        self._prefix = prefix  # of the names of operations; that of a call has the scope of its layer
        self._lists = {} if lists is None else lists  # _List by the identity of a tensor

    def costs(self, inputs, times):
        """Costs of the operations with these inputs, and the outputs of the graph."""
        from tensorflow.python.framework import func_graph

        new = func_graph.FuncGraph("sized")
        found: list = []
        known: dict = {}
        with new.as_default():
            for old, given in zip(self._graph.inputs, inputs):
                known[old.name] = self._held(given)
            pending = [each for each in _used(self._graph) if not each.outputs or each.outputs[0].name not in known]
            while pending:
                later = []
                for operation in pending:
                    if any(each.name not in known for each in operation.inputs):
                        later.append(operation)  # a gradient has added its operand to an earlier loop
                        continue
                    operands = [known[each.name] for each in operation.inputs]
                    results = self._results(operation, operands, times, found, new)
                    known.update((old.name, each) for old, each in zip(operation.outputs, results))
                if len(later) == len(pending):
                    raise ValueError(f"operations need each other, such as {later[0].name}")
                pending = later
        return found, [known[each.name] for each in self._graph.outputs]

    def _results(self, operation, operands, times, found, new):
        """The outputs of one operation; adds its costs to ``found``."""
        if operation.type in _CALLS:
            inside, outputs = self._inner(operation, "f").costs(operands, times)
            found += inside
            return [self._held(each) for each in outputs]
        if operation.type in _LOOPS:
            inside, outputs = self._inner(operation, "body").costs(operands, self._runs(self._prefix + operation.name))
            found += inside
            return [self._held(each) for each in outputs]
        if operation.type == "IteratorGetNext" and len(operation.outputs) == len(self._batch):
            return [_placeholder(dtype, shape) for dtype, shape in self._batch]
        if operation.type in (*_BRANCHES, "Placeholder", "ReadVariableOp", "IteratorGetNext", "OptionalGetValue"):
            if operation.type in _BRANCHES:
                found.append(Cost(self._prefix + operation.name, None, None))
            return [self._held(each) for each in operation.outputs]
        if operation.type in ("Identity", "StopGradient", "PreventGradient"):
            return operands
        if operation.type == "BroadcastGradientArgs" and (axes := _broadcast_axes(*operands)) is not None:
            return axes
        made = new._create_op_internal(
            operation.type, operands, [each.dtype for each in operation.outputs],
            attrs={name: value for name, value in operation.node_def.attr.items() if not name.startswith("_")},
            compute_device=False,
        )  # fmt: skip
        results = self._follow(made) if operation.type.startswith("TensorList") else made.outputs
        found.append(_cost(made, self._prefix + operation.name, times))
        return results

    def _follow(self, operation):
        """The outputs of an operation on a list of tensors, whose elements TensorFlow knows only as declared.

        All elements of a list have the shape of the one that is added; lists of shapes hold one value.
        """
        from tensorflow.python.framework import tensor_util

        kind, outputs = operation.type.removeprefix("TensorList"), list(operation.outputs)
        known = self._lists.get(id(operation.inputs[0]), _List(None))
        if kind == "FromTensor":
            shape = operation.inputs[0].shape
            known = _List(shape[1:], shape[0]) if shape.rank is not None else known
        elif kind == "Reserve":
            known = _List(None, tensor_util.constant_value(operation.inputs[1]))
        elif kind in ("PushBack", "SetItem"):
            item = operation.inputs[1 if kind == "PushBack" else 2]
            known = _List(item.shape, known.length, _value(item))
        elif known.shape is not None and kind in ("GetItem", "PopBack", "Stack"):
            outputs[-1].set_shape([known.length, *known.shape] if kind == "Stack" else known.shape)
            if kind == "PopBack" and known.value is not None:
                outputs[-1] = sys.modules["tensorflow"].constant(known.value, outputs[-1].dtype)
        if outputs[0].dtype.name == "variant":
            known.tensors.append(outputs[0])
            self._lists[id(outputs[0])] = known
        return outputs

    def _inner(self, operation, attribute):
        graph = _function(self._graph, operation.get_attr(attribute))
        return _Sized(graph, self._batch, self._runs, f"{self._prefix}{operation.name}/", self._lists)

    def _held(self, tensor):
        """A placeholder of the same shape, with what is known about the data behind a handle."""
        from tensorflow.python.ops import handle_data_util

        new = _placeholder(tensor.dtype, tensor.shape)
        handle_data_util.copy_handle_data(tensor, new)
        if known := self._lists.get(id(tensor)):
            known.tensors.append(new)
            self._lists[id(new)] = known
        return new


def _placeholder(dtype, shape):
    return sys.modules["tensorflow"].compat.v1.placeholder(dtype, shape)


def _value(tensor):
    """The value of a tensor that holds a shape, as a list; None if it is unknown, or no shape."""
    from tensorflow.python.framework import tensor_util

    if tensor.shape.rank != 1 or not tensor.dtype.is_integer:
        return None
    shape = tensor_util.constant_value_as_shape(tensor)
    return shape.as_list() if shape.is_fully_defined() else None


def _broadcast_axes(*shapes):
    """The axes over which the gradients of two broadcast operands are summed; None if a shape is unknown."""
    known = [_value(shape) for shape in shapes]
    if None in known:
        return None
    rank = max(map(len, known))
    padded = [[1] * (rank - len(shape)) + shape for shape in known]
    constant = sys.modules["tensorflow"].constant
    return [constant([at for at, size in enumerate(sizes) if size == 1], "int32") for sizes in padded]


def _cost(operation, name, times):
    """Cost of an operation that runs ``times`` times in a call; None if that is unknown."""
    flops, size = _flops(operation), _bytes(operation)
    if times is None and (flops or size):
        flops = size = None
    is_product = _is_product(operation)
    count = times or 0
    return Cost(
        name, None if flops is None else count * flops, None if size is None else count * size,
        operation.outputs[0].dtype.name if is_product else "", count * flops if is_product and flops else 0.0,
    )  # fmt: skip


def _is_product(operation):
    return "MatMul" in operation.type or operation.type == "Einsum" or operation.type.startswith(("Conv", "Depthwise"))


def _flops(operation):
    """Floating-point operations; None if a shape is unknown, or Python computes."""
    kind = operation.type
    if kind in _PYTHON:
        return None
    if kind in _NO_TRAFFIC or kind in _MOVES or not operation.outputs:
        return 0 if "Assign" not in kind or kind == "AssignVariableOp" else _elements(operation.inputs[1])
    if "MatMul" in kind:
        return _of_matmul(operation)
    if kind == "Einsum":
        return _of_einsum(operation)
    if kind.startswith(("Conv", "Depthwise")):
        return _of_convolution(operation)
    if not operation.outputs[0].dtype.is_floating:
        return 0
    # Reductions take one for each operand, others one for each result.
    return _largest(_elements(each) for each in (*operation.inputs, *operation.outputs) if each.dtype.is_floating)


def _of_matmul(operation):
    left = operation.inputs[0].shape
    if left.rank is None:
        return None
    transposed = any(operation.get_attr(name) for name in ("transpose_a", "adj_x") if name in operation.node_def.attr)
    return _multiplied(2, left[-2 if transposed else -1], _elements(operation.outputs[0]))


def _of_einsum(operation):
    """Two operations for each combination of all indices; an ellipsis is in the result too."""
    terms = operation.get_attr("equation").decode().partition("->")[0].split(",")
    shared: dict = {}
    for term, operand in zip(terms, operation.inputs):
        before, _, after = term.partition("...")
        shape = operand.shape.as_list() if operand.shape.rank is not None else None
        if shape is None:
            return None
        shared.update(zip(before, shape))
        if after:
            shared.update(zip(after, shape[-len(after) :]))
    result = operation.get_attr("equation").decode().partition("->")[2].replace("...", "")
    summed = [size for label, size in shared.items() if label not in result]
    return _multiplied(2 if len(terms) > 1 else 1, _elements(operation.outputs[0]), *summed)


def _of_convolution(operation):
    """Two operations for each element of the forward result and each element of the kernel that it meets."""
    if operation.type in _FORWARD:
        kernel, outputs = operation.inputs[1], operation.outputs[0]
    elif "BackpropInput" in operation.type:
        kernel, outputs = operation.inputs[1], operation.inputs[2]
    elif "BackpropFilter" in operation.type:
        kernel, outputs = operation.outputs[0], operation.inputs[2]
    else:
        return None
    if not kernel.shape.is_fully_defined():
        return None
    sizes = kernel.shape.as_list()
    met = sizes[:2] if operation.type.startswith("Depthwise") else sizes[:-1]
    return _multiplied(2, _elements(outputs), *met)


def _bytes(operation):
    """Bytes of the operands and the results."""
    kind = operation.type
    if kind in _NO_TRAFFIC:
        return 0
    if kind in _PYTHON:
        return None
    if kind in _SLICES:
        return _sum([*map(_size, operation.inputs[1:2]), *(2 * _or_nan(_size(each)) for each in operation.outputs)])
    if kind.startswith(("Scatter", "ResourceScatter", "TensorScatter")):
        return _sum([_size(operation.inputs[1]), 3 * _or_nan(_size(operation.inputs[2]))])
    if kind.startswith("Assign"):
        return _sum([3 * _or_nan(_size(operation.inputs[1]))])
    if kind.startswith("TensorList"):
        return _sum(2 * _or_nan(_size(each)) for each in (*operation.inputs[:1], *operation.outputs))
    return _sum(_size(each) for each in (*operation.inputs, *operation.outputs))


def _elements(tensor):
    return tensor.shape.num_elements()


def _size(tensor):
    """Bytes of a tensor; 0 for a handle, None if its shape is unknown."""
    if tensor.dtype.name in ("resource", "variant"):
        return 0
    if tensor.dtype.name == "string":
        return None
    elements = _elements(tensor)
    return None if elements is None else elements * tensor.dtype.size


def _or_nan(number):
    return math.nan if number is None else number


def _sum(numbers):
    """The sum; None if a number is unknown."""
    total = sum(_or_nan(each) for each in numbers)
    return None if math.isnan(total) else total


def _largest(numbers):
    """The largest one; None if a number is unknown."""
    numbers = list(numbers)
    return None if None in numbers else max(numbers)


def _multiplied(*numbers):
    """The product; None if a number is unknown."""
    return None if None in numbers else math.prod(numbers)
