"""The methods that link contexts, artifacts and executions, and follow the links."""

from __future__ import annotations

from footplate.api.json_route import Call
from footplate.api.vertex_v1.tracking.resources import Formatter, name_of
from footplate.control.tracking import Lineage, Subgraph
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.tracking.names import ARTIFACTS, CONTEXTS, EXECUTIONS
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.vertex_v1.tracking_kinds import KINDS
from footplate.wire.vertex_v1.tracking_requests import read_children, read_events, read_members
from footplate.wire.vertex_v1.tracking_responses import event_json

MAX_HOPS = 100
"""What an unlimited query is limited to; clients ask for that with -1."""


class LineageApi:
    """The handlers of lineage, one for each API method."""

    def __init__(self, lineage: Lineage, formatter: Formatter, clock: Clock) -> None:
        self._lineage = lineage
        self._formatter = formatter
        self._clock = clock

    def add_members(self, call: Call) -> JsonObject:
        context = name_of(call, CONTEXTS)
        self._lineage.link(context, read_members(context, call.body(), self._clock.now()))
        return {}

    def add_children(self, call: Call) -> JsonObject:
        context = name_of(call, CONTEXTS)
        self._lineage.link(context, read_children(context, call.body(), self._clock.now()))
        return {}

    def remove_children(self, call: Call) -> JsonObject:
        context = name_of(call, CONTEXTS)
        links = read_children(context, call.body(), self._clock.now())
        self._lineage.unlink(context, [link.target for link in links])
        return {}

    def add_events(self, call: Call) -> JsonObject:
        execution = name_of(call, EXECUTIONS)
        self._lineage.link(execution, read_events(execution, call.body(), self._clock.now()))
        return {}

    def of_context(self, call: Call) -> JsonObject:
        return self._answer(self._lineage.of_context(name_of(call, CONTEXTS)))

    def of_execution(self, call: Call) -> JsonObject:
        return self._answer(self._lineage.of_execution(name_of(call, EXECUTIONS)))

    def of_artifact(self, call: Call) -> JsonObject:
        if call.parameter("filter"):
            raise InvalidArgument.of(
                (Violation("filter", "filters are not supported; limit the graph by maxHops"),)
            )
        hops = _hops(call.parameter("maxHops", "max_hops"))
        return self._answer(self._lineage.of_artifact(name_of(call, ARTIFACTS), hops))

    def _answer(self, graph: Subgraph) -> JsonObject:
        answer: JsonObject = {}
        for kind in (ARTIFACTS, EXECUTIONS):
            if found := graph.of(kind):
                answer[kind] = [*self._formatter.all(KINDS[kind], found)]
        if graph.events:
            answer["events"] = [event_json(event) for event in graph.events]
        return answer


def _hops(given: str | None) -> int:
    """Returns the limit of hops; without a number, and for 0 and negative ones, the maximum."""
    try:
        hops = int(given or 0)
    except ValueError:
        said = f"{describe(given)} given; allowed: a number"
        raise InvalidArgument.of((Violation("maxHops", said),)) from None
    return min(hops, MAX_HOPS) if hops > 0 else MAX_HOPS
