"""Routes of Footplate's own API: stack traces of a running job's processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.control.stacks import Stacks
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.jobs import Job
from footplate.domain.names import JobName, parse_job_name
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.stacks import encode_report

MAX_REPLICAS = 1000


def stacks_routes(stacks: Stacks, get_job: Callable[[JobName], Job]) -> list[Route]:
    """Returns the route ``POST /footplate/v1/{job name}:stacks``.

    The body ``{"replicas": [...]}`` chooses some of them.
    """
    api = _StacksApi(stacks, get_job)
    return [json_route("/footplate/v1/{name:path}:stacks", {"POST": api.collect})]


@dataclass(frozen=True)
class _StacksApi:
    _stacks: Stacks
    _get_job: Callable[[JobName], Job]

    def collect(self, call: Call) -> JsonObject:
        replicas = _replicas(call.body())
        job = self._get_job(parse_job_name(call.path["name"]))
        return encode_report(self._stacks.collect(job, replicas))


def _replicas(body: JsonObject) -> tuple[str, ...]:
    unknown = [
        Violation(name[:100], "this field can't be set; allowed: replicas")
        for name in body
        if name != "replicas"
    ]
    value = body.get("replicas", [])
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(names) < len(value) or len(names) > MAX_REPLICAS:
        rule = f"a list of at most {MAX_REPLICAS} names of replicas"
        unknown.append(Violation("replicas", f"{describe(value)} given; allowed: {rule}"))
    if unknown:
        raise InvalidArgument.of(tuple(unknown))
    return tuple(names)
