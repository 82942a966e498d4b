"""Counts the steps of matching a regular expression, as a backtracking matcher takes them.

Unlike time the count is the same on each machine. A finite repeat that is longer than ``_BOUND``
counts as one of that length: it multiplies the steps by a constant, which says nothing of their
growth.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Rest = Callable[[int], bool]
    Matcher = Callable[[int, Rest], bool]

_parser: Any = re._parser  # type: ignore[attr-defined]  # the one that `re` itself uses
_BOUND = 4
_FINITE = 1024
"""A repeat that may be longer than this is as good as one without an end."""
SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")

Node = tuple[str, Any]


class TooManyStepsError(Exception):
    pass


def parse(pattern: re.Pattern[Any]) -> list[Node]:
    """The nodes of the pattern, with the bounds of their repeats made small."""
    return list(_nodes(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)))


def _nodes(tree: Any) -> Iterator[Node]:
    for operator, value in _shorten(list(tree)):
        name = str(operator)
        if name in REPEATS:
            low, high, body = value
            high = None if high > _FINITE else min(high, _BOUND)
            yield name, (min(low, _BOUND), high, list(_nodes(body)))
        elif name == "BRANCH":
            yield name, [list(_nodes(branch)) for branch in value[1]]
        elif name == "SUBPATTERN":
            yield name, (value[0], list(_nodes(value[3])))
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield name, (value[0], list(_nodes(value[1])))
        elif name == "ATOMIC_GROUP":
            yield name, list(_nodes(value))
        else:
            yield name, value


def _shorten(nodes: list[Any]) -> Iterator[Any]:
    """Without the middle of a long text that has to be there as it is."""
    for literal, run in groupby(nodes, lambda node: str(node[0]) == "LITERAL"):
        found = list(run)
        yield from found[:2] + found[-2:] if literal and len(found) > _BOUND else found


def accepts(node: Node, code: int, flags: int) -> bool:
    """Whether a node of one character matches it."""
    name, value = node
    if flags & re.IGNORECASE:
        return any(_accepts(name, _key(value), ord(each), flags) for each in _cases(code))
    return _accepts(name, _key(value), code, flags)


def _cases(code: int) -> set[str]:
    return {each for each in (chr(code).lower(), chr(code).upper()) if len(each) == 1}


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@cache
def _accepts(name: str, value: Any, code: int, flags: int) -> bool:
    if name == "ANY":
        return bool(flags & re.DOTALL) or code != 10
    if name == "IN":
        negated = bool(value) and str(value[0][0]) == "NEGATE"
        return negated != any(_item(str(op), item, code, flags) for op, item in value[negated:])
    return bool((name == "LITERAL") == (code == value))


def _item(operator: str, value: Any, code: int, flags: int) -> bool:
    if operator == "RANGE":
        return bool(value[0] <= code <= value[1])
    if operator == "CATEGORY":
        return _in_category(str(value), code, flags)
    return bool(code == value)


def _in_category(name: str, code: int, flags: int) -> bool:
    ascii_only = not flags & re.UNICODE
    kind, negated = name.removeprefix("CATEGORY_"), False
    if kind.startswith("NOT_"):
        kind, negated = kind.removeprefix("NOT_"), True
    character = chr(code)
    found = {
        "DIGIT": character.isdecimal(),
        "SPACE": character.isspace(),
        "WORD": character.isalnum() or character == "_",
    }[kind]
    return negated != (found and not (ascii_only and code > 127))


class StepCounter:
    """Matches a pattern, and counts. Raises TooManyStepsError above ``limit`` steps."""

    def __init__(self, pattern: re.Pattern[Any], limit: int) -> None:
        self._flags = pattern.flags
        self._limit = limit
        self._left = 0
        self._text: Sequence[int] = ()
        self._groups: dict[int, tuple[int, int]] = {}
        self._matcher = self._sequence(parse(pattern))

    def count(self, text: Sequence[int], method: str) -> int:
        """The steps of one call of the method (``search``: of finding all)."""
        self._text, self._left = text, self._limit
        start, ends = 0, [0]

        def note(at: int) -> bool:
            ends[0] = at
            return method != "fullmatch" or at == len(text)

        while start <= len(text):
            self._groups.clear()
            found = self._matcher(start, note)
            if method != "search":
                break
            start = max(ends[0], start + 1) if found else start + 1
        return self._limit - self._left

    def _spend(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooManyStepsError

    def _sequence(self, nodes: list[Node]) -> Matcher:
        matchers = [self._node(*node) for node in nodes]

        def match(at: int, rest: Rest, index: int = 0) -> bool:
            if index == len(matchers):
                return rest(at)
            return matchers[index](at, lambda end: match(end, rest, index + 1))

        return matchers[0] if len(matchers) == 1 else match

    def _node(self, name: str, value: Any) -> Matcher:
        if name in SINGLE:
            return self._single((name, value))
        if name in REPEATS:
            return self._repeat(name, *value)
        if name == "BRANCH":
            branches = [self._sequence(branch) for branch in value]
            return lambda at, rest: any(branch(at, rest) for branch in branches)
        if name == "SUBPATTERN":
            return self._group(*value)
        if name == "AT":
            return lambda at, rest: self._at(str(value), at) and rest(at)
        if name in ("ASSERT", "ASSERT_NOT"):
            return self._look(*value, wanted=name == "ASSERT")
        if name == "ATOMIC_GROUP":
            return self._atomic(self._sequence(value))
        if name == "GROUPREF":
            return self._reference(value)
        raise NotImplementedError(name)

    def _single(self, node: Node) -> Matcher:
        def match(at: int, rest: Rest) -> bool:
            self._spend()
            text = self._text
            return at < len(text) and accepts(node, text[at], self._flags) and rest(at + 1)

        return match

    def _repeat(self, name: str, low: int, high: int | None, body: list[Node]) -> Matcher:
        if name == "MAX_REPEAT" and len(body) == 1 and body[0][0] in SINGLE:
            return self._run(low, high, body[0])
        inner = self._sequence(body)

        def greedy(at: int, rest: Rest, done: int = 0) -> bool:
            self._spend()

            def more(end: int) -> bool:
                return (end > at or done < low) and greedy(end, rest, done + 1)

            if (high is None or done < high) and inner(at, more):
                return True
            return done >= low and rest(at)

        def lazy(at: int, rest: Rest, done: int = 0) -> bool:
            self._spend()
            if done >= low and rest(at):
                return True
            return (high is None or done < high) and inner(
                at, lambda end: (end > at or done < low) and lazy(end, rest, done + 1)
            )

        matcher: Matcher = lazy if name == "MIN_REPEAT" else greedy
        return self._atomic(matcher) if name == "POSSESSIVE_REPEAT" else matcher

    def _run(self, low: int, high: int | None, node: Node) -> Matcher:
        """Of one character: first all that fit, then fewer and fewer."""

        def match(at: int, rest: Rest) -> bool:
            text, end = self._text, at
            last = len(text) if high is None else min(len(text), at + high)
            while end < last and accepts(node, text[end], self._flags):
                end += 1
            self._spend(end - at + 1)
            while end >= at + low:
                if rest(end):
                    return True
                end -= 1
            return False

        return match

    def _group(self, number: int | None, body: list[Node]) -> Matcher:
        inner = self._sequence(body)
        if number is None:
            return inner

        def match(at: int, rest: Rest) -> bool:
            def after(end: int) -> bool:
                before = self._groups.get(number)
                self._groups[number] = (at, end)
                if rest(end):
                    return True
                if before is not None:
                    self._groups[number] = before
                return False

            return inner(at, after)

        return match

    def _reference(self, number: int) -> Matcher:
        def match(at: int, rest: Rest) -> bool:
            self._spend()
            start, end = self._groups.get(number, (0, -1))
            same = self._text[start:end] == self._text[at : at + end - start]
            return end >= start and same and rest(at + end - start)

        return match

    def _atomic(self, inner: Matcher) -> Matcher:
        def match(at: int, rest: Rest) -> bool:
            ends: list[int] = []

            def keep(end: int) -> bool:
                ends.append(end)
                return True

            return inner(at, keep) and rest(ends[0])

        return match

    def _look(self, direction: int, body: list[Node], *, wanted: bool) -> Matcher:
        inner, width = self._sequence(body), sum(1 for _ in body)

        def match(at: int, rest: Rest) -> bool:
            start = at if direction > 0 else at - width
            found = start >= 0 and inner(start, lambda end: direction > 0 or end == at)
            return found == wanted and rest(at)

        return match

    def _at(self, name: str, at: int) -> bool:
        self._spend()
        text = self._text
        last = at == len(text)
        if name == "AT_BEGINNING":
            line = bool(self._flags & re.MULTILINE)
            return at == 0 or (line and text[at - 1] == 10)
        if name == "AT_END":
            line = bool(self._flags & re.MULTILINE)
            return last or (text[at] == 10 and (line or at == len(text) - 1))
        if name in ("AT_BEGINNING_STRING", "AT_END_STRING"):
            return at == 0 if name == "AT_BEGINNING_STRING" else last
        before = at > 0 and _in_category("CATEGORY_WORD", text[at - 1], self._flags)
        after = not last and _in_category("CATEGORY_WORD", text[at], self._flags)
        return (before != after) == (name == "AT_BOUNDARY")
