"""Write docs/reference/clients.md from what tests with real clients asked for: ``make test``, then
``python tools/make_clients_reference.py``.

With ``--check`` it writes nothing, and fails where the page claims what these tests didn't see.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "clients.md"
RECORDS = ROOT / ".cache" / "requests"

CLIENTS = (
    *("gcloud", "google-api-python-client", "gsutil", "google-cloud-storage"),
    *("Vertex AI SDK", "Google client library", "Google client for Node", "Google client for Java"),
)
"""Those that have columns, in this order; ``footplate`` itself is described elsewhere."""

SECTIONS = (
    ("AI Platform Training", r"/v1/projects/\{project\}(?!/locations/)|/v1/\{name", "ml"),
    ("Vertex AI training", r"/v1(beta1)?/", "aiplatform"),
    ("Cloud Storage", r"/(resumable/)?(upload/|download/)?storage/|/batch/storage", "storage"),
    ("Cloud Logging", r"/v2/", "logging"),
)
"""Titles, and what their routes begin with; the first counts."""

OPTIMIZER = r"/v1/projects/\{project\}/locations/\{location\}/(studies|operations)"
"""Routes of ml v1 that begin as those of aiplatform v1 do."""

VERBS = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}

HEAD = """\
# Methods and clients

Made from the tests that run real clients (`tools/make_clients_reference.py`): *yes* where one of
them called the method and got what it asked for, *refused* where it only got an error, as those
tests expect; empty where none called it. After each run of all tests what stands here is compared
with what was seen. What is different from Google's services: [coverage](coverage.md).
"""

Table = dict[tuple[str, str], dict[str, str]]
"""By section and method: what each client got."""


def main() -> int:
    seen = read_records(RECORDS)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(write_page(seen), "utf-8")
        return 0
    claimed = read_page(PAGE.read_text("utf-8"))
    unseen = sorted(
        f"{method} by {client}: {what}"
        for (section, method), cells in claimed.items()
        for client, what in cells.items()
        if seen.get((section, method), {}).get(client) not in (what, "yes")
    )
    for line in unseen:
        sys.stderr.write(f"docs/reference/clients.md says what no test saw: {line}\n")
    return 1 if unseen else 0


def read_records(folder: Path) -> Table:
    found: Table = defaultdict(dict)
    for path in sorted(folder.glob("*.json")):
        for labels in json.loads(path.read_text("utf-8")):
            client = name_client(labels)
            section = find_section(labels["route"], client or "")
            if client is None or section is None:
                continue
            cells = found[section, name_method(labels["verb"], labels["route"])]
            worked = int(labels["status"]) < 400
            cells[client] = "yes" if worked or cells.get(client) == "yes" else "refused"
    return found


def name_client(labels: Mapping[str, str]) -> str | None:
    """The column; None: it has none."""
    name, transport = labels["client"], labels["transport"]
    if name not in CLIENTS:
        return None
    if name != "Vertex AI SDK":
        return f"{name}, gRPC" if transport == "gRPC" else name
    release = re.match(r"\d+\.\d+", labels["version"])
    return f"{name} {release.group() if release else ''}, {transport}"


def find_section(route: str, client: str) -> str | None:
    """The title; studies are at the same routes in two APIs, which have clients of their own."""
    if client == "google-api-python-client" and re.match(OPTIMIZER, route):
        return SECTIONS[0][0]
    return next((title for title, start, _ in SECTIONS if re.match(start, route)), None)


def name_method(verb: str, route: str) -> str:
    """``customJobs.cancel`` for POST of ``.../customJobs/{custom_job}:cancel``."""
    path, _, custom = route.partition(":") if not route.endswith("}") else (route, "", "")
    if "}:" in route:
        path, _, custom = route.rpartition(":")
    parts = [part for part in path.split("/") if part]
    names = [part for part in parts if not part.startswith("{")]
    names = [LONG.get(name, name) for name in names if name not in SKIPPED] or names[-1:]
    item = parts[-1].startswith("{")
    what = VERBS.get(verb, "get" if item else "list")
    return ".".join([*names, custom or what])


LONG = {"b": "buckets", "o": "objects"}
SKIPPED = frozenset({"v1", "v1beta1", "v2", "projects", "locations", "storage"})


def write_page(seen: Table) -> str:
    return "\n".join([HEAD, *_write_sections(seen)])


def _write_sections(seen: Table) -> Iterator[str]:
    for title, _, _ in SECTIONS:
        rows = {method: cells for (section, method), cells in seen.items() if section == title}
        if not rows:
            continue
        columns = sorted({client for cells in rows.values() for client in cells}, key=_order)
        yield f"## {title}\n"
        yield f"| method | {' | '.join(columns)} |"
        yield "|---" * (len(columns) + 1) + "|"
        for method, cells in sorted(rows.items()):
            yield _row(method, (cells.get(client, "") for client in columns))
        yield ""


def _row(method: str, cells: Iterable[str]) -> str:
    return f"| `{method}` |" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _order(client: str) -> tuple[int, list[int], str]:
    name = next(name for name in CLIENTS if client.startswith(name))
    release = [int(word) for word in re.findall(r"\d+", client)]
    return CLIENTS.index(name), release, client


def read_page(text: str) -> Table:
    """What ``write_page`` wrote."""
    found: Table = {}
    section, columns = "", []
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "method":
            columns = cells[1:]
        elif not cells[0].startswith("-"):
            got = dict(zip(columns, cells[1:], strict=True))
            found[section, cells[0].strip("`")] = {name: what for name, what in got.items() if what}
    return found


if __name__ == "__main__":
    sys.exit(main())
