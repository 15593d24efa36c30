"""Instructions of a program that XLA has compiled: the operations that they come from, shapes and attributes."""

import re

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\(")
_NAME = re.compile(r'op_name="([^"]*)"')
_CALLED = re.compile(r"(?:calls|to_apply|body|true_computation|false_computation)=%?([\w.-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_OPERAND = re.compile(r"%([\w.-]+)")
_SHAPE = re.compile(r"\b([a-z]\w*)\[([\d,]*)\]")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
_CONTRACTING = re.compile(r"lhs_contracting_dims=\{([\d,]*)\}")
_CONTRACTED_BY_LIBRARY = re.compile(r'"lhs_contracting_dimensions":\["?([\d",]*?)"?\]')
_LABELS = re.compile(r"dim_labels=(\w+)_(\w+)->(\w+)")
_WINDOW = re.compile(r"window=\{([^}]*)\}")
_GROUPS = re.compile(r"batch_group_count=(\d+)")
_TARGET = re.compile(r'custom_call_target="([^"]*)"')
_COMPUTED_BY = ("fusion", "call")
_COSTLY = ("dot", "convolution", "custom-call")
_BACKWARD = "transpose("
_TRANSFORMATIONS = ("jit", "jvp", "transpose", "vmap", "checkpoint", "remat")
_FREE = ("parameter", "constant", "bitcast", "tuple", "get-tuple-element", "broadcast", "iota")


class Details:
    """The attributes of an instruction from which costs follow."""

    def __init__(self, parameter=None, trips=None, target="", contracting=None, labels=None, window=None, groups=1):
        self.parameter = parameter  # number of a parameter
        self.trips = trips  # known number of iterations of a loop
        self.target = target  # function of a custom call
        self.contracting = contracting  # dimensions of the left operand that a product sums over
        self.labels = labels  # dimensions of the image, the kernel and the result of a convolution, such as "b01f"
        self.window = window  # of each dimension, see _window
        self.groups = groups  # groups of the batch in a convolution


class Instruction:
    """An instruction of a program."""

    def __init__(self, name, opcode, op_name, shapes, called, operands, details=None):
        self.name = name
        self.opcode = opcode
        self.op_name = op_name  # name of the operation that it comes from; may be empty
        self.shapes = shapes  # (type, sizes) of its results, such as ("f32", (8, 4))
        self.called = called  # names of the computations that it calls
        self.operands = operands  # names of instructions
        self.details = details or Details()

    @property
    def elements(self):
        """Number of elements of its largest result."""
        return max((product(sizes) for _, sizes in self.shapes), default=1)


def product(sizes):
    """Number of elements of a shape."""
    count = 1
    for size in sizes:
        count *= size
    return count


def of_text(text):
    """The computations of a program in XLA's text format: lists of :class:`Instruction` by name, the entry last."""
    found: dict = {}
    current: list = []
    for line in text.splitlines():
        begun = _COMPUTATION.match(line)
        if begun:
            current = found.setdefault(begun[1], [])
        elif made := _INSTRUCTION.match(line):
            named = _NAME.search(line)
            inside, _, attributes = line[made.end() :].partition(")")
            called = _CALLED.findall(attributes)
            if branches := _BRANCHES.search(attributes):
                called = _OPERAND.findall(branches[1])
            op_name = named[1] if named else ""
            details = _details_of_text(made[3], inside, attributes)
            operands = _OPERAND.findall(inside)
            current.append(Instruction(made[1], made[3], op_name, _shapes(made[2]), called, operands, details))
    return found


def _shapes(text):
    return [(kind, tuple(int(size) for size in sizes.split(",") if size)) for kind, sizes in _SHAPE.findall(text)]


def _details_of_text(opcode, inside, attributes):
    if opcode == "parameter":
        return Details(parameter=int(inside))
    if opcode == "while":
        return Details(trips=_trips(attributes))
    if opcode not in _COSTLY and opcode != "reduce-window":
        return None
    contracting, labels, window, groups, target = (
        pattern.search(attributes) for pattern in (_CONTRACTING, _LABELS, _WINDOW, _GROUPS, _TARGET)
    )
    return Details(
        target=target[1] if target else "",
        contracting=_numbers(contracting[1]) if contracting else _of_library(attributes),
        labels=labels.groups() if labels else None,
        window=_window(window[1]) if window else (),
        groups=int(groups[1]) if groups else 1,
    )


def _trips(config):
    found = _TRIPS.search(config)
    return int(found[1]) if found else None


def _of_library(config):
    """Dimensions that a product of cuBLAS sums over."""
    found = _CONTRACTED_BY_LIBRARY.search(config)
    return _numbers(found[1]) if found else None


def _numbers(text):
    return [int(each) for each in re.findall(r"\d+", text)]


def _window(text):
    """(Size, stride, lower padding, dilation of the window, dilation of the input) of each dimension."""
    given = {key: value.split("x") for key, _, value in (part.partition("=") for part in text.split())}
    count = len(given.get("size", ()))
    columns = [given.get(key, ["1"] * count) for key in ("size", "stride", "rhs_dilate", "lhs_dilate")]
    lower = [pad.partition("_")[0] for pad in given.get("pad", ["0_0"] * count)]
    sizes, strides, dilations, of_input = ([int(each) for each in column] for column in columns)
    return list(zip(sizes, strides, map(int, lower), dilations, of_input))


def of_proto(module):
    """Like :func:`of_text`, for a message ``HloModuleProto``."""
    names = {computation.id: computation.name for computation in module.computations}
    instructions = {each.id: each.name for computation in module.computations for each in computation.instructions}
    return {
        computation.name: [
            Instruction(
                each.name, each.opcode, each.metadata.op_name, _shapes_of_proto(each.shape),
                [names[called] for called in _called_by_proto(each) if called in names],
                [instructions[operand] for operand in each.operand_ids if operand in instructions],
                _details_of_proto(each),
            )
            for each in computation.instructions
        ]
        for computation in sorted(module.computations, key=lambda each: each.name == module.entry_computation_name)
    }  # fmt: skip


def _called_by_proto(instruction):
    called = instruction.called_computation_ids
    return called[:1] if instruction.opcode == "while" else called  # without its condition


def _shapes_of_proto(shape):
    if shape.tuple_shapes:
        return [leaf for part in shape.tuple_shapes for leaf in _shapes_of_proto(part)]
    kinds = shape.DESCRIPTOR.fields_by_name["element_type"].enum_type.values_by_number
    return [(kinds[shape.element_type].name.lower(), tuple(shape.dimensions))]


def _details_of_proto(each):
    if each.opcode == "parameter":
        return Details(parameter=each.parameter_number)
    config = each.backend_config
    config = config.decode(errors="replace") if isinstance(config, bytes) else config
    if each.opcode == "while":
        return Details(trips=_trips(config))
    if each.opcode not in _COSTLY and each.opcode != "reduce-window":
        return None
    sizes = each.window.dimensions
    is_dot = each.opcode == "dot"
    return Details(
        target=each.custom_call_target,
        contracting=list(each.dot_dimension_numbers.lhs_contracting_dimensions) if is_dot else _of_library(config),
        labels=_labels_of_proto(each.convolution_dimension_numbers)
        if each.opcode != "reduce-window" and sizes
        else None,
        window=[(one.size, one.stride, one.padding_low, one.window_dilation, one.base_dilation) for one in sizes],
        groups=each.batch_group_count or 1,
    )


def _labels_of_proto(numbers):
    """Labels of the dimensions, as in the text format."""

    def labels(first, last, letters, spatial):
        by_position = {first: letters[0], last: letters[1], **{at: str(n) for n, at in enumerate(spatial)}}
        return "".join(by_position[at] for at in sorted(by_position))

    return (
        labels(numbers.input_batch_dimension, numbers.input_feature_dimension, "bf", numbers.input_spatial_dimensions),
        labels(
            numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension, "io",
            numbers.kernel_spatial_dimensions,
        ),
        labels(
            numbers.output_batch_dimension, numbers.output_feature_dimension, "bf", numbers.output_spatial_dimensions
        ),
    )  # fmt: skip


def names_of(computations):
    """(Name of an operation, weight) pairs by instruction; the weights of an instruction add up to 1.

    A fused instruction has those of its parts: of its products and convolutions if it has some, or else of all parts by
    the number of their elements. An instruction that XLA adds has those of the instruction that reads its result. A
    product or convolution that XLA has rewritten has the name of the one that reads the same value, see :func:`_beside`.
    """
    found = {}
    for instructions in computations.values():
        parts = {each.name: parts_of(each, computations) for each in instructions}
        own = {name: _shares(each) for name, each in parts.items()}
        costly = {name for name, each in parts.items() if any(part.opcode in _COSTLY for part in each)}
        own.update(_beside(instructions, own, costly))
        for each in reversed(instructions):  # operands come first
            for operand in each.operands if own[each.name] else ():
                if operand in own and not own[operand]:
                    own[operand] = own[each.name]
        found.update(own)
    return found


def _beside(instructions, own, costly):
    """Shares of the products and convolutions without a name, which XLA has rewritten.

    The gradient of a kernel reads the same input as the layer, and the gradient of an input the same kernel. What reads
    its result belongs to the optimizer or to another layer. Without exactly one such layer it has an unknown name.
    """
    by_name = {each.name: each for each in instructions}
    sources = {name: _sources(by_name[name], by_name, own, costly) for name in costly}
    readers: dict = {}  # by value: names of the operations that read it, by scope
    for name in costly:
        for source in sources[name]:
            for operation, _ in own[name]:
                readers.setdefault(source, {}).setdefault(_scope(operation), operation)
    found = {}
    for name in costly:
        if own[name]:
            continue
        alone = [by_scope for source in sources[name] if len(by_scope := readers.get(source, {})) == 1]
        operation = next(iter(alone[0].values())) if alone else ""
        is_backward = any(_BACKWARD in each for source in sources[name] for each, _ in own.get(source, ()))
        hidden = operation and is_backward and _BACKWARD not in operation
        found[name] = [(f"{_BACKWARD}{operation})" if hidden else operation, 1.0)]
    return found


def _sources(instruction, by_name, own, costly):
    """The values that an instruction reads, through instructions without a name, which move them."""
    found, pending = set(), list(instruction.operands)
    while pending:
        name = pending.pop()
        each = by_name.get(name)
        if each is None or name in found:
            continue
        if own[name] or name in costly or not each.operands:
            found.add(name)
        else:
            pending += each.operands
    return found


def _scope(operation):
    """The scopes of an operation without the transformations around them."""
    return tuple(each for each in re.findall(r"\w+", operation.rpartition("/")[0]) if each not in _TRANSFORMATIONS)


def parts_of(instruction, computations):
    """The instructions that compute ``instruction``, if it is fused."""
    if instruction.opcode not in _COMPUTED_BY:
        return [instruction]
    return [
        part
        for name in instruction.called
        for inner in computations.get(name, ())
        for part in parts_of(inner, computations)
    ]


def _shares(parts):
    # Names without a path are those of functions that several operations share.
    named = [part for part in parts if "/" in part.op_name and part.opcode not in _FREE]
    named = [part for part in named if part.opcode in _COSTLY] or named
    total = sum(part.elements for part in named)
    return [(part.op_name, part.elements / total) for part in named] if total else []
