"""Finds what a package uses of TensorFlow that later versions lack or changed. Pure.

Sources are read as words, and are neither run nor parsed: ``ast.parse`` takes 24 s for 180 KB of
one hostile f-string, and no other thread runs meanwhile. Words also show what Python 2 was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile


class Pattern(StrEnum):
    """A use of TensorFlow that later versions change or lack.

    The values are part of Footplate's API.
    """

    ESTIMATOR = "estimator"
    STRATEGY = "multi-worker-keras"
    """Keras in a strategy for several machines."""
    LONE_LAYER = "lone-layer"
    """``Sequential(Dense(1))``, in which Keras 2 took a layer for a list of one."""
    OLD_TENSORFLOW = "old-tensorflow"
    """The package requires TensorFlow 2.15 or earlier, in place of the runtime's."""


@dataclass(frozen=True)
class Use:
    """A pattern that a package uses; ``place`` is its first occurrence: ``trainer/task.py:12``."""

    pattern: Pattern
    place: str


SETTING = "TF_USE_LEGACY_KERAS"
METADATA = re.compile(
    r"(?:^|/)(?:setup\.py|setup\.cfg|pyproject\.toml|PKG-INFO|METADATA|require[\w-]*\.txt)$"
)
"""The names of files that say what a package requires."""
_STRATEGIES = ("MultiWorkerMirroredStrategy", "CollectiveAllReduceStrategy")
_OF_INTEREST = re.compile(rf"estimator|Sequential|{SETTING}|{'|'.join(_STRATEGIES)}")
_KERAS = re.compile(r"\bkeras\b")
_PIN = re.compile(
    r"\btensorflow(?:[-_](?:cpu|gpu|intel))?(?:\[[\w,-]{1,99}\])?[ ]?\(?[ ]?={2,3}[ ]?"
    r"(?:1\.\d+|2\.(?:\d|1[0-5]))(?!\d)"
)
"""Only a pin replaces a runtime's framework."""
_TOKEN = re.compile(
    r"""
    \#[^\n]*+
    | (?P<string>[A-Za-z]{0,2}(?:
        \"{3}(?:[^\\"]|\\.|"(?!""))*+(?:\"{3})?
        | '{3}(?:[^\\']|\\.|'(?!''))*+(?:'{3})?
        | "(?:[^\\\n"]|\\.)*+"?
        | '(?:[^\\\n']|\\.)*+'?
      ))
    | \\\r?\n
    | \d[\w.]*+
    | (?P<name>[^\W\d]\w*+)
    | (?P<mark>\n|\S)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Each alternative ends, so that a text takes time in proportion to its length: a string that isn't
closed goes on to the end."""
_LEFT_OUT = {"compat", "v1", "v2", "python", "api", "_api"}
"""Parts of TensorFlow's names that say only which edition is meant."""
_MOST_CHARACTERS = 1 << 20
"""Of all files that are read as words."""
_ESTIMATOR = re.compile(r"(?:(?:tensorflow\.)?(?:tensorflow|keras)\.|tensorflow_)estimator\b")
_STRATEGY = re.compile(rf"tensorflow\..*\b(?:{'|'.join(_STRATEGIES)})\b")
_SEQUENTIAL = re.compile(r"(?:tensorflow\.)?keras\.(?:models\.)?Sequential$")
_LAYER = re.compile(r"(?:tensorflow\.)?keras\.layers\.")


def find_patterns(sources: Mapping[str, str]) -> tuple[Use, ...]:
    """Finds each pattern once, at its first place; ``sources`` has the files' texts by path."""
    found: dict[Pattern, str] = {}
    code = {path: text for path, text in sources.items() if not METADATA.search(path)}
    for path in sorted(sources.keys() - code.keys()):
        if _PIN.search(sources[path]):
            found[Pattern.OLD_TENSORFLOW] = path
    left, sets_legacy = _MOST_CHARACTERS, False
    for path, text in code.items():
        if _OF_INTEREST.search(text) is None or len(text) > left:
            continue
        left -= len(text)
        source = _Source(text)
        source.read()
        sets_legacy = sets_legacy or source.sets_legacy
        for pattern, offset in source.found.items():
            found.setdefault(pattern, f"{path}:{text.count(chr(10), 0, offset) + 1}")
    if sets_legacy:
        found.pop(Pattern.LONE_LAYER, None)
    if sets_legacy or not any(map(_KERAS.search, code.values())):
        found.pop(Pattern.STRATEGY, None)
    return tuple(Use(pattern, place) for pattern, place in found.items())


class _Source:
    """The words of one source file, with the meaning that its imports give to names."""

    def __init__(self, text: str) -> None:
        self.found: dict[Pattern, int] = {}
        self.sets_legacy = False
        self._imported: dict[str, str] = {}
        self._words: list[str] = []
        self._offsets: list[int] = []
        for token in _TOKEN.finditer(text):
            if token.lastgroup == "string":
                self.sets_legacy = self.sets_legacy or SETTING in token.group()
            if token.lastgroup is not None:
                self._words.append('""' if token.lastgroup == "string" else token.group())
                self._offsets.append(token.start())

    def read(self) -> None:
        index, starts = 0, True
        while index < len(self._words):
            word = self._words[index]
            if starts and word in ("import", "from"):
                end = self._end_of_import(index)
                self._read_import(index, end)
            elif word.isidentifier() and self._word(index - 1) != ".":
                names, end = self._chain(index)
                self._see(self._resolve(names), index, end)
            else:
                end = index + 1
            starts = self._word(end - 1) in ("\n", ";", ":") or self._word(end) in ("\n", ";")
            index = end

    def _word(self, index: int) -> str:
        return self._words[index] if 0 <= index < len(self._words) else "\n"

    def _end_of_import(self, start: int) -> int:
        """Returns the index of the end of an import: the end of its line, or of its parentheses."""
        index = start
        while (word := self._word(index)) not in ("\n", ";", "("):
            index += 1
        if word == "(":
            while index < len(self._words) and self._words[index] != ")":
                index += 1
        return index

    def _read_import(self, start: int, end: int) -> None:
        """Records the names that ``import a.b as c`` or ``from a import (b as c, d)`` imports."""
        words = [word for word in self._words[start:end] if word not in ("\n", "(")]
        before = ""
        if words[0] == "from":
            module = list(takewhile(lambda word: word != "import", words[1:]))
            before = "".join(module)
            words = words[len(module) + 1 :]
        for item in " ".join(words[1:]).split(" , "):
            dotted, _, alias = item.partition(" as ")
            name = dotted.replace(" ", "")
            if not name:
                continue
            full = f"{before}.{name}" if before else name
            if alias or before:
                self._imported[alias or name] = full
            else:
                top = name.partition(".")[0]
                self._imported[top] = top
            self._see(full.split("."), start, end)

    def _chain(self, start: int) -> tuple[list[str], int]:
        """Returns the parts of a name such as ``tf.keras.layers``, and the index after it."""
        names, index = [self._words[start]], start + 1
        while True:
            after = index
            while self._word(after) == "\n" and after < len(self._words):
                after += 1  # a line may end before a dot, in parentheses
            if self._word(after) != "." or not self._word(after + 1).isidentifier():
                return names, index
            names.append(self._words[after + 1])
            index = after + 2

    def _resolve(self, names: list[str]) -> list[str]:
        """Returns the full name, by the file's imports; empty: no import brings it in."""
        known = self._imported.get(names[0])
        return [*known.split("."), *names[1:]] if known else []

    def _see(self, full: list[str], start: int, end: int) -> None:
        for pattern in self._patterns(_shorten(full), end):
            self.found.setdefault(pattern, self._offsets[start])

    def _patterns(self, name: str, end: int) -> Iterator[Pattern]:
        if _ESTIMATOR.match(name):
            yield Pattern.ESTIMATOR
        if _STRATEGY.match(name):
            yield Pattern.STRATEGY
        if _SEQUENTIAL.match(name) and self._gives_layer(end):
            yield Pattern.LONE_LAYER

    def _gives_layer(self, index: int) -> bool:
        """Returns whether a call starts at the index whose first argument is a call of a layer."""
        if self._word(index) != "(":
            return False
        index = self._skip_lines(index + 1)
        if self._word(index) == "layers" and self._word(index + 1) == "=":
            index = self._skip_lines(index + 2)
        if not self._word(index).isidentifier():
            return False
        names, end = self._chain(index)
        is_layer = _LAYER.match(_shorten(self._resolve(names))) is not None
        return is_layer and self._word(end) == "("

    def _skip_lines(self, index: int) -> int:
        while index < len(self._words) and self._words[index] == "\n":
            index += 1
        return index


def _shorten(full: list[str]) -> str:
    """Joins a full name without the parts that only select an edition, such as ``compat.v1``."""
    return ".".join(name for name in full if name not in _LEFT_OUT)
