"""Hooks of MkDocs (`mkdocs.yml`): the pages of ``docs/`` become a site as they are on GitHub.

GitHub's Markdown is not MkDocs's: lists may be indented by less, need no blank line before them,
and headings have other anchors. Links out of ``docs/`` lead to the repository. The navigation is
that of ``docs/README.md``, so that its order and titles stand in one place.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CODE = re.compile(r"^(?: *```.*?^ *```|~~~.*?^~~~)$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<=\]\()[^)\s]+")
TITLED = re.compile(r"\[([^\]]+)\]\(([^)\s]+\.md)\)")
"""A link to a page, whose text is its title in the navigation."""
_FENCE = re.compile(r" *(```|~~~)")
_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +)(?=\S)")
_INDENT = 4

Nav = list[dict[str, Any]]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = read_nav((DOCS / "README.md").read_text("utf-8"))
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": github_anchor}
    return config


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: object) -> str:
    if page.file.src_uri.startswith("decisions/"):
        page.meta.setdefault("search", {"boost": 0.2})  # who searches wants to do something first
    source = f"{str(config.repo_url).rstrip('/')}/blob/main/"
    return adapt_lists(lead_out(markdown, page.file.src_uri, source))


def github_anchor(heading: str, _separator: str = "-") -> str:
    """Returns the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def lead_out(markdown: str, page: str, source: str) -> str:
    """Makes links to files outside ``docs/`` absolute: below ``source``, the repository's files.

    ``page`` is the page's path in ``docs/``.
    """

    def lead(link: re.Match[str]) -> str:
        target = normpath(PurePosixPath("docs", page).parent / link[0])
        leaves = ":" not in link[0] and not link[0].startswith("#") and ".." in link[0]
        return source + target if leaves and not target.startswith("docs/") else link[0]

    return outside_code(markdown, lambda text: LINK.sub(lead, text))


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Applies ``change`` to all that is not code."""
    made, last = [], 0
    for code in CODE.finditer(markdown):
        made += [change(markdown[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*made, change(markdown[last:])])


def adapt_lists(markdown: str) -> str:
    """Indents what belongs to items of lists by four blanks for each, as Python-Markdown wants it.

    Lists and tables get a blank line before them where a paragraph ends there.
    """
    return "\n".join(_adapt(markdown.split("\n")))


def _adapt(lines: list[str]) -> Iterator[str]:
    items: list[int] = []
    """Where the text of each open item of a list begins, the outermost first."""
    fence, before = "", ""
    for line in lines:
        text, blanks = line.strip(), len(line) - len(line.lstrip())
        item = None if fence else _ITEM.match(line)
        inside = bool(items)
        lazy = bool(before.strip()) and item is None and not text.startswith(("```", "|", "#"))
        while items and text and not fence and not lazy and blanks < items[-1]:
            items.pop()
        starts = item is not None or text.startswith("|")
        if starts and not inside and not fence and _ends_paragraph(before):
            yield ""
        start = items[-1] if items else 0
        yield " " * (_INDENT * len(items) + max(0, blanks - start)) + text if text else ""
        if item is not None:
            items.append(item.end())
        if found := _FENCE.match(line):
            fence = "" if fence else found[1]
        before = "" if fence else line


def _ends_paragraph(line: str) -> bool:
    """Returns whether a line that stands in no list is of a paragraph."""
    return bool(line.strip()) and not line.startswith(("|", "#", " ", "```", "<"))


def read_nav(index: str) -> Nav:
    """Returns the navigation: a section for each heading of the index, its links in their order.

    A table whose first row has one title is a section of its own.
    """
    _, *sections = re.split(r"^## (.+)$", index, flags=re.MULTILINE)
    nav: Nav = [{"Start": "README.md"}]
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        nav.append({title: [*_entries(text)]})
    return nav


def _entries(text: str) -> Iterator[dict[str, Any]]:
    for part in re.split(r"\n(?=\| *[^|\n]* *\|[ |]*\n\|--)", text):
        head = re.match(r"\| *([^|\n]*?) *\|[ |]*\n", part)
        links = [{title: path} for title, path in TITLED.findall(part)]
        pages = [_expand(each) for each in links]
        if head and head[1]:
            yield {head[1][0].upper() + head[1][1:]: pages}
        else:
            yield from pages


def _expand(entry: dict[str, str]) -> dict[str, Any]:
    """Returns a link; the index of decisions becomes a section with all of them."""
    [(title, path)] = entry.items()
    if path != "decisions/README.md":
        return {title: path}
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    return {title: [path, *(f"decisions/{page.name}" for page in pages)]}
