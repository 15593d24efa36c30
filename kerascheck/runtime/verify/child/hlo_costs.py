"""Floating-point operations and bytes of a program that XLA has compiled, from the shapes of its instructions."""

import re

from .hlo import names_of, product

_MOVES = frozenset((
    "parameter", "constant", "bitcast", "tuple", "get-tuple-element", "broadcast", "iota", "copy", "copy-start",
    "copy-done", "reshape", "transpose", "slice", "dynamic-slice", "dynamic-update-slice", "concatenate", "pad",
    "gather", "reverse", "while", "conditional", "after-all", "domain", "opt-barrier", "partition-id", "replica-id",
    "optimization-barrier", "bitcast-convert",
))  # fmt: skip
"""Instructions without arithmetic."""
_NO_TRAFFIC = frozenset((
    "parameter", "constant", "bitcast", "tuple", "get-tuple-element", "while", "conditional", "call", "after-all",
    "domain", "opt-barrier", "optimization-barrier", "partition-id", "replica-id", "copy-done",
))  # fmt: skip
_SLICES = ("slice", "dynamic-slice", "gather")
_FLOATING = re.compile(r"(b?)f(16|32|64)")


class Cost:
    """Work of an operation in a step: an operation of the framework by its name."""

    def __init__(self, name, flops, size, dtype="", products=0.0):
        self.name = name
        self.flops = flops  # None if unknown
        self.bytes = size  # None if unknown
        self.dtype = dtype  # type of the operands of its products
        self.products = products  # operations of these


def costs_of(computations):
    """The :class:`Cost` of each operation in one run of a program.

    Args:
        computations: of :mod:`hlo`; the entry comes last.
    """
    names = names_of(computations)
    *_, entry = computations
    return list(_costs(entry, 1, computations, names))


def _costs(computation, times, computations, names):
    """Costs of a computation that runs ``times`` times; None if that is unknown."""
    instructions = computations.get(computation, ())
    by_name = {each.name: each for each in instructions}
    for each in instructions:
        if each.opcode in ("while", "conditional", "call"):
            runs = 1 if each.opcode == "call" else each.details.trips  # a branch may be taken or not
            inside = None if runs is None or times is None else times * runs
            for called in each.called:
                yield from _costs(called, inside, computations, names)
            continue
        shares = names.get(each.name) or [("", 1.0)]
        size = traffic(each, by_name, computations)
        for name, weight in shares:
            yield Cost(name, 0.0, None if times is None else times * weight * size)
        for part, known in _with_operands(each, by_name, computations):
            yield from _arithmetic(part, known, times, shares)


def _with_operands(instruction, by_name, computations):
    """The parts of an instruction, each with the instructions beside it by name."""
    if instruction.opcode != "fusion":
        return [(instruction, by_name)]
    return [
        found
        for called in instruction.called
        for inner in computations.get(called, ())
        for found in _with_operands(inner, {each.name: each for each in computations[called]}, computations)
    ]


def _arithmetic(part, by_name, times, shares):
    flops = flops_of(part, by_name)
    if flops == 0:
        return
    owned = [(part.op_name, 1.0)] if "/" in part.op_name else shares
    for name, weight in owned:
        if flops is None or times is None:
            yield Cost(name, None, 0.0)
        else:
            is_product = part.opcode in ("dot", "convolution", "custom-call")
            dtype = _type(by_name[part.operands[0]].shapes[0][0]) if is_product else ""
            yield Cost(name, weight * times * flops, 0.0, dtype, weight * times * flops * is_product)


def flops_of(instruction, by_name):
    """Floating-point operations of one instruction that is not fused; None if unknown.

    Args:
        by_name: the instructions beside it.
    """
    opcode = instruction.opcode
    operands = [by_name[name] for name in instruction.operands if name in by_name]
    if opcode in _MOVES or opcode.endswith("-done"):
        return 0
    if opcode == "dot" and operands:
        return _of_dot(instruction, operands[0])
    if opcode == "convolution" and len(operands) == 2:
        return _of_convolution(instruction, *operands)
    if opcode == "custom-call":
        return _of_library(instruction, operands)
    if opcode in ("reduce", "scatter", "sort", "select-and-scatter") and operands:
        return operands[2 if opcode == "scatter" and len(operands) > 2 else 0].elements
    if opcode == "reduce-window":
        return instruction.elements * product(size for size, *_ in instruction.details.window)
    return instruction.elements


def _of_dot(instruction, left):
    contracting = instruction.details.contracting
    if contracting is None:
        return None
    return 2 * product(instruction.shapes[0][1]) * product(left.shapes[0][1][at] for at in contracting)


