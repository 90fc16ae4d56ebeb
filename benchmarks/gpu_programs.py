"""Kernels, loops and bytes of a program that XLA compiled for a GPU, from the texts that it dumps.

A program is a tree of loops. XLA's thunks say which kernels a loop launches, which of them lie in a
CUDA graph, and so where the host waits for the device; its HLO says what each kernel reads and
writes.
"""

import math
import re
from dataclasses import dataclass, field

LOOSE_LAUNCH, GRAPH_NODE, HOST_SYNC, DEVICE_TURN = 2.5e-6, 1.7e-6, 12e-6, 3e-6
"""The model's seconds: of a kernel launched by the host, of one in a graph, of a value that the
host waits for, of a turn of a loop in a graph."""
BYTES_PER_SECOND = 0.8 * 4.3e12
OPERATIONS_PER_SECOND = 132 * 64 * 1.98e9
"""Of one NVIDIA H200: elementwise operations on 32-bit integers, one a lane of half the cores."""

_SIZES = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2}
_SIZES |= {"s64": 8, "u64": 8, "f64": 8}
_FREE = {"parameter", "constant", "get-tuple-element", "tuple", "bitcast", "after-all", "iota"}
_NO_OPERATION = _FREE | {"broadcast"}  # in a fusion: each thread reads the same number
_SHAPE = re.compile(r"\b(pred|[su]\d+|b?f\d+)\[([\d,]*)\]")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (.*)$")
_OPCODE = re.compile(r"(?:^|[})\]] )([a-z][a-z\-]*)\(")


@dataclass
class Work:
    """Work of one turn of a loop, its inner loops left out."""

    seconds: float = 0.0  # of kernels, by their bytes and operations, each at least a launch
    moved: int = 0  # bytes read and written
    scatters: int = 0
    sorts: int = 0


@dataclass
class Loop:
    """A loop (or the program itself, or a branch) of a compiled program."""

    kernels: int = 0  # a turn, condition included, inner loops left out
    syncs: int = 0  # a turn: values that the host waits for, inner loops left out
    in_graph: bool = False
    is_branch: bool = False
    work: Work = field(default_factory=Work)
    inner: list["Loop"] = field(default_factory=list)

    def total(self, name):
        """A count of the work of a turn, with one turn of each inner loop."""
        return getattr(self.work, name) + sum(loop.total(name) for loop in self.inner)

    def own_seconds(self):
        """The model's seconds of a turn, inner loops left out."""
        return self.work.seconds + self.syncs * HOST_SYNC + (DEVICE_TURN if self.in_graph else 0.0)


def program_of(thunks, hlo):
    """The program as a tree of loops.

    Args:
      thunks: text of XLA's `*thunk_sequence_after_thunk_passes.txt`.
      hlo: text of its `*gpu_after_optimizations.txt`.
    """
    module = _Module(hlo)
    launched = _Thunk("program", -1)
    stack = [launched]
    for line in thunks.splitlines():
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if text == "condition:":
            stack[-1].section = stack[-1].condition
        elif found := re.search(r"( *)body:$", line):  # a condition without thunks ends no line
            while stack[-1].indent != len(found[1]) - 2:
                stack.pop()
            stack[-1].section = stack[-1].body
        elif found := re.match(r"\d+: (k\w+)\s*\[", text):
            thunk = _Thunk(found[1], indent)
            while stack[-1].indent >= indent:
                stack.pop()
            stack[-1].section.append(thunk)
            if thunk.kind in ("kWhile", "kCommandBuffer", "kConditional"):
                stack.append(thunk)
    return _loop(launched.body, [], False, module.tree(module.entry), module)


class _Thunk:
    def __init__(self, kind, indent):
        self.kind, self.indent, self.condition, self.body = kind, indent, [], []
        self.section = self.body


def _loop(body, condition, in_graph, node, module):
    """The loop of these thunks, which are those of a node of the HLO's tree of loops."""
    loop = Loop(in_graph=in_graph)
    nested = []
    loose = _count(body, in_graph, loop, nested) + _count(condition, in_graph, loop, [])
    share = loose / loop.kernels if loop.kernels else 0.0
    launch = share * LOOSE_LAUNCH + (1.0 - share) * GRAPH_NODE
    loop.work = module.work(node.instructions, launch)
    for (thunk, graph), inner in zip(nested, node.inner, strict=True):
        found = _loop(thunk.body, thunk.condition, graph, inner, module)
        found.syncs += not graph and not inner.has_known_trips
        found.is_branch = thunk.kind == "kConditional"
        loop.inner.append(found)
    return loop


def _count(thunks, in_graph, loop, nested):
    """Counts kernels into a loop and collects what is nested in it; returns the loose kernels."""
    loose = 0
    for thunk in thunks:
        if thunk.kind == "kCommandBuffer":
            _count(thunk.body, True, loop, nested)
        elif thunk.kind in ("kWhile", "kConditional"):
            nested.append((thunk, in_graph))
        else:
            loop.kernels += 1
            loose += not in_graph
    return loose


