"""The actions on a search: add more trials, ask what a stopping rule would save."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.responses import Response

from footplate.console.formatting import search_url
from footplate.console.submissions import more_trials, parent_of
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.console.site import Site, Visit

RULES = {
    "halving": "successive halving",
    "median": "median",
    "decayCurve": "decay curve",
    "convex": "convex",
}
"""Those of the operation, and what people call them."""
_MOST_DIGITS = 6
_MOST_FORM_BYTES = 1000


def search_action_routes(site: Site) -> list[Route]:
    return [
        site.page("/searches/{name:path}/replay", _replay),
        site.page("/searches/{name:path}/extend", _extend, ("POST",)),
    ]


async def _replay(visit: Visit) -> Response:
    name, rule = visit.request.path_params["name"], visit.parameter("rule")
    found: Any = await visit.get(f"/footplate/v1/{name}/replay", {"rule": rule})
    return visit.render("search_replay.html", replay=found, title=RULES.get(rule, rule))


async def _extend(visit: Visit) -> Response:
    """Submits a job that continues the search, and redirects to its trials."""
    name = visit.request.path_params["name"]
    job = await visit.get(f"/footplate/v1/{name}/details")
    body = more_trials(job, _count(await _field(visit)), suffix=f"_{secrets.token_hex(3)}")
    made = await visit.post(f"/v1/{parent_of(job)}/{job['kind']}", body)
    new = str(made.get("name") or f"{parent_of(job)}/jobs/{made['jobId']}")
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": search_url(new)})


async def _field(visit: Visit) -> str:
    """Returns the field ``trials`` of a small form."""
    raw = (await visit.request.body())[:_MOST_FORM_BYTES].decode("utf-8", "replace")
    return parse_qs(raw, max_num_fields=20).get("trials", [""])[0]


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0
    if count < 1:
        raise InvalidArgument(f"trials: {text[:50]!r} given; allowed: an integer from 1")
    return count
