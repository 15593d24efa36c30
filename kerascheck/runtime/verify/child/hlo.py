"""Names of the operations in a program that XLA has compiled, by instruction."""

import re

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\(")
_NAME = re.compile(r'op_name="([^"]*)"')
_CALLED = re.compile(r"(?:calls|to_apply)=%?([\w.-]+)")
_OPERAND = re.compile(r"%([\w.-]+)")
_SHAPE = re.compile(r"\[([\d,]*)\]")
_COMPUTED_BY = ("fusion", "call")
_COSTLY = ("dot", "convolution", "custom-call")
_FREE = ("parameter", "constant", "bitcast", "tuple", "get-tuple-element", "broadcast", "iota")


class Instruction:
    """An instruction of a program."""

    def __init__(self, name, opcode, op_name, elements, called, operands):
        self.name = name
        self.opcode = opcode
        self.op_name = op_name  # name of the operation that it comes from; may be empty
        self.elements = elements  # number of elements of its result
        self.called = called  # names of the computations that it calls
        self.operands = operands  # names of instructions


def of_text(text):
    """The computations of a program in XLA's text format: lists of :class:`Instruction` by name."""
    found: dict = {}
    current: list = []
    for line in text.splitlines():
        begun = _COMPUTATION.match(line)
        if begun:
            current = found.setdefault(begun[1], [])
        elif made := _INSTRUCTION.match(line):
            named = _NAME.search(line)
            called = _CALLED.findall(line)
            operands = _OPERAND.findall(line[made.end() :].partition(")")[0])
            op_name = named[1] if named else ""
            current.append(Instruction(made[1], made[3], op_name, _elements(made[2]), called, operands))
    return found


def _elements(shape):
    counts = []
    for dimensions in _SHAPE.findall(shape):
        count = 1
        for size in filter(None, dimensions.split(",")):
            count *= int(size)
        counts.append(count)
    return max(counts, default=1)


def of_proto(module):
    """Like :func:`of_text`, for a message ``HloModuleProto``."""
    names = {computation.id: computation.name for computation in module.computations}
    instructions = {each.id: each.name for computation in module.computations for each in computation.instructions}
    return {
        computation.name: [
            Instruction(
                each.name, each.opcode, each.metadata.op_name, _product(each.shape.dimensions),
                [names[called] for called in each.called_computation_ids if called in names],
                [instructions[operand] for operand in each.operand_ids if operand in instructions],
            )
            for each in computation.instructions
        ]
        for computation in module.computations
    }  # fmt: skip


def _product(sizes):
    count = 1
    for size in sizes:
        count *= max(1, size)
    return count


def names_of(computations):
    """(Name of an operation, weight) pairs by instruction; the weights of an instruction add up to 1.

    A fused instruction has those of its parts: of its products and convolutions if it has some, or else of all parts by
    the number of their elements. An instruction that XLA adds has those of the instruction that reads its result.
    """
    found = {}
    for instructions in computations.values():
        own = {each.name: _shares(_parts(each, computations)) for each in instructions}
        for each in reversed(instructions):  # operands come first
            for operand in each.operands if own[each.name] else ():
                if operand in own and not own[operand]:
                    own[operand] = own[each.name]
        found.update(own)
    return found


def _parts(instruction, computations):
    """The instructions that compute ``instruction``, if it is fused."""
    if instruction.opcode not in _COMPUTED_BY:
        return [instruction]
    return [
        part
        for name in instruction.called
        for inner in computations.get(name, ())
        for part in _parts(inner, computations)
    ]


def _shares(parts):
    # Names without a path are those of functions that several operations share.
    named = [part for part in parts if "/" in part.op_name and part.opcode not in _FREE]
    named = [part for part in named if part.opcode in _COSTLY] or named
    total = sum(part.elements for part in named)
    return [(part.op_name, part.elements / total) for part in named]
