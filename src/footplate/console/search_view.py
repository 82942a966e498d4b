"""The trials of a tuning job: table, best one, charts with what is behind them, comparison."""

from __future__ import annotations

import json
import math
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlencode

from starlette.responses import Response
from starlette.routing import Route

from footplate.console.formatting import parse, search_url
from footplate.console.site import Site, Visit
from footplate.console.submissions import more_trials, parent_of
from footplate.domain.errors import InvalidArgument
from footplate.wire.footplate_v1.trial_selection import spell

if TYPE_CHECKING:
    from pydantic import JsonValue

    TrialJson = Mapping[str, JsonValue]
    Point = Mapping[str, JsonValue]


# The share of the objective that each parameter explains, from ended trials. Pure.
#
# Trials are grouped by a parameter's values: by each value of few, else by quarters of the order.
# What the groups explain of the objective's variance (the correlation ratio, less what groups of
# chance would explain: epsilon squared) is its importance. Ranks are used in place of values, so
# that trials that have diverged don't decide. Parameters that act only together are not seen.

MIN_TRIALS = 8
"""Fewer say nothing of this."""
_GROUPS = 4
_MIN_IN_GROUP = 2


@dataclass(frozen=True)
class Importance:
    """A parameter's importance. ``share`` is its part of the objective's variance, 0 to 1.

    ``best`` has the values of the best group.
    """

    parameter: str
    share: float
    best: str


def importances(
    parameters: Sequence[str], trials: Sequence[tuple[Point, float]], *, minimize: bool
) -> list[Importance]:
    """Returns the parameters' importances, the most important first; empty with too few ``trials``.

    Each of the trials comes with its result.
    """
    known = [(point, value) for point, value in trials if math.isfinite(value)]
    if len(known) < MIN_TRIALS:
        return []
    ranks = _ranks([value for _, value in known])
    found = (
        _importance(name, [p for p, _ in known], ranks, minimize=minimize) for name in parameters
    )
    return sorted((each for each in found if each is not None), key=lambda each: -each.share)


def _importance(
    name: str, points: Sequence[Point], ranks: Sequence[float], *, minimize: bool
) -> Importance | None:
    """Returns a parameter's importance; None if trials lack it, or all have the same value."""
    having = [
        (point[name], rank) for point, rank in zip(points, ranks, strict=True) if name in point
    ]
    groups = _groups(having)
    count = sum(len(group) for group in groups.values())
    if len(groups) < _MIN_IN_GROUP or count < MIN_TRIALS:
        return None
    every = [rank for group in groups.values() for rank in group]
    mean = sum(every) / count
    whole = sum((rank - mean) ** 2 for rank in every)
    within = sum(sum((r - sum(g) / len(g)) ** 2 for r in g) for g in groups.values())
    free = count - len(groups)
    share = 0.0 if whole == 0 or free < 1 else 1.0 - (within / free) / (whole / (count - 1))
    means = {label: sum(group) / len(group) for label, group in groups.items()}
    best = min(means, key=means.__getitem__) if minimize else max(means, key=means.__getitem__)
    return Importance(name, max(0.0, share), best)


def _groups(having: Sequence[tuple[JsonValue, float]]) -> dict[str, list[float]]:
    """Returns the ranks in each group of values, by the group's name."""
    groups: dict[str, list[float]] = defaultdict(list)
    numbers = [v for v, _ in having if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(having) or len(set(numbers)) <= _GROUPS:
        for value, rank in having:
            groups[_text(value)].append(rank)
        return groups
    ordered = sorted(having, key=lambda pair: float(str(pair[0])))
    size = len(ordered) / _GROUPS
    for at in range(_GROUPS):
        part = ordered[round(at * size) : round((at + 1) * size)]
        label = f"{_text(part[0][0])} to {_text(part[-1][0])}"
        groups[label] += [rank for _, rank in part]
    return groups


def _text(value: JsonValue) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value; equal values share their mean rank."""
    ordered = sorted(values)
    first = {value: at for at, value in reversed(list(enumerate(ordered)))}
    last = {value: at for at, value in enumerate(ordered)}
    return [(first[value] + last[value]) / 2 for value in values]


# The times when each trial waited and ran, as bars over one axis of time. Pure.

WIDTH = 1000.0
"""Of the axis, in units of its drawing."""
_LEAST = 3.0
"""So wide is at least what took no time."""


@dataclass(frozen=True)
class Bar:
    """The bar of a trial. It waited from ``waited`` to ``x``, and ran from ``x`` on.

    ``look`` names the colour.
    """

    number: int
    waited: float
    x: float
    width: float
    look: str
    start: str | None
    end: str | None


def make_bars(trials: Sequence[TrialJson], now: datetime) -> list[Bar]:
    """Returns bars in the order of the trials' numbers; those of running trials end ``now``."""
    begin = min((parse(str(trial["createTime"])) for trial in trials), default=now)
    end = max((_end(trial, now) for trial in trials), default=now)
    whole = max((end - begin).total_seconds(), 1e-6)

    def place(time: datetime) -> float:
        return round(max(0.0, (time - begin).total_seconds()) / whole * (WIDTH - _LEAST), 1)

    return [_bar(trial, place, now) for trial in sorted(trials, key=_number)]


def _bar(trial: TrialJson, place: Callable[[datetime], float], now: datetime) -> Bar:
    made, stop = parse(str(trial["createTime"])), _end(trial, now)
    start = parse(str(trial["startTime"])) if "startTime" in trial else stop
    x = place(start)
    return Bar(
        _number(trial),
        place(made),
        x,
        max(_LEAST, place(stop) - x) if "startTime" in trial else 0.0,
        _look(trial),
        _time(trial, "startTime"),
        _time(trial, "endTime"),
    )


def _end(trial: TrialJson, now: datetime) -> datetime:
    return parse(str(trial["endTime"])) if "endTime" in trial else now


def _look(trial: TrialJson) -> str:
    if trial.get("stoppedEarly"):
        return "stopped"
    state = str(trial["state"]).lower()
    return {"active": "running", "stopping": "cancelling", "infeasible": "failed"}.get(state, state)


def _number(trial: TrialJson) -> int:
    return int(str(trial["number"]))


def _time(trial: TrialJson, name: str) -> str | None:
    return str(trial[name]) if name in trial else None


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
