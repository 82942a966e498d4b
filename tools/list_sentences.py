"""Lists what the product can say: errors, warnings, events, reasons, hints, help and pages.

``make sentences`` prints them all, a line each, with the file and the line that say it; what is put
in at run time stands in braces. ``--check`` fails where a sentence has more than 25 words.
"""

from __future__ import annotations

import ast
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src/footplate", "reduction/src")
MOST_WORDS = 25
LEAST_WORDS = 4

_WORD = re.compile(r"[A-Za-z][\w'-]+")
_SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|DROP|PRAGMA)\b")
_PATTERN = re.compile(r"\(\?[:P!=]|\\[bswdA.(]|\.\*")
_STOPS = re.compile(r"(?<=[.!?])[\s)]+|\n+")
_JINJA = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_JAVASCRIPT = re.compile(r"""(["'`])((?:\\.|(?!\1).)*)\1""")
_SHOWN = frozenset({"alt", "aria-description", "aria-label", "placeholder", "title"})


def python_sentences(source: str) -> Iterator[tuple[int, str]]:
    """Return the line and the text of each string that reads as a sentence; no docstrings."""
    tree = ast.parse(source)
    within: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            within.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            within.update(map(id, node.values))
        elif isinstance(node, ast.Call) and _is_compile(node.func):
            within.update(map(id, node.args))
    for node in ast.walk(tree):
        if id(node) in within or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        text = _text(node)
        if _is_sentence(text):
            yield node.lineno, text


def _is_compile(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "compile"


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        f"{{{ast.unparse(value.value)}}}"
        if isinstance(value, ast.FormattedValue)
        else str(ast.literal_eval(value))
        for value in node.values
    )


def _is_sentence(text: str) -> bool:
    plain = re.sub(r"\{[^}]*\}", " ", text)
    return (
        len(_WORD.findall(plain)) >= LEAST_WORDS
        and " " in plain.strip()
        and not (_SQL.match(text) or _PATTERN.search(text))
    )


class _Page(HTMLParser):
    """Collects the text of a template, element by element, and what attributes show."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self._inside.append(tag)
        self._add(*(value for name, value in attrs if name in _SHOWN and value))

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._add(data)

    def _add(self, *texts: str) -> None:
        line = self.getpos()[0]
        self.found += [(line, " ".join(each.split())) for each in texts if _is_sentence(each)]


def page_sentences(source: str) -> Iterator[tuple[int, str]]:
    """Return the line and the text of each sentence of a template of Jinja."""
    page = _Page()
    page.feed(_JINJA.sub(lambda match: "\n" * match.group().count("\n") or " / ", source))
    yield from page.found


def script_sentences(source: str) -> Iterator[tuple[int, str]]:
    """Return the line and the text of each string of JavaScript that reads as a sentence."""
    for number, line in enumerate(source.splitlines(), 1):
        for _, text in _JAVASCRIPT.findall(line.partition("//")[0]):
            if _is_sentence(re.sub(r"\$\{", "{", text)):
                yield number, text


def all_sentences() -> Iterator[tuple[str, str]]:
    """Return the place (``FILE:LINE``) and the text of each sentence of the product."""
    readers = {".py": python_sentences, ".html": page_sentences, ".js": script_sentences}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in readers and "vendor" not in path.parts:
                for line, text in readers[path.suffix](path.read_text(encoding="utf-8")):
                    yield f"{path.relative_to(ROOT)}:{line}", text


def too_long(text: str) -> int | None:
    """Return the words of the longest sentence, if that has too many; lines are apart."""
    most = max(len(re.sub(r"\{[^}]*\}", "X", each).split()) for each in _STOPS.split(text))
    return most if most > MOST_WORDS else None


def main() -> int:
    check = "--check" in sys.argv
    failed = False
    for place, text in all_sentences():
        words = too_long(text)
        if not check:
            sys.stdout.write(f"{place}: {' '.join(text.split())}\n")
        elif words is not None:
            failed = True
            found = f"{place}: a sentence of {words} words, and {MOST_WORDS} are allowed: {text}"
            sys.stdout.write(f"{found}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
