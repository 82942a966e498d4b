"""The trials of a tuning job: table, best one, charts, and some side by side."""

from __future__ import annotations

import json
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.console.site import Site, Visit

MOST_COMPARED = 5


def search_routes(site: Site) -> list[Route]:
    return [site.page("/searches/{name:path}", _show)]


async def _show(visit: Visit) -> Response:
    """The whole page, or for htmx what changes with the trials; 204 if that is as before."""
    name = visit.request.path_params["name"]
    asked = {key: value for key in ("filter", "orderBy") if (value := visit.parameter(key).strip())}
    whole: Any = await visit.get(f"/footplate/v1/{name}/trials")
    found: Any = await visit.get(f"/footplate/v1/{name}/trials", asked) if asked else whole
    digest = sha256(repr((whole, found)).encode()).hexdigest()[:16]
    if visit.is_fragment and visit.parameter("seen") == digest:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    chosen = visit.request.query_params.getlist("compare")[:MOST_COMPARED]
    metrics = [str(each["name"]) for each in whole["metrics"]]
    here = f"/searches/{quote(name)}"
    names = ["number", "state", "step", *metrics, *whole["parameters"]]
    context = {
        "search": whole,
        "trials": found["trials"],
        "best": [trial for trial in whole["trials"] if trial["number"] in whole["best"]],
        "compared": [trial for trial in whole["trials"] if str(trial["number"]) in chosen],
        "metrics": metrics,
        "asked": asked,
        "orders": {each: _order_url(here, asked, each) for each in names if _can_order(each)},
        "ended": sum("endTime" in trial for trial in whole["trials"]),
        "digest": digest,
        "page_url": here,
        "here_url": _url(here, [*asked.items(), *(("compare", each) for each in chosen)]),
        "data": json.dumps({**whole, "trials": found["trials"]}),
    }
    return visit.render("search_live.html" if visit.is_fragment else "search.html", **context)


def _can_order(name: str) -> bool:
    """The operation's orders know no quotes."""
    return " " not in name and "," not in name


def _order_url(here: str, asked: dict[str, str], field: str) -> str:
    """Ascending, and where that is the order already, descending."""
    order = f"{field} desc" if asked.get("orderBy") == field else field
    return _url(here, [*(asked | {"orderBy": order}).items()])


def _url(here: str, parameters: list[tuple[str, str]]) -> str:
    return f"{here}?{urlencode(parameters)}" if parameters else here