@dataclass
class _Node:
    """A loop of the HLO."""

    instructions: list
    inner: list
    has_known_trips: bool


class _Module:
    """Computations of an HLO module, by name."""

    def __init__(self, text):
        self.computations, self.entry = {}, ""
        current = None
        for line in text.splitlines():
            if line.endswith("{") and not line.startswith(" "):
                name = line.removeprefix("ENTRY ").split(" ", 1)[0].lstrip("%")
                self.entry = name if line.startswith("ENTRY") else self.entry
                current = self.computations[name] = {}
            elif current is not None and (found := _INSTRUCTION.match(line)):
                current[found[1]] = _Instruction(found[2])

    def tree(self, name, has_known_trips=True):
        own, inner = [], []
        for instruction in self.computations[name].values():
            if instruction.opcode == "while":
                trips = "known_trip_count" in instruction.text
                body = self.tree(instruction.called("body"), trips)
                condition = self.tree(instruction.called("condition"))
                body.instructions += condition.instructions
                inner.append(body)
            elif instruction.opcode == "conditional":
                branches = re.findall(r"(?:true|false)_computation=%?([\w.\-]+)", instruction.text)
                names = re.findall(r"branch_computations={([^}]*)}", instruction.text)
                branches += [x.strip(" %") for x in names[0].split(",")] if names else []
                nodes = [self.tree(branch) for branch in branches]
                largest = max(nodes, key=lambda node: len(node.instructions))
                inner.append(
                    _Node(largest.instructions, [i for n in nodes for i in n.inner], False)
                )
            elif instruction.opcode == "call":
                called = self.tree(instruction.called("to_apply"))
                own, inner = own + called.instructions, inner + called.inner
            elif instruction.opcode not in _FREE:
                own.append((name, instruction))
        return _Node(own, inner, has_known_trips)

    def work(self, instructions, launch):
        done = Work()
        for name, instruction in instructions:
            fused = self.computations.get(instruction.called("calls") or "", {})
            if instruction.opcode != "fusion":
                fused = {}
            inside = [x for x in fused.values() if x.opcode not in _NO_OPERATION]
            operands = [self.computations[name].get(x) for x in instruction.operands]
            parameters = {x.number: key for key, x in fused.items() if x.opcode == "parameter"}
            moved = self._written(fused, instruction)
            for i, operand in enumerate(operands):
                whole = operand.bytes if operand is not None else 0
                moved += _read(fused, parameters[i], whole) if i in parameters else whole
            operations = sum(x.size for x in inside)
            done.seconds += max(
                launch, moved / BYTES_PER_SECOND, operations / OPERATIONS_PER_SECOND
            )
            done.moved += moved
            all_of_it = (instruction, *inside)
            done.scatters += sum(x.opcode == "scatter" for x in all_of_it)
            done.sorts += sum("sort" in (x.opcode + x.target).lower() for x in all_of_it)
        return done

    @staticmethod
    def _written(fused, instruction):
        """Bytes that a kernel writes: of what it changes in place, the change."""
        changes = [x for x in fused.values() if x.opcode in ("scatter", "dynamic-update-slice")]
        if not changes:
            return instruction.bytes
        return sum(
            2 * _bytes(fused, x.operands[-1 if x.opcode == "scatter" else 1]) for x in changes
        )


def _bytes(fused, name):
    return fused[name].bytes if name in fused else 0


def _read(fused, parameter, whole):
    """Bytes that a fusion reads of a parameter: of one that is only sliced, the slices."""
    part, seen = 0, {parameter}
    for key, user in fused.items():  # in order: operands come first
        if seen.isdisjoint(user.operands):
            continue
        is_first = user.operands[0] in seen
        if user.opcode == "bitcast":
            seen.add(key)
        elif user.opcode in ("dynamic-slice", "slice", "gather") and is_first:
            part += user.bytes
        elif not (user.opcode in ("scatter", "dynamic-update-slice") and is_first):
            return whole
    return min(part, whole)


class _Instruction:
    def __init__(self, text):
        self.text = text
        found = _OPCODE.search(text)
        self.opcode = found[1] if found else ""
        shape, rest = (text[: found.start(1)], text[found.end() :]) if found else (text, "")
        sizes = [
            (math.prod(int(d) for d in dims.split(",") if d), _SIZES.get(kind, 4))
            for kind, dims in _SHAPE.findall(shape)
        ]
        self.bytes = sum(number * size for number, size in sizes)
        self.size = sum(number for number, _ in sizes)
        arguments = rest.split(")", 1)[0]
        self.operands = re.findall(r"%([\w.\-]+)", arguments)
        self.number = int(arguments) if self.opcode == "parameter" else -1
        target = re.search(r'custom_call_target="([^"]*)"', text)
        self.target = target[1] if target else ""

    def called(self, what):
        found = re.search(rf"\b{what}=%?([\w.\-]+)", self.text)
        return found and found[1]
