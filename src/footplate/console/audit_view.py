"""The audit log: what calls have changed, and who called."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from footplate.console.formatting import KINDS
from footplate.console.site import Site, Visit

_PAGE = 100


def audit_routes(site: Site) -> list[Route]:
    return [site.page("/system/changes", _show)]


async def _show(visit: Visit) -> Response:
    page = visit.parameter("page")
    entries, following = await read_entries(visit, _PAGE, page)
    return visit.render("changes.html", changed=entries, following=following, page=page)


async def read_entries(visit: Visit, most: int, page: str = "") -> tuple[list[Any], str]:
    """Returns entries of the audit log, newest first, and the token of the next page.

    ``isJob`` tells whether the entry's resource has a page.
    """
    asked = {"pageSize": str(most), **({"pageToken": page} if page else {})}
    answer: Any = await visit.get("/footplate/v1/audit", asked)
    entries = [{**entry, "isJob": is_job(entry["resource"])} for entry in answer["entries"]]
    return entries, str(answer.get("nextPageToken", ""))


def is_job(resource: str) -> bool:
    parts = resource.split("/")
    return len(parts) in (4, 6) and parts[-2] in KINDS