def _of_convolution(instruction, image, kernel):
    """Multiply-adds with elements of the image: neither padding nor the zeros between its elements count."""
    details = instruction.details
    if details.labels is None:
        return None
    of_image, of_kernel, of_result = details.labels
    image_sizes, kernel_sizes, sizes = image.shapes[0][1], kernel.shapes[0][1], instruction.shapes[0][1]
    positions = 1
    for at, window in enumerate(details.window):
        inner = image_sizes[of_image.index(str(at))]
        positions *= _positions(sizes[of_result.index(str(at))], inner, window)
    rows = image_sizes[of_image.index("b")] // details.groups
    # The kernel has the features of one group.
    return 2 * positions * rows * kernel_sizes[of_kernel.index("i")] * sizes[of_result.index("f")]


def _positions(size, inner, window):
    """Pairs of an element of the result and one of the kernel that meet an element of the image, in one dimension."""
    length, stride, lower, dilation, of_input = window
    last = (inner - 1) * of_input
    return sum(
        0 <= (position := at * stride - lower + each * dilation) <= last and position % of_input == 0
        for at in range(size)
        for each in range(length)
    )


def _of_library(instruction, operands):
    """Products of cuBLAS, and convolutions of cuDNN; None for other calls."""
    details = instruction.details
    target = details.target
    if target.startswith("__cublas$") and operands:
        return _of_dot(instruction, operands[0])
    if not target.startswith("__cudnn$conv") or details.labels is None or len(operands) < 2:
        return None
    # One of the three is the image, one the kernel, one the result of the forward pass.
    result, first, second = (each.shapes[0][1] for each in (instruction, *operands[:2]))
    if target.endswith("BackwardFilter"):
        kernel, outputs = result, second
    else:
        kernel, outputs = second, first if target.endswith("BackwardInput") else result
    return 2 * product(outputs) * product(kernel) // kernel[details.labels[1].index("o")]


def traffic(instruction, by_name, computations):
    """Bytes that an instruction reads and writes; a fused one keeps its intermediate results to itself."""
    if instruction.opcode in _NO_TRAFFIC:
        return 0
    operands = [by_name[name] for name in instruction.operands if name in by_name]
    if instruction.opcode in _SLICES:
        return 2 * size_of(instruction) + sum(size_of(each) for each in operands[1:])
    if instruction.opcode == "dynamic-update-slice":
        return 2 * size_of(operands[1]) if len(operands) > 1 else size_of(instruction)
    if instruction.opcode == "scatter" and len(operands) == 3:
        return 3 * size_of(operands[2]) + size_of(operands[1])
    if instruction.opcode == "fusion" and instruction.called and computations.get(instruction.called[0]):
        return _traffic_of_fusion(instruction, operands, computations[instruction.called[0]])
    return size_of(instruction) + sum(size_of(each) for each in operands)


def _traffic_of_fusion(instruction, operands, inside):
    by_name = {each.name: each for each in inside}
    parameters = {each.details.parameter: each for each in inside if each.opcode == "parameter"}
    read = sum(
        _read(parameters[at], inside, size_of(operand)) if at in parameters else size_of(operand)
        for at, operand in enumerate(operands)
    )
    root = inside[-1]
    results = [by_name[name] for name in root.operands if name in by_name] if root.opcode == "tuple" else [root]
    return read + sum(_written(each, by_name) for each in results)


def _read(parameter, inside, whole):
    """Bytes of a parameter that a fused instruction reads: slices read only their result."""
    users = [each for each in inside if parameter.name in each.operands]
    read = 0
    for user in users:
        if user.operands[0] == parameter.name and user.opcode in _SLICES:
            read += size_of(user)
        elif user.operands[0] == parameter.name and user.opcode == "bitcast":
            read += _read(user, inside, whole)
        elif not (user.operands[0] == parameter.name and user.opcode == "dynamic-update-slice"):
            return whole
    return min(read, whole)


def _written(result, by_name):
    while result.opcode == "bitcast" and result.operands and result.operands[0] in by_name:
        result = by_name[result.operands[0]]
    if result.opcode == "dynamic-update-slice" and len(result.operands) > 1:
        return size_of(by_name[result.operands[1]])
    return size_of(result)


def size_of(instruction):
    """Bytes of the results of an instruction."""
    return sum(_width(kind) * product(sizes) for kind, sizes in instruction.shapes)


def _type(kind):
    """Name of a floating-point type, such as "bfloat16" for "bf16"; empty for others."""
    found = _FLOATING.fullmatch(kind)
    return f"{found[1]}float{found[2]}" if found else ""


def _width(kind):
    """Bytes of an element of a type such as "bf16"; 0 for a token."""
    if kind == "pred":
        return 1
    bits = re.search(r"\d+", kind)
    return int(bits[0]) / 8 if bits else 0
