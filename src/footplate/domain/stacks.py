"""Stack traces of a job's processes: values, their comparison, and a text that describes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from footplate.domain.formatting import joined, listed


@dataclass(frozen=True)
class Frame:
    """One frame of a stack trace; ``line`` is 0 if unknown."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Thread:
    """The stack trace of a thread.

    ``frames`` go from the innermost one outwards; the ``omitted`` outermost frames are missing.
    """

    name: str
    frames: tuple[Frame, ...]
    omitted: int = 0


@dataclass(frozen=True)
class Process:
    """A Python process of a replica's program.

    ``program``: it is the process that the replica was started with, not one of its children.
    ``stopped``: by a signal. ``threads`` begin with the main one; they are empty if there is an
    ``error``.
    """

    pid: int
    command: str
    program: bool
    stopped: bool = False
    threads: tuple[Thread, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Dump:
    """The stack traces of all processes of a replica; ``omitted`` processes are missing."""

    processes: tuple[Process, ...]
    omitted: int = 0


@dataclass(frozen=True)
class Member:
    """The main thread of a process, as one of the threads that are compared."""

    replica: str
    pid: int
    command: str
    stopped: bool = False


@dataclass(frozen=True)
class Spot:
    """Threads that are at exactly the same frames, listed from the innermost one outwards."""

    members: tuple[Member, ...]
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Place:
    """Spots that differ only in the innermost frames; the one with the most threads comes first."""

    spots: tuple[Spot, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        return tuple(member for spot in self.spots for member in spot.members)


@dataclass(frozen=True)
class Missing:
    """A replica, or one of its processes, whose stack trace is unknown."""

    replica: str
    reason: str


@dataclass(frozen=True)
class Comparison:
    """The places where programs and their children are.

    ``places`` are of the programs, ``children`` of their child processes; the place with the most
    threads comes first. ``majority``: more than half of the programs are at the first place.
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


INNERMOST = 2
"""So many calls further in is still the same place."""

_Standing = tuple[Member, tuple[Frame, ...]]


def compare(dumps: Mapping[str, Dump], missing: Iterable[Missing]) -> Comparison:
    """Compares stack traces; ``dumps`` are by replica, in the order of the job's replicas."""
    programs: list[_Standing] = []
    children: list[_Standing] = []
    unknown = [*missing]
    known: dict[Frame, Frame] = {}
    for replica, dump in dumps.items():
        for process in dump.processes:
            frames = process.threads[0].frames if process.threads else ()
            # Each frame once: where there are hundreds of processes, identity is compared faster.
            frames = tuple(known.setdefault(frame, frame) for frame in frames)
            member = Member(replica, process.pid, process.command, process.stopped)
            if frames:
                (programs if process.program else children).append((member, frames))
            else:
                reason = process.error or "the process runs no Python code"
                unknown.append(Missing(replica, f"process {process.pid}: {reason}"))
    places = _find_places(programs)
    crowd = len(places[0].members) if places else 0
    majority = len(programs) > 1 and 2 * crowd > len(programs)
    return Comparison(places, _find_places(children), tuple(unknown), majority)


def shared(one: Sequence[Frame], other: Sequence[Frame]) -> int:
    """Returns how many frames two stacks share, counted from the outermost one inwards."""
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a is not b and a != b:
            break
        count += 1
    return count


def is_near(one: Sequence[Frame], other: Sequence[Frame]) -> bool:
    """Returns whether two stacks differ in the innermost frames only, by at most ``INNERMOST``."""
    short, long = sorted((len(one), len(other)))
    if short > 1 and one[1 - short :] != other[1 - short :]:  # most are not: a fast check
        return False
    same = shared(one, other)
    if same == short > 0:
        return long - short <= INNERMOST
    if not same == long - 1 == short - 1:
        return False
    return (one[0].function, one[0].file) == (other[0].function, other[0].file)


def _find_places(standing: Sequence[_Standing]) -> tuple[Place, ...]:
    rest = _find_spots(standing)
    places = []
    while rest:
        head = rest[0]
        near: list[Spot] = [head]
        others: list[Spot] = []
        for spot in rest[1:]:
            (near if is_near(spot.frames, head.frames) else others).append(spot)
        rest = others
        places.append(Place(tuple(near)))
    return tuple(sorted(places, key=lambda place: -len(place.members)))


def _find_spots(standing: Sequence[_Standing]) -> list[Spot]:
    """Groups threads by their frames; the largest group comes first, of equals the earlier."""
    found: dict[tuple[Frame, ...], list[Member]] = {}
    for member, frames in standing:
        found.setdefault(frames, []).append(member)
    spots = [Spot(tuple(members), frames) for frames, members in found.items()]
    return sorted(spots, key=lambda spot: -len(spot.members))


SHOWN = 12
"""Frames of a spot, the innermost ones."""
_PACKAGES = re.compile(r".*/(?:(?:site|dist)-packages|lib(?:64)?/python[0-9.]+)/", re.DOTALL)
_STARTING = ("_run_code", "_run_module_as_main", "_run_module_code", "run_path", "run_module")
"""What ``python -m`` itself does, in runpy."""


def describe(comparison: Comparison) -> str:
    """Describes place by place, and names the processes that differ from the majority."""
    places, majority = comparison.places, comparison.majority
    total = sum(len(place.members) for place in places)
    blocks = []
    if len(places) > 1 and not majority:
        blocks.append(["No place in the code has more than half of the processes."])
    blocks += [_describe_place(place, total) for place in places[: 1 if majority else None]]
    blocks += [_describe_other(place, places[0]) for place in places[1:] if majority]
    blocks += [_describe_children(place) for place in comparison.children]
    if comparison.missing:
        unknown = [f"  {each.replica}: {each.reason}" for each in comparison.missing]
        blocks.append(["Not known:", *unknown])
    return "\n\n".join("\n".join(block) for block in blocks)


def place_name(frame: Frame) -> str:
    """Formats a frame: ``all_reduce (torch/distributed/distributed_c10d.py:2501)``."""
    line = f":{frame.line}" if frame.line else ""
    return f"{frame.function} ({shorten(frame.file)}{line})"


def shorten(file: str) -> str:
    """Returns the part of a path below the installed packages, or its last two names."""
    packages = _PACKAGES.match(file)
    return file[packages.end() :] if packages else "/".join(file.rsplit("/", 2)[-2:])


def _describe_place(place: Place, total: int) -> list[str]:
    count, frames = len(place.members), place.spots[0].frames
    share = f" ({count} of {total})" if total > 1 else ""
    verb = "is" if count == 1 else "are"
    head = f"{_names(place.members)}{share} {verb} in {place_name(frames[0])}"
    return [head, *_list_frames(frames), *_describe_steps(place)]


def _describe_other(place: Place, first: Place) -> list[str]:
    """Describes a place that differs from the majority's place."""
    frames = place.spots[0].frames
    verb = "differs: it is" if len(place.members) == 1 else "differ: they are"
    head = f"{_names(place.members)} {verb} in {place_name(frames[0])}"
    parting = _describe_parting(frames, first.spots[0].frames)
    return [head, *_list_frames(frames), *_describe_steps(place), *parting]


def _describe_steps(place: Place) -> list[str]:
    """Describes the members that are near the place, but not at exactly its frames."""
    lines = []
    for spot in place.spots[1:]:
        verb = "is" if len(spot.members) == 1 else "are"
        where = place_name(spot.frames[0])
        lines.append(f"  {_names(spot.members)} {verb} at this place, too, in {where} just now")
    return lines


def _describe_parting(frames: Sequence[Frame], others: Sequence[Frame]) -> list[str]:
    """Describes where these frames depart from the frames of the majority."""
    same = shared(frames, others)
    if not 0 < same < min(len(frames), len(others)):
        return []
    own, theirs = frames[-1 - same], others[-1 - same]
    if (own.function, own.file) != (theirs.function, theirs.file):
        return [f"  (the others are in {place_name(theirs)} instead of {place_name(own)})"]
    lines = f"these are at line {own.line}, the others are at line {theirs.line}"
    return [f"  (in {own.function} of {shorten(own.file)} {lines})"]


def _describe_children(place: Place) -> list[str]:
    spot, count = place.spots[0], len(place.members)
    pids = listed([str(member.pid) for member in place.members])
    what = f"A child process ({pids})" if count == 1 else f"{count} child processes ({pids})"
    verb = "is" if count == 1 else "are"
    owners = joined(list(dict.fromkeys(member.replica for member in place.members)))
    head = f"{what} of {owners} {verb} in {place_name(spot.frames[0])}"
    return [head, *_list_frames(spot.frames)]


def _names(members: Sequence[Member]) -> str:
    stopped = [member.replica for member in members if member.stopped]
    names = listed([member.replica for member in members])
    if not stopped:
        return names
    who = "" if len(stopped) == len(members) else f"{listed(stopped)} "
    return f"{names} ({who}stopped by a signal)"


def _list_frames(frames: Sequence[Frame]) -> Iterator[str]:
    shown = [frame for frame in frames if not _is_starting(frame)] or [*frames]
    for frame in shown[:SHOWN]:
        yield f"  {place_name(frame)}"
    if len(shown) > SHOWN:
        yield f"  ... and {len(shown) - SHOWN} more"


def _is_starting(frame: Frame) -> bool:
    return frame.function in _STARTING and "runpy" in frame.file
