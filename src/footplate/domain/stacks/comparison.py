"""Compares ranks by the position of their main threads.

Ranks of a gang run the same code: in a hang most of them wait in the same place for the one that
isn't there. Places count as the same when their frames differ as those of somebody who waits in a
loop do from one moment to the next: by the line of the innermost function, or by a call or two
that it makes. Who is in another function, or came there from another line, is elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.stacks.values import Comparison, Member, Missing, Place, Spot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from footplate.domain.stacks.values import Dump, Frame

INNERMOST = 2
"""So many calls further in is still the same place."""

_Standing = tuple[Member, tuple["Frame", ...]]


def compare(dumps: Mapping[str, Dump], missing: Iterable[Missing]) -> Comparison:
    """``dumps`` by replica, in the order of the job's replicas."""
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
                reason = process.error or "no Python code runs in it"
                unknown.append(Missing(replica, f"process {process.pid}: {reason}"))
    places = _find_places(programs)
    crowd = len(places[0].members) if places else 0
    majority = len(programs) > 1 and 2 * crowd > len(programs)
    return Comparison(places, _find_places(children), tuple(unknown), majority)


def shared(one: Sequence[Frame], other: Sequence[Frame]) -> int:
    """How many frames, from the outermost one inwards, are the same."""
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a is not b and a != b:
            break
        count += 1
    return count


def is_near(one: Sequence[Frame], other: Sequence[Frame]) -> bool:
    """Whether they differ in the innermost frames only; see above."""
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
    """The most crowded first; of those as crowded, the one whose first member comes first."""
    found: dict[tuple[Frame, ...], list[Member]] = {}
    for member, frames in standing:
        found.setdefault(frames, []).append(member)
    spots = [Spot(tuple(members), frames) for frames, members in found.items()]
    return sorted(spots, key=lambda spot: -len(spot.members))
