"""Searches texts for regular expressions in linear time.

Python's own engine tries again and again: a pattern that a caller chooses can keep it busy for
years. Here a pattern becomes an automaton whose states are made as texts need them, so that each
character of a text is one look into a dictionary, or one step of all the places in the pattern
that may be reached at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NoReturn

from footplate.wire.logging_v2.pattern_syntax import (
    BadPattern,
    Branches,
    Characters,
    Node,
    Place,
    Repeat,
    Sequence,
    parse_pattern,
)

MAX_STEPS = 1000
"""Of a pattern, with each repetition written out."""
MAX_CHARACTERS = 4096
"""Of a text: what comes after them is not looked at."""
_MAX_PARTS = 20 * MAX_STEPS
"""Of a pattern, also those that take no step: an empty group may be repeated, too."""
_MAX_KEPT = 100_000
"""Of one pattern: moves, and steps of all states, some 64 bytes each. Then all are forgotten, and
made anew."""
_EDGE, _NEWLINE, _WORD, _OTHER = "edge", "newline", "word", "other"


class _State(dict[str, "_State | None"]):
    """A state of the search; maps characters to next states, None: the pattern is found.

    ``steps`` are the possible places of the search in the pattern; ``before`` is the kind of the
    character that was read last.
    """

    def __init__(self, steps: frozenset[int], before: str) -> None:
        self.steps: Final = steps
        self.before: Final = before


class LinearPattern:
    """A compiled pattern; patterns with the same text are equal."""

    def __init__(self, text: str) -> None:
        """Compiles a pattern. Raises BadPattern."""
        self.text = text
        program = _Program()
        program.add(parse_pattern(text))
        self._ways = program.ways
        self._found = len(program.ways)
        self._states: dict[tuple[frozenset[int], str], _State] = {}
        self._kept = 0

    @property
    def steps(self) -> int:
        """Returns the number of places in the pattern, with each repetition written out."""
        return self._found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearPattern) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def search(self, text: str) -> bool:
        """Returns whether the pattern matches somewhere in ``text``."""
        state = self._state(frozenset({0}), _EDGE)
        for character in text[:MAX_CHARACTERS]:
            try:
                following = state[character]
            except KeyError:
                following = self._move(state, character)
            if following is None:
                return True
            state = following
        return self._found in self._reached(state, _EDGE)

    def _state(self, steps: frozenset[int], before: str) -> _State:
        key = (steps, before)
        if key not in self._states:
            self._keep(len(steps))
            self._states[key] = _State(steps, before)
        return self._states[key]

    def _keep(self, size: int) -> None:
        self._kept += size
        if self._kept > _MAX_KEPT:
            self._states.clear()
            self._kept = 0

    def _move(self, state: _State, character: str) -> _State | None:
        kind = _kind(character)
        reached = self._reached(state, kind)
        following = None
        if self._found not in reached:
            # Step 0 is the beginning, from which the search may start anew at each character.
            after = {step + 1 for step in reached if self._takes(step, character)}
            following = self._state(frozenset({0, *after}), kind)
        self._keep(1)
        state[character] = following
        return following

    def _takes(self, step: int, character: str) -> bool:
        way = self._ways[step]
        return isinstance(way, Characters) and way.holds(character)

    def _reached(self, state: _State, after: str) -> set[int]:
        """Returns all steps reached before the next character, whose kind is ``after``."""
        reached: set[int] = set()
        waiting = [*state.steps]
        while waiting:
            step = waiting.pop()
            if step in reached:
                continue
            reached.add(step)
            if step == self._found:
                continue
            way = self._ways[step]
            if isinstance(way, tuple):
                waiting += way
            elif isinstance(way, Place) and _is_at(way, state.before, after):
                waiting.append(step + 1)
        return reached


class _Program:
    """The steps of a pattern: each takes a character or place, or leads to other steps."""

    def __init__(self) -> None:
        self.ways: list[Characters | Place | tuple[int, ...]] = []
        self._parts = 0

    def add(self, node: Node) -> None:
        """Adds the steps of a node. Raises BadPattern: the pattern is too large."""
        self._parts += 1
        if self._parts > _MAX_PARTS:
            self._refuse()
        match node:
            case Characters() | Place():
                self._step(node)
            case Sequence():
                for part in node.parts:
                    self.add(part)
            case Branches():
                self._add_branches(node.branches)
            case Repeat():
                self._add_repeat(node)

    def _step(self, way: Characters | Place | tuple[int, ...]) -> int:
        if len(self.ways) >= MAX_STEPS:
            self._refuse()
        self.ways.append(way)
        return len(self.ways) - 1

    def _refuse(self) -> NoReturn:
        raise BadPattern(
            f"the expression is too large: it has more than {MAX_STEPS} steps, with all repetitions"
        )

    def _add_branches(self, branches: Iterable[Node]) -> None:
        """Adds branches: a step before each leads to the next, one after each to the end."""
        ends = []
        for branch in branches:
            fork = self._step(())
            self.add(branch)
            ends.append(self._step(()))
            self.ways[fork] = (fork + 1, len(self.ways))
        last = self._step(())  # that the last fork leads to: nothing follows there
        for end in ends:
            self.ways[end] = (last + 1,)

    def _add_repeat(self, repeat: Repeat) -> None:
        for _ in range(repeat.least):
            self.add(repeat.part)
        if repeat.most is None:
            fork = self._step(())
            self.add(repeat.part)
            self._step((fork,))
            self.ways[fork] = (fork + 1, len(self.ways))
            return
        forks = []
        for _ in range(repeat.most - repeat.least):
            forks.append(self._step(()))
            self.add(repeat.part)
        for fork in forks:
            self.ways[fork] = (fork + 1, len(self.ways))


def _kind(character: str) -> str:
    if character == "\n":
        return _NEWLINE
    return _WORD if character.isascii() and (character.isalnum() or character == "_") else _OTHER


def _is_at(place: Place, before: str, after: str) -> bool:
    match place.kind:
        case "^":
            return before == _EDGE
        case "$":
            return after == _EDGE
        case "^m":
            return before in (_EDGE, _NEWLINE)
        case "$m":
            return after in (_EDGE, _NEWLINE)
        case kind:
            return ((before == _WORD) != (after == _WORD)) == (kind == "b")
