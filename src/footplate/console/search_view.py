"""The trials of a tuning job: table, best one, charts with what is behind them, comparison."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlencode

from starlette.responses import Response

from footplate.console.formatting import search_url
from footplate.console.gantt import make_bars
from footplate.console.importance import importances
from footplate.console.submissions import more_trials, parent_of
from footplate.domain.errors import InvalidArgument
from footplate.wire.footplate_v1.trial_selection import spell

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.console.importance import Importance
    from footplate.console.site import Site, Visit


MOST_COMPARED = 5
_POINTS = "60"
"""Of a learning curve: a chart has few more pixels for each."""
TERMINAL = ("SUCCEEDED", "FAILED", "CANCELLED")


def search_routes(site: Site) -> list[Route]:
    return [
        *search_action_routes(site),
        site.page("/searches/{name:path}/curves", _curves),
        site.page("/searches/{name:path}", _show),
    ]


async def _curves(visit: Visit) -> Response:
    """Returns the curves as JSON for the page's script."""
    name = visit.request.path_params["name"]
    found = await visit.get(f"/footplate/v1/{name}/curves", {"points": _POINTS})
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    response = Response(json.dumps(found), headers=headers, media_type="application/json")
    return visit.site.compress(visit.request, response)


async def _show(visit: Visit) -> Response:
    """Returns the whole page or, for htmx, what changes with trials; 204 if unchanged."""
    name = visit.request.path_params["name"]
    asked = {key: value for key in ("filter", "orderBy") if (value := visit.parameter(key).strip())}
    whole: Any = await visit.get(f"/footplate/v1/{name}/trials")
    found, wrong = whole, ""
    if asked:
        try:
            found = await visit.get(f"/footplate/v1/{name}/trials", asked)
        except InvalidArgument as error:  # what was typed stays, beside all trials
            wrong = error.message
    digest = sha256(repr((whole, found, wrong)).encode()).hexdigest()[:16]
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
        "wrong": wrong,
        "spelled": {each: spell(each) for each in names},
        "orders": {each: _order_url(here, asked, spell(each)) for each in names},
        "ended": sum("endTime" in trial for trial in whole["trials"]),
        "bars": make_bars(whole["trials"], datetime.now(UTC)),
        "importances": _importances(whole, metrics[0]),
        "search_ended": whole["state"] in TERMINAL,
        "rules": RULES,
        "digest": digest,
        "page_url": here,
        "here_url": _url(here, [*asked.items(), *(("compare", each) for each in chosen)]),
        "data": json.dumps({**whole, "trials": found["trials"]}),
    }
    if visit.is_fragment:
        return visit.render("search_live.html", **context)
    status = HTTPStatus.BAD_REQUEST if wrong else HTTPStatus.OK
    return visit.render("search.html", status, **context)


def _importances(whole: Any, metric: str) -> list[Importance]:
    """Returns importances for the first metric, from the trials that ended with a result."""
    results = [
        (trial["parameters"], trial["final"]["values"].get(metric))
        for trial in whole["trials"]
        if trial["state"] == "SUCCEEDED" and "final" in trial
    ]
    known = [(point, value) for point, value in results if isinstance(value, int | float)]
    minimize = whole["metrics"][0]["goal"] == "MINIMIZE"
    return importances(whole["parameters"], known, minimize=minimize)


def _order_url(here: str, asked: dict[str, str], field: str) -> str:
    """Returns the URL that sorts by ``field``: ascending, or descending if it already does."""
    order = f"{field} desc" if asked.get("orderBy") == field else field
    return _url(here, [*(asked | {"orderBy": order}).items()])


def _url(here: str, parameters: list[tuple[str, str]]) -> str:
    return f"{here}?{urlencode(parameters)}" if parameters else here


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
