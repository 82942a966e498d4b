"""Studies of Vizier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.fake_service.messages import TIME, Answer, failure

if TYPE_CHECKING:
    from tests.support.fake_service.messages import Request, Route
    from tests.support.fake_service.service import FakeService

_STUDIES = "projects/[^/]+/locations/[^/]+/studies"


def _create_study(service: FakeService, request: Request, collection: str) -> Answer:
    name = f"{collection}/{len(service.studies) + 1}"
    service.studies[name] = []
    return Answer(body={**request.json(), "name": name, "state": "ACTIVE", "createTime": TIME})


def _lookup_study(service: FakeService, request: Request, collection: str) -> Answer:
    """It forgets their display names: those of numbers are theirs."""
    name = f"{collection}/{request.json()['displayName']}"
    if name not in service.studies:
        return failure(404, "NOT_FOUND", f"{collection} has no such study")
    return Answer(body={"name": name})


def _create_trial(service: FakeService, request: Request, study: str) -> Answer:
    service.studies[study].append(request.json())
    return Answer(body={**request.json(), "name": f"{study}/trials/{len(service.studies[study])}"})


def _delete_study(service: FakeService, _request: Request, name: str) -> Answer:
    service.studies.pop(name)
    return Answer()


ROUTES: list[Route] = [
    ("POST", rf"/v1/({_STUDIES})", _create_study),
    ("POST", rf"/v1/({_STUDIES}):lookup", _lookup_study),
    ("POST", rf"/v1/({_STUDIES}/[^/:]+)/trials", _create_trial),
    ("DELETE", rf"/v1/({_STUDIES}/[^/:]+)", _delete_study),
]
