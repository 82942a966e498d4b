"""The requests that Google's clients make about a project: resource, policy, services, tokens.

Every project exists, as everywhere in Footplate, and is open to everyone who reaches the service.
It has no number, for which 0 stands; in names, where clients go on with it, its id stands.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.api.request_bodies import MAX_JSON_BYTES, read_body
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.formatting import quoted
from footplate.domain.names import PROJECT_NUMBER, check_project
from footplate.wire.iam import (
    BatchEnableServicesRequest,
    GetIamPolicyRequest,
    TestIamPermissionsRequest,
)
from footplate.wire.json_text import JsonObject

SERVICES = ("aiplatform", "logging", "ml", "storage")
"""Those of Google's services that have an API here."""
_TOKEN_S = 3600
_DONE: JsonObject = {"name": "operations/noop.DONE_OPERATION", "done": True, "response": {}}


def cloud_project_routes() -> list[Route]:
    """Returns the routes of resource manager v1 and v3, service usage v1 and OAuth's ``/token``."""
    routes = []
    for version, get in (("/v1", _project_v1), ("/v3", _project_v3)):
        project = f"{version}/projects/{{project}}"
        routes += [
            json_route(f"{project}:getIamPolicy", {"POST": _policy}),
            json_route(f"{project}:setIamPolicy", {"POST": _set_policy}),
            json_route(f"{project}:testIamPermissions", {"POST": _permissions}),
            json_route(project, {"GET": get}),
        ]
    services = "/v1/projects/{project}/services"
    return [
        *routes,
        json_route(services, {"GET": _services}),
        json_route(f"{services}:batchEnable", {"POST": _enable_several}),
        json_route(f"{services}/{{service}}:enable", {"POST": _enable}),
        json_route(f"{services}/{{service}}", {"GET": _service}),
        Route("/token", _token, methods=["POST"]),
    ]


def _project_v1(call: Call) -> JsonObject:
    project = _checked(call)
    return {
        "projectNumber": PROJECT_NUMBER,
        "projectId": project,
        "name": project,
        "lifecycleState": "ACTIVE",
    }


def _project_v3(call: Call) -> JsonObject:
    project = _checked(call)
    return {
        "name": f"projects/{PROJECT_NUMBER}",
        "projectId": project,
        "displayName": project,
        "state": "ACTIVE",
    }


def _policy(call: Call) -> JsonObject:
    """Returns an empty policy: everyone who reaches the server may do everything."""
    _checked(call)
    GetIamPolicyRequest.decode(call.body())
    return {"version": 1, "etag": "ACAB", "bindings": []}


def _set_policy(call: Call) -> JsonObject:
    _checked(call)
    raise InvalidArgument(  # of a status from 500 gcloud would ask again for half a minute
        "Footplate has no IAM policies: everyone who reaches the service may use all "
        "projects. Limit callers with the setting token, and programs of jobs with the "
        "setting api_access"
    )


def _permissions(call: Call) -> JsonObject:
    """Returns all permissions of the request: everyone has all of them."""
    _checked(call)
    asked = TestIamPermissionsRequest.decode(call.body()).permissions
    return {"permissions": [*(asked or ())]}


def _services(call: Call) -> JsonObject:
    project = _checked(call)
    return {"services": [_describe(project, name) for name in SERVICES]}


def _service(call: Call) -> JsonObject:
    project = _checked(call)
    name = call.path["service"].removesuffix(".googleapis.com")
    if name not in SERVICES:
        raise NotFound(
            f"there is no service {quoted(call.path['service'])} here; "
            f"there are {', '.join(SERVICES)} of googleapis.com"
        )
    return _describe(project, name)


def _enable(call: Call) -> JsonObject:
    """Answers that the service is enabled. All are, and scripts often begin with this call."""
    _checked(call)
    call.check_empty()
    return _DONE


def _enable_several(call: Call) -> JsonObject:
    _checked(call)
    BatchEnableServicesRequest.decode(call.body())
    return _DONE


def _describe(project: str, service: str) -> JsonObject:
    host = f"{service}.googleapis.com"
    return {
        "name": f"projects/{project}/services/{host}",
        "parent": f"projects/{project}",
        "config": {"name": host, "title": host},
        "state": "ENABLED",
    }


def _checked(call: Call) -> str:
    project = call.path["project"]
    check_project(project)
    return project


async def _token(request: Request) -> Response:
    """Returns an access token of the made-up service account (RFC 6749, 5.1). It grants nothing."""
    await read_body(request, MAX_JSON_BYTES)
    token = {"access_token": "footplate", "token_type": "Bearer", "expires_in": _TOKEN_S}
    return JSONResponse(token, headers={"cache-control": "no-store"})
