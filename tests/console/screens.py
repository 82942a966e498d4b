"""Looks at pages: complaints of the browser, accessibility, and pictures for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / ".cache" / "console"
"""What CI may keep."""
AXE = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (400, 800, 1280)
THEMES = ("light", "dark")
_CHECKED = {("light", 1280), ("dark", 400)}
"""Where axe is run: the widths between have the same elements and colours."""
_RUN_AXE = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  const where = (node) => `${node.target.join(" ")} ${node.failureSummary}`;
  return found.violations.map((v) => `${v.id}: ${v.nodes.map(where).join("; ")}`);
}"""


_WIDER = """() => [...document.querySelectorAll("main .scroll")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel)"""


class PageProblems:
    """What a page's scripts and its security policy complain about."""

    def __init__(self, page: Page) -> None:
        self._found: list[str] = []
        page.on("pageerror", lambda error: self._found.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        # A request that failed is said by the page itself, and is no mistake of the page.
        failed = ("Failed to load resource", "Response Status Error Code")
        if message.type == "error" and not message.text.startswith(failed):
            self._found.append(message.text)

    def check(self) -> None:
        assert self._found == []


def weigh(page: Page) -> int:
    """Bytes of the page that is loaded, of its scripts and of its styles, compressed."""
    kinds = ("navigation", "resource")
    script = "kind => performance.getEntriesByType(kind).map(each => each.encodedBodySize)"
    return sum(int(size) for kind in kinds for size in page.evaluate(script, kind))


def cut_off_tables(page: Page) -> list[str]:
    """The names of the tables of which a part is out of sight."""
    found: list[str] = page.evaluate(_WIDER)
    return found


def check_accessibility(page: Page) -> None:
    """axe-core has nothing to say."""
    assert AXE.is_file(), "axe-core is missing: run `make console`"
    page.evaluate(AXE.read_text("utf-8"))
    found: list[Any] = page.evaluate(_RUN_AXE)
    assert found == [], found


def look(
    browser: Browser, url: str, name: str, ready: str, cookies: Any = (), *, brief: bool = False
) -> None:
    """The page at three widths in both themes: nothing is wider than the window, axe has no
    finding, and a picture is kept. ``ready`` selects what has to be visible before. ``brief``: only
    where axe is run.
    """
    PICTURES.mkdir(parents=True, exist_ok=True)
    for theme in THEMES:
        for width in WIDTHS:
            if brief and (theme, width) not in _CHECKED:
                continue
            context = browser.new_context(
                viewport={"width": width, "height": 900},
                color_scheme="dark" if theme == "dark" else "light",
            )
            context.add_cookies(list(cookies))
            page = context.new_page()
            page.set_default_timeout(60_000)
            problems = PageProblems(page)
            page.goto(url)
            page.locator(ready).first.wait_for()
            page.screenshot(path=PICTURES / f"{name}-{width}-{theme}.png")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} wide at {width}"
            if (theme, width) in _CHECKED:
                check_accessibility(page)
            problems.check()
            context.close()
