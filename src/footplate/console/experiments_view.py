"""Experiments, their runs side by side and as curves, and TensorBoards and models."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.console.connect import server_url
from footplate.console.formatting import experiment_url
from footplate.console.site import Site, Visit
from footplate.domain.errors import InvalidArgument, NotFound

# The runs of an experiment as a table: columns, conditions, order. Pure.

_AND = re.compile(r"\sAND\s")
_SIGN = re.compile("<=|>=|!=|=|<|>")
LONGEST = 2000
"""Characters of all conditions."""
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_EQUALITY = ("=", "!=")


@dataclass(frozen=True)
class Run:
    """A run of an experiment. ``curves`` names its run in a TensorBoard; '' if it has none."""

    name: str
    title: str
    state: str = ""
    created: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    curves: str = ""

    def value(self, column: str) -> Any:
        """Returns the run's metric, parameter, name or state; None if it has none of these."""
        own = {"run": self.title, "state": self.state, "created": self.created}
        for values in (self.metrics, self.params, own):
            if column in values:
                return values[column]
        return None


def columns(values: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns each name once, in the order of its first use."""
    return list(dict.fromkeys(name for each in values for name in each))


def choose(runs: Sequence[Run], text: str) -> list[Run]:
    """Returns the runs that meet all conditions: ``loss < 0.5 AND rate = 0.1``.

    Text without a comparison is a part of the name. Raises InvalidArgument.
    """
    if len(text) > LONGEST:
        raise InvalidArgument(f"{len(text)} characters given; allowed: at most {LONGEST}")
    conditions = [part.strip() for part in _AND.split(text) if part.strip()]
    return [run for run in runs if all(_fulfils(run, each) for each in conditions)]


def _fulfils(run: Run, condition: str) -> bool:
    found = _SIGN.search(condition, 1)
    name, sign = (condition[: found.start()].strip(), found[0]) if found else ("", "")
    wanted = condition[found.end() :].strip() if found else ""
    if not name or not wanted:
        return condition.lower() in run.title.lower()
    value, limit = run.value(name), _number(wanted.strip("\"'"))
    if value is None:
        return sign == "!="
    number = _number(str(value))
    if isinstance(number, float) and isinstance(limit, float):
        return _COMPARE[sign](number, limit)
    if sign not in _EQUALITY:
        if isinstance(limit, float):
            return False
        raise InvalidArgument(
            f"the condition {condition[:100]!r} compares with a text, not a number; allowed: "
            "= and !="
        )
    return _COMPARE[sign](str(value), wanted.strip("\"'"))


def order(runs: Sequence[Run], by: str) -> list[Run]:
    """Sorts by a column, descending if ``by`` begins with ``-``; runs without a value come last."""
    column = by.removeprefix("-")
    known = [run for run in runs if run.value(column) is not None]
    unknown = [run for run in runs if run.value(column) is None]
    return sorted(known, key=lambda run: _key(run.value(column)), reverse=by[:1] == "-") + unknown


def _key(value: Any) -> tuple[int, float, str]:
    number = _number(str(value))
    return (0, number, "") if isinstance(number, float) else (1, 0.0, number)


def _number(text: str) -> float | str:
    """Returns the number in ``text``; ``text`` itself if it is none, or NaN (no order)."""
    try:
        number = float(text)
    except ValueError:
        return text
    return text if number != number else number


_MOST_PLACES = 50
_MOST_ROWS = 500
"""Of each table."""
_MOST_CURVES = 10
_MOST_SERIES = 200
_BACKING = "backing_tensorboard_resource"
_EXPERIMENT = re.compile(
    r"projects/[^/]+/locations/[^/]+/"
    r"(?:metadataStores/[^/]+/contexts|tensorboards/[^/]+/experiments)/[^/]+"
)
_RUN = re.compile(r"projects/[^/]+/locations/[^/]+/tensorboards/[^/]+/experiments/[^/]+/runs/[^/]+")
_OWN = ("_params", "_metrics", "_state")


def experiments_routes(site: Site) -> list[Route]:
    """Returns the routes, specific ones first, as an experiment's name may have many parts."""
    return [
        site.page("/experiments", _show_all),
        site.page("/experiments/{name:path}/curves", _curves),
        site.page("/experiments/{name:path}", _show),
    ]


async def _show_all(visit: Visit) -> Response:
    """Shows the experiments of all projects and regions, or of the selected ones."""
    answer: Any = await visit.get("/footplate/v1/places")
    places = [(str(each["project"]), str(each["region"])) for each in answer["places"]]
    project, region = (visit.parameter(name).strip() for name in ("project", "region"))
    chosen = [place for place in places if project in ("", place[0]) and region in ("", place[1])]
    experiments: list[Any] = []
    boards: list[Any] = []
    models: list[Any] = []
    for place in chosen[:_MOST_PLACES]:
        parent = "/v1/projects/{}/locations/{}".format(*place)
        experiments += await _contexts(visit, f"{parent}/metadataStores/default")
        boards += await _boards(visit, parent)
        models += await visit.read_all(f"{parent}/models", "models", most=_MOST_ROWS)
    return visit.render(
        "experiments.html",
        project=project,
        region=region,
        projects=sorted({place[0] for place in places}),
        regions=sorted({place[1] for place in places}),
        experiments=_newest(experiments),
        boards=_newest(boards),
        models=_newest(models),
        most=_MOST_ROWS,
        omitted=max(0, len(chosen) - _MOST_PLACES),
        server=server_url(visit),
    )


def _newest(found: Sequence[Any]) -> list[Any]:
    return sorted(found, key=lambda each: str(each["createTime"]), reverse=True)[:_MOST_ROWS]


async def _contexts(visit: Visit, store: str) -> list[Any]:
    asked = {"filter": "schema_title=system.Experiment"}
    return await visit.read_all(f"{store}/contexts", "contexts", asked, most=_MOST_ROWS)


async def _boards(visit: Visit, parent: str) -> list[Any]:
    """Returns the TensorBoards, each with its ``experiments``."""
    found = await visit.read_all(f"{parent}/tensorboards", "tensorboards", most=_MOST_ROWS)
    for board in found:
        path = f"/v1/{board['name']}/experiments"
        board["experiments"] = await visit.read_all(path, "tensorboardExperiments")
    return found


async def _show(visit: Visit) -> Response:
    name = visit.request.path_params["name"]
    if not _EXPERIMENT.fullmatch(name):
        raise NotFound(f"{name[:200]!r} is no experiment")
    experiment: Any = await visit.get(f"/v1/{name}")
    runs = await _runs(visit, experiment)
    text, by = visit.parameter("filter").strip(), visit.parameter("order").strip()
    problem = ""
    try:
        chosen = choose(runs, text)
    except InvalidArgument as error:
        chosen, problem = [], error.message
    chosen = order(chosen, by) if by else chosen
    params = columns(run.params for run in runs)
    metrics = columns(run.metrics for run in runs)
    ticked = visit.request.query_params.getlist("run")
    drawn = [run for run in chosen if run.name in ticked] or chosen
    drawn = [run for run in drawn if run.curves][:_MOST_CURVES]
    return visit.render(
        "experiment.html",
        experiment=experiment,
        runs=chosen,
        all_runs=len(runs),
        params=params,
        metrics=metrics,
        filter=text,
        problem=problem,
        order=by,
        ticked=ticked,
        orders={each: _order_url(name, text, by, each) for each in _sortable(params, metrics)},
        page_url=experiment_url(name),
        curves=_curves_url(name, drawn),
        drawn=[run.name for run in drawn],
    )


def _sortable(params: Sequence[str], metrics: Sequence[str]) -> list[str]:
    return ["run", "state", "created", *metrics, *params]


def _order_url(name: str, text: str, by: str, column: str) -> str:
    """Returns the URL that sorts by ``column``: ascending, or descending if it already does."""
    asked = {"filter": text} if text else {}
    asked["order"] = f"-{column}" if by == column else column
    return f"{experiment_url(name)}?{urlencode(asked)}"


def _curves_url(name: str, drawn: Sequence[Run]) -> str:
    asked = urlencode([("run", run.curves) for run in drawn])
    return f"{experiment_url(name)}/curves?{asked}" if drawn else ""


async def _runs(visit: Visit, experiment: Mapping[str, Any]) -> list[Run]:
    name = str(experiment["name"])
    if "/tensorboards/" in name:
        found = await visit.read_all(f"/v1/{name}/runs", "tensorboardRuns")
        return [_board_run(each) for each in found]
    store = name.rpartition("/")[0]
    asked = {"filter": f'schema_title=system.ExperimentRun AND parent_contexts:"{name}"'}
    found = await visit.read_all(f"/v1/{store}", "contexts", asked)
    board = (experiment.get("metadata") or {}).get(_BACKING)
    base = f"{board}/experiments/{name.rpartition('/')[2]}/runs" if isinstance(board, str) else ""
    return [_context_run(each, base) for each in found]


def _board_run(found: Mapping[str, Any]) -> Run:
    name = str(found["name"])
    title = str(found.get("displayName") or name.rpartition("/")[2])
    return Run(name, title, created=str(found.get("createTime", "")), curves=name)


def _context_run(found: Mapping[str, Any], board: str) -> Run:
    """Reads a run in the SDK's form; TensorBoard's run has the same title as its name."""
    metadata = found.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    params, metrics = (metadata.get(key) for key in _OWN[:2])
    title = str(found.get("displayName") or found["name"])
    return Run(
        str(found["name"]),
        title,
        str(metadata.get("_state", "")),
        str(found.get("createTime", "")),
        params if isinstance(params, dict) else {},
        metrics if isinstance(metrics, dict) else {},
        f"{board}/{title}" if board and "/" not in title else "",
    )


async def _curves(visit: Visit) -> Response:
    """Returns the series of runs, by tag: ``{"tags": [{"tag", "runs": [{"run", "number",
    "points"}]}]}``.

    ``number`` is the run's place in the request, which selects its colour.
    """
    asked = visit.request.query_params.getlist("run")[:_MOST_CURVES]
    names = [name for name in asked if _RUN.fullmatch(name)]
    tags: dict[str, list[Any]] = {}
    for number, name in enumerate(names):
        found = await visit.read_all(f"/v1/{name}/timeSeries", "tensorboardTimeSeries")
        titles = {
            str(each["name"]): str(each.get("displayName", "")) for each in found[:_MOST_SERIES]
        }
        for series, points in (await _points(visit, name, list(titles))).items():
            made = {"run": name.rpartition("/")[2], "number": number, "points": points}
            tags.setdefault(titles[series], []).append(made)
    answer = [{"tag": tag, "runs": runs} for tag, runs in sorted(tags.items())]
    return JSONResponse({"tags": answer}, headers={"Cache-Control": "no-store"})


async def _points(visit: Visit, run: str, series: Sequence[str]) -> dict[str, list[Any]]:
    """Returns steps and values of the series that have numbers."""
    board = run.partition("/experiments/")[0]
    ends = {each.rpartition("/")[2]: each for each in series}
    if not series:
        return {}
    answer: Any = await visit.get(f"/v1/{board}:batchRead", {"timeSeries": list(series)})
    found: dict[str, list[Any]] = {}
    for data in answer["timeSeriesData"]:
        points = [
            [int(point.get("step", 0)), point["scalar"].get("value", 0)]
            for point in data.get("values", [])
            if "scalar" in point
        ]
        if points:
            found[ends[str(data["tensorboardTimeSeriesId"])]] = points
    return found
