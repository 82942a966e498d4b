"""How far lineage is followed, and what links add to it and take from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from footplate.api.json_route import Call
from footplate.api.vertex_v1.tracking.lineage import MAX_HOPS, LineageApi
from footplate.api.vertex_v1.tracking.resources import Formatter
from footplate.control.tracking import Lineage, Subgraph, TimeSeries
from footplate.domain.errors import InvalidArgument
from footplate.domain.tracking.names import TrackingName
from footplate.ports.tracking import TrackingStore
from footplate.store import open_store
from tests.support.clock import FakeClock
from tests.support.tracking import STORE, make_resource, name

STEPS = 3


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TrackingStore]:
    """A chain: artifact a0, execution e0, artifact a1, execution e1 and so on."""
    with closing(open_store(f"sqlite:///{tmp_path}/footplate.db")) as opened:
        made = opened.tracking
        made.create([make_resource(STORE)])
        made.create([make_resource(f"{STORE}/artifacts/a{n}") for n in range(STEPS + 1)])
        made.create([make_resource(f"{STORE}/executions/e{n}") for n in range(STEPS)])
        yield made


class HopsLineage(Lineage):
    """Knows how many hops were asked for."""

    asked = 0

    def of_artifact(self, artifact: TrackingName, max_hops: int) -> Subgraph:
        self.asked = max_hops
        return super().of_artifact(artifact, max_hops)


@pytest.fixture
def lineage(store: TrackingStore) -> HopsLineage:
    return HopsLineage(store)


@pytest.fixture
def api(store: TrackingStore, lineage: HopsLineage) -> LineageApi:
    made = LineageApi(lineage, Formatter(lineage, TimeSeries(store)), FakeClock())
    for n in range(STEPS):
        events = [
            {"artifact": f"{STORE}/artifacts/a{n}", "type": "INPUT"},
            {"artifact": f"{STORE}/artifacts/a{n + 1}", "type": "OUTPUT"},
        ]
        made.add_events(call(f"{STORE}/executions/e{n}", body={"events": events}))
    return made


def call(
    path: str, query: Mapping[str, str] | None = None, body: dict[str, Any] | None = None
) -> Call:
    """``path``: collections and ids in turn."""
    parts = path.split("/")
    names = dict(zip(parts[::2], parts[1::2], strict=True))
    names |= {"project": names["projects"], "location": names["locations"]}
    return Call(names, query or {}, json.dumps(body or {}).encode())


def sizes(graph: dict[str, Any]) -> tuple[int, int, int]:
    artifacts, executions = graph.get("artifacts", ()), graph.get("executions", ())
    return len(artifacts), len(executions), len(graph.get("events", ()))


@pytest.mark.parametrize(
    ("given", "asked", "found"),
    [
        ({}, MAX_HOPS, (4, 3, 6)),
        ({"maxHops": "0"}, MAX_HOPS, (4, 3, 6)),
        ({"maxHops": "-1"}, MAX_HOPS, (4, 3, 6)),
        ({"maxHops": "1"}, 1, (1, 1, 1)),
        ({"max_hops": "2"}, 2, (2, 1, 2)),
        ({"maxHops": "3"}, 3, (2, 2, 3)),
        ({"maxHops": "99"}, 99, (4, 3, 6)),
        ({"maxHops": "101"}, MAX_HOPS, (4, 3, 6)),
    ],
)
def test_an_artifacts_lineage_reaches_as_far_as_asked(
    api: LineageApi,
    lineage: HopsLineage,
    given: dict[str, str],
    asked: int,
    found: tuple[int, int, int],
) -> None:
    graph = api.of_artifact(call(f"{STORE}/artifacts/a0", given))
    assert (lineage.asked, sizes(graph)) == (asked, found)


@pytest.mark.parametrize(
    ("given", "field"), [({"maxHops": "far"}, "maxHops"), ({"filter": "a"}, "filter")]
)
def test_what_no_lineage_is_asked_for_by(
    api: LineageApi, given: dict[str, str], field: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        api.of_artifact(call(f"{STORE}/artifacts/a0", given))
    assert str(refused.value).startswith(f"{field}: ")


def test_an_executions_lineage_is_what_it_read_and_wrote(api: LineageApi) -> None:
    assert sizes(api.of_execution(call(f"{STORE}/executions/e1"))) == (2, 1, 2)


def test_a_contexts_lineage_is_what_was_added_to_it(api: LineageApi, store: TrackingStore) -> None:
    store.create([make_resource(f"{STORE}/contexts/c")])
    context = f"{STORE}/contexts/c"
    members = {"artifacts": [f"{STORE}/artifacts/a0"], "executions": [f"{STORE}/executions/e0"]}
    assert sizes(api.of_context(call(context))) == (0, 0, 0)
    api.add_members(call(context, body=members))
    assert sizes(api.of_context(call(context))) == (1, 1, 1)


def test_a_child_that_is_removed_is_in_no_context(
    api: LineageApi, store: TrackingStore, lineage: HopsLineage
) -> None:
    parent, child = f"{STORE}/contexts/p", f"{STORE}/contexts/c"
    store.create([make_resource(parent), make_resource(child)])
    children = {"childContexts": [child]}
    api.add_children(call(parent, body=children))
    assert lineage.parents([name(child)]) == {name(child): [name(parent)]}
    with pytest.raises(InvalidArgument, match="that doesn't contain it"):
        api.add_children(call(child, body={"childContexts": [parent]}))
    api.remove_children(call(parent, body=children))
    assert lineage.parents([name(child)]) == {}
