"""The documentation as a site: it reads as on GitHub, its links hold, and it asks nobody else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote

import pytest

from tests.docs.test_links import DOCS, ROOT, anchors, links
from tools import site_hooks

REPOSITORY = "https://git.example/us/footplate"


class Links(HTMLParser):
    """The anchors of a page, its links, and what a browser fetches with it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag != "a":
            self.fetched += [given[name] for name in ("src", "href", "srcset") if name in given]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("Words:\n- one\n- two", "Words:\n\n- one\n- two"),
        ("1. one\n\n   ```\n   code\n   ```\n", "1. one\n\n    ```\n    code\n    ```\n"),
        (
            "- one\n  more\n  - inner\n    text\n\nEnd",
            "- one\n    more\n    - inner\n        text\n\nEnd",
        ),
        ("10. ten\n    - inner\n\n    more", "10. ten\n    - inner\n\n    more"),
        ("Words\n| a |\n|---|", "Words\n\n| a |\n|---|"),
        ("- item\nlazy\n- next", "- item\n    lazy\n- next"),
        ("```yaml\na:\n- b\n  - c\n```", "```yaml\na:\n- b\n  - c\n```"),
    ],
)
def test_lists_of_github_are_lists_here(given: str, made: str) -> None:
    assert site_hooks.adapt_lists(given) == made


@pytest.mark.parametrize(
    ("page", "given", "made"),
    [
        ("README.md", "[a](../README.md#use-it)", "[a](SOURCE/README.md#use-it)"),
        ("how-to/x.md", "[a](../../src/a.py)", "[a](SOURCE/src/a.py)"),
        ("how-to/x.md", "[a](../tour.md)", "[a](../tour.md)"),
        ("how-to/x.md", "[a](y.md#z), [b](#c), [d](https://e/../f)", ""),
        ("how-to/x.md", "`[a](../../b)`\n```\n[c](../../d)\n```\n", ""),
    ],
)
def test_links_out_of_the_pages_lead_to_the_repository(page: str, given: str, made: str) -> None:
    assert site_hooks.lead_out(given, page, "SOURCE/") == (made or given)


def test_the_navigation_is_the_index() -> None:
    nav = site_hooks.read_nav((DOCS / "README.md").read_text("utf-8"))
    assert [title for section in nav for title in section][:3] == [
        "Start",
        "Four ways in",
        "How to",
    ]
    listed = [*_paths(nav)]
    linked = {file for file, _ in links(DOCS / "README.md") if DOCS in file.parents}
    assert {DOCS / path for path in listed} >= linked - set(DOCS.rglob("*.png"))
    assert {path.name for path in DOCS.glob("decisions/*.md")} <= {
        Path(each).name for each in listed
    }


def _paths(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for inner in nav.values():
            yield from _paths(inner)
    elif isinstance(nav, list):
        for inner in nav:
            yield from _paths(inner)


def test_a_table_without_a_title_is_no_section() -> None:
    tables = "| | |\n|---|---|\n| a | [A](a.md) |\n\n| more | |\n|---|---|\n| b | [B](b.md) |\n"
    index = f"# x\n## Part\n\n{tables}"
    assert site_hooks.read_nav(index)[1:] == [{"Part": [{"A": "a.md"}, {"More": [{"B": "b.md"}]}]}]


def test_the_site(tmp_path: Path) -> None:
    """It is built without a warning; links and anchors hold, and nothing is fetched elsewhere."""
    site = tmp_path / "site"
    words = ("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site))
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "REPOSITORY": REPOSITORY}
    done = subprocess.run(
        (sys.executable, *words),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    pages = {path: Links(path.read_text("utf-8")) for path in site.rglob("*.html")}
    del pages[site / "404.html"]  # any page's: its links begin at the root of the host
    assert len(pages) >= len([*DOCS.rglob("*.md")])
    for path, page in pages.items():
        assert [url for url in page.fetched if re.match(r"(https?:)?//", url)] == [], path
        assert [url for url in page.links if _is_broken(url, path, pages)] == [], path
    text = (site / "index.html").read_text("utf-8")
    assert f"{REPOSITORY}/blob/main/README.md" in text
    assert 'data-md-component="source"' not in text  # it asks GitHub for its stars


def _is_broken(url: str, page: Path, pages: dict[Path, Links]) -> bool:
    """Returns whether a link leads to no file or anchor of the site, or of the repository."""
    path, _, anchor = url.partition("#")
    if path.startswith(f"{REPOSITORY}/blob/main/"):
        file = ROOT / path.removeprefix(f"{REPOSITORY}/blob/main/")
        return not file.exists() or bool(anchor and anchor not in anchors(file))
    if re.match(r"\w+:", path):
        return False
    file = Path(normpath(page.parent / unquote(path))) if path else page
    if file.is_dir():
        file /= "index.html"
    return not file.exists() or bool(anchor and file in pages and anchor not in pages[file].anchors)
