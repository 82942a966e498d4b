"""Looks at pages: complaints of the browser, accessibility, and pictures for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.support.deadlines import EVENT_MS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

Theme = Literal["light", "dark"]

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / ".cache" / "console"
"""What CI may keep."""
AXE = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (400, 800, 1280)
THEMES: tuple[Theme, ...] = ("light", "dark")
_CHECKED: dict[int, Theme] = {400: "dark", 1280: "light"}
"""Where axe is run: the width between has the same elements and colours."""
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
    where axe is run. The page is loaded once at each width, and then the reader's system changes
    the theme.
    """
    PICTURES.mkdir(parents=True, exist_ok=True)
    context = browser.new_context()
    context.add_cookies(list(cookies))
    page = context.new_page()
    page.set_default_timeout(EVENT_MS)
    problems = PageProblems(page)
    for width in _CHECKED if brief else WIDTHS:
        checked = _CHECKED.get(width)
        themes = sorted(THEMES, key=lambda theme: theme != checked)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=themes[0])
        page.goto(url)
        page.locator(ready).first.wait_for()
        for theme in themes[:1] if brief else themes:
            page.emulate_media(color_scheme=theme)
            picture = PICTURES / f"{name}-{width}-{theme}.png"
            page.screenshot(path=picture, animations="disabled")  # they are at their end in it
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} wide at {width}"
            if theme == checked:
                check_accessibility(page)
            problems.check()
    context.close()
