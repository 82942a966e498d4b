"""Routes of Footplate's own API: quotas.

A quota is a part of each project in each region: it is always there, perhaps without limits.
``*`` (or ``-``) in the place of either stands for each one by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.control.quotas import QuotaBook, QuotaInForce
from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.footplate_v1.quotas import Origin, Quota, Quotas
from footplate.wire.json_text import JsonObject, describe


def quota_routes(book: QuotaBook) -> list[Route]:
    api = _QuotasApi(book)
    return [
        json_route("/footplate/v1/quotas", {"GET": api.list}),
        json_route(
            "/footplate/v1/projects/{project}/locations/{region}/quota",
            {"GET": api.get, "PATCH": api.change, "DELETE": api.remove},
        ),
    ]


@dataclass(frozen=True)
class _QuotasApi:
    _book: QuotaBook

    def list(self, _call: Call) -> JsonObject:
        return Quotas(quotas=tuple(map(_answer, self._book.list()))).encode()

    def get(self, call: Call) -> JsonObject:
        return _answer(self._book.get(call.path["project"], call.path["region"])).encode()

    def change(self, call: Call) -> JsonObject:
        """Sets the limits in the body, and leaves others unchanged; null removes a limit."""
        limits = _limits(call.body())
        quota = self._book.change(call.path["project"], call.path["region"], limits)
        return _answer(quota).encode()

    def remove(self, call: Call) -> JsonObject:
        """Unsets all limits. What is answered is in force then: settings are, and ``*``'s."""
        return _answer(self._book.remove(call.path["project"], call.path["region"])).encode()


def _limits(body: JsonObject) -> JsonObject:
    violations = [
        Violation(name[:100], ("this field can't be set; allowed: limits"))
        for name in body
        if name != "limits"
    ]
    limits = body.get("limits")
    if not isinstance(limits, dict) or not limits:
        rule = 'an object such as {"vcpus": 64, "NVIDIA_TESLA_T4": null}'
        violations.append(Violation("limits", f"{describe(limits)} given; allowed: {rule}"))
    if violations or not isinstance(limits, dict):
        raise InvalidArgument.of(tuple(violations))
    return limits


def _answer(quota: QuotaInForce) -> Quota:
    return Quota(
        name=f"projects/{quota.project}/locations/{quota.region}/quota",
        project=quota.project,
        region=quota.region,
        limits={resource: limit.amount for resource, limit in quota.limits.items()},
        origins={
            resource: Origin(source=limit.source.value, project=limit.project, region=limit.region)
            for resource, limit in quota.limits.items()
        },
        used=None if quota.used is None else dict(quota.used),
    )
