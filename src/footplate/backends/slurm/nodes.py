"""Nodes of Slurm as slurmrestd has them, and what they could hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from footplate.backends.engine.engine import NodeState
from footplate.backends.slurm.rest_job import read_memory_mb

MAX_NAMES = 100_000
OFF = frozenset({"POWERED_DOWN", "POWERED_OFF"})
DRAINING = frozenset({"DRAIN", "DRAINED", "DRAINING"})
SILENT = frozenset({"NOT_RESPONDING", "NO_RESPOND", "DOWN", "UNKNOWN", "FAIL"})
"""States of nodes, and flags beside them."""
_RANGES = re.compile(r"([^\[\],]*)\[([^\]]+)\](.*)")
_PARTS = re.compile(r"(?:[^,\[]|\[[^\]]*(?:\]|$))+")
_STATES = re.compile(r"[A-Z_]+")
_FEATURE = re.compile(r"[A-Za-z0-9_.:=-]+")


@dataclass(frozen=True)
class SlurmNode:
    name: str
    state: str
    cpus: int
    memory_mb: int
    gres: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    silent: bool = False
    """It doesn't answer Slurm: something may still run there."""
    booted_s: float = 0.0
    daemon_started_s: float = 0.0
    """When it was booted, and its slurmd started, in Unix time; 0: unknown."""


def describe(node: SlurmNode) -> str:
    parts = [f"{node.name}: {node.state}, {node.cpus} CPUs, {node.memory_mb} MB"]
    parts += [f"GRES {','.join(node.gres)}"] if node.gres else []
    parts += [f"features {','.join(node.features)}"] if node.features else []
    return ", ".join(parts)


def split_state(state: str) -> frozenset[str]:
    """Returns the state and the flags in a word such as ``IDLE+CLOUD+POWERED_DOWN``."""
    return frozenset(_STATES.findall(state.upper()))


def see_state(node: SlurmNode) -> NodeState:
    """Returns the state of a node. One that Slurm only begins to power down isn't off."""
    off = not OFF.isdisjoint(split_state(node.state))
    return NodeState(
        node.name,
        silent=node.silent,
        booted_s=node.booted_s,
        daemon_started_s=node.daemon_started_s,
        off="is powered off in Slurm" if off else "",
        draining=not DRAINING.isdisjoint(split_state(node.state)),
    )


def expand(nodes: str) -> frozenset[str]:
    """Returns the names in a list of nodes such as ``n[1-2,04],m3``.

    Raises:
        ValueError: ``nodes`` isn't such a list, or is far too long.
    """
    names: set[str] = set()
    for name in chain.from_iterable(map(_expand, _parts(nodes))):
        names.add(name)
        if len(names) > MAX_NAMES:
            raise ValueError(f"Slurm's list {nodes[:100]!r} names more than {MAX_NAMES} nodes")
    return frozenset(names)


def _parts(nodes: str) -> Iterator[str]:
    """Splits a list of nodes at the commas outside brackets."""
    for part in _PARTS.findall(nodes):
        if part.count("[") != part.count("]"):
            raise ValueError(f"Slurm's answer {nodes[:100]!r} is not a list of nodes")
        yield part


def _expand(part: str) -> Iterator[str]:
    found = _RANGES.fullmatch(part)
    if found is None:
        yield part
        return
    before, ranges, after = found.groups()
    for each in ranges.split(","):
        first, _, last = each.partition("-")
        last = last or first
        if not (first.isdigit() and last.isdigit()) or int(last) - int(first) >= MAX_NAMES:
            raise ValueError(f"Slurm's answer {part[:100]!r} is not a list of nodes")
        for number in range(int(first), int(last) + 1):
            for end in _expand(after) if after else ("",):
                yield f"{before}{number:0{len(first)}}{end}"


def why_none_fits(nodes: Iterable[SlurmNode], options: Mapping[str, str]) -> str | None:
    """Returns why no node could ever hold one task of a job with these options; None if one may.

    Checks only single features (also joined by ``&``), GRES, CPUs and memory.
    """
    left = list(nodes)
    for feature in _features(options.get("constraint", "")):
        left = [node for node in left if feature in node.features]
        if not left:
            return f"no node has the feature {feature}"
    for wanted in filter(None, options.get("gres", "").split(",")):
        left = [node for node in left if _has_gres(node, wanted)]
        if not left:
            return f"no node that meets the other options has the GRES {wanted}"
    cpus = int(options.get("cpus-per-task", "1"))
    left = [node for node in left if node.cpus >= cpus]
    if not left:
        return f"no node that meets the other options has {cpus} CPUs"
    memory_mb = read_memory_mb(options.get("mem", "0"))
    memory_mb = memory_mb or cpus * read_memory_mb(options.get("mem-per-cpu", "0"))
    if not any(node.memory_mb >= memory_mb for node in left):
        return f"no node that meets the other options has {memory_mb} MB of memory"
    return None


def _features(constraint: str) -> list[str]:
    """Returns the features that a node must all have; none for another kind of expression."""
    names = [name.strip() for name in re.split("[&,]", constraint) if name.strip()]
    return names if all(_FEATURE.fullmatch(name) for name in names) else []


def _has_gres(node: SlurmNode, wanted: str) -> bool:
    """Returns whether a node has the ``wanted`` resources.

    ``gpu:2`` is satisfied by ``gpu:t4:4`` and by ``gpu:4(S:0-1)``; ``gpu:t4:2`` only by the former.
    """
    name, count = _read_gres(wanted)
    kept = [_read_gres(each) for each in node.gres]
    return sum(n for held, n in kept if held == name or held.startswith(f"{name}:")) >= count


def _read_gres(text: str) -> tuple[str, int]:
    name, colon, count = text.partition("(")[0].rpartition(":")
    return (name, int(count)) if colon and count.isdigit() else (text.partition("(")[0], 1)
