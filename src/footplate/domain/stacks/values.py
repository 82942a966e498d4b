"""Stack traces of one replica, and the comparison of all."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Frame:
    """``line`` is 0 if unknown."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Thread:
    """``frames`` from the innermost one outwards; ``omitted`` outer ones are left out."""

    name: str
    frames: tuple[Frame, ...]
    omitted: int = 0


@dataclass(frozen=True)
class Process:
    """A Python process of a replica's program.

    ``program``: it is what the replica was started with, and not a child of that. ``stopped``: by
    a signal. ``threads``: the main one first; none where there is an ``error``.
    """

    pid: int
    command: str
    program: bool
    stopped: bool = False
    threads: tuple[Thread, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Dump:
    """All of one replica; ``omitted`` processes are left out."""

    processes: tuple[Process, ...]
    omitted: int = 0


@dataclass(frozen=True)
class Member:
    """The main thread of one process."""

    replica: str
    pid: int
    command: str
    stopped: bool = False


@dataclass(frozen=True)
class Spot:
    """Those that stand at the very same frames, from the innermost one outwards."""

    members: tuple[Member, ...]
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Place:
    """Spots that are alike but for the innermost frames; the most crowded one first."""

    spots: tuple[Spot, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        return tuple(member for spot in self.spots for member in spot.members)


@dataclass(frozen=True)
class Missing:
    """Of a replica, or one of its processes, nothing is known."""

    replica: str
    reason: str


@dataclass(frozen=True)
class Comparison:
    """``places`` of the programs, the most crowded one first; ``children``: of their children.

    ``majority``: more than half of the programs stand in the first place.
    """

    places: tuple[Place, ...]
    children: tuple[Place, ...]
    missing: tuple[Missing, ...]
    majority: bool


@dataclass(frozen=True)
class Report:
    """The comparison, and the stack traces of all replicas by name."""

    comparison: Comparison
    dumps: dict[str, Dump] = field(default_factory=dict)
