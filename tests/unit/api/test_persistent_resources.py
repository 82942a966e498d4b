"""``persistentResources`` of aiplatform v1 and their operations, over stores in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.security import Access
from footplate.api.vertex_v1 import persistent_resource_routes
from footplate.control.job_queue import Queue
from footplate.control.persistent_resources import PersistentResources
from footplate.domain.persistent_resources import end_reboot, note_provisioned
from footplate.domain.quotas import Quotas
from footplate.domain.sites import Mode
from footplate.server.machine import RandomIds
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.http_server import serve
from tests.support.persistent_resources import MemoryResources, make_resource
from tests.support.sites import make_regions, make_site
from tests.support.store import MemoryStore

LOCATION = "/v1/projects/demo/locations/us-central1"
PATH = f"{LOCATION}/persistentResources"
NIGHT = f"{PATH}/night"
POOL = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 2}


class Api:
    def __init__(self, client: httpx.Client, resources: MemoryResources, clock: FakeClock) -> None:
        self.client, self.resources, self.clock = client, resources, clock

    def call(self, verb: str, path: str, body: object = None, **params: str) -> dict[str, Any]:
        self.clock.advance(1.0)
        answer = self.client.request(verb, path, json=body, params=params)
        found: dict[str, Any] = answer.json()
        assert answer.status_code == 200 or "error" in found
        return found

    def create(self, **resource: object) -> dict[str, Any]:
        body = {"resourcePools": [POOL], **resource}
        return self.call("POST", PATH, body, persistentResourceId="night")

    def operation(self, name: str) -> dict[str, Any]:
        return self.call("GET", f"/v1/{name}")


@pytest.fixture
def api() -> Iterator[Api]:
    clock, resources, jobs = FakeClock(), MemoryResources(), MemoryStore()
    regions = make_regions(make_site(Mode.ENFORCE, vcpus=8, memory_gb=64))
    queue = Queue(jobs, regions, built_in(), 3600.0, clock, resources=resources.all)
    service = PersistentResources(
        resources, jobs, queue, regions.site, Quotas, built_in(), clock, queue.resources_changed
    )
    routes = persistent_resource_routes(service, clock, RandomIds(), built_in())
    with (
        serve(create_app(routes, Access(None, frozenset()))) as url,
        httpx.Client(base_url=url) as client,
    ):
        yield Api(client, resources, clock)


def test_operations_are_done_when_the_resource_says_so(api: Api) -> None:
    made = api.create(displayName="d", labels={"a": "b"}, network="projects/1/global/networks/n")
    assert made["done"] is False
    assert made["metadata"]["progressMessage"] == "Starts in a moment."
    name = make_resource().name
    assert api.operation(made["name"]) == made
    api.resources.write(note_provisioned(api.resources.get(name), api.clock.now()))
    done = api.operation(made["name"])
    kind = "type.googleapis.com/google.cloud.aiplatform.v1.PersistentResource"
    assert (done["done"], done["response"]["@type"]) == (True, kind)
    resource = api.call("GET", NIGHT)
    assert done["response"] == {"@type": kind, **resource}
    assert resource["resourcePools"] == [
        {
            "machineSpec": {"machineType": "n1-standard-4"},
            "replicaCount": "2",
            "id": "resource-pool-0",
            "usedReplicaCount": "0",
        }
    ]
    assert resource["network"] == "projects/1/global/networks/n"
    assert (resource["displayName"], resource["labels"]) == ("d", {"a": "b"})

    rebooted = api.call("POST", f"{NIGHT}:reboot", {})
    assert rebooted["done"] is False
    api.resources.write(end_reboot(api.resources.get(name), api.clock.now()))
    assert api.operation(rebooted["name"])["done"] is True

    deleted = api.call("DELETE", NIGHT)
    assert deleted["done"] is False
    assert api.operation(deleted["name"])["done"] is False
    assert api.call("GET", NIGHT)["state"] == "STOPPING"
    api.resources.delete(api.resources.get(name))
    assert api.operation(deleted["name"])["response"]["@type"].endswith("google.protobuf.Empty")
    assert api.operation(made["name"])["error"]["status"] == "NOT_FOUND"
    assert api.call("GET", PATH) == {}


def test_lists_have_pages(api: Api) -> None:
    for number in range(3):
        api.resources.create(make_resource(f"r{number}", at=api.clock.now()))
        api.clock.advance(1.0)
    first = api.call("GET", PATH, pageSize="2")
    names = [each["name"].rpartition("/")[2] for each in first["persistentResources"]]
    assert names == ["r2", "r1"]
    rest = api.call("GET", PATH, pageSize="2", pageToken=first["nextPageToken"])
    assert [each["name"].rpartition("/")[2] for each in rest["persistentResources"]] == ["r0"]


def test_patches_set_what_the_mask_names(api: Api) -> None:
    api.create(displayName="d")
    name = make_resource().name
    api.resources.write(note_provisioned(api.resources.get(name), api.clock.now()))
    body = {"displayName": "e", "resourcePools": [{**POOL, "replicaCount": 1}]}
    assert api.call("PATCH", NIGHT, body, updateMask="resource_pools")["done"] is True
    resource = api.call("GET", NIGHT)
    assert (resource["displayName"], resource["resourcePools"][0]["replicaCount"]) == ("d", "1")
    for mask, said in (("", "required: some of"), ("network", '"network" given; allowed:')):
        assert said in api.call("PATCH", NIGHT, body, updateMask=mask)["error"]["message"]
    body = {"resourcePools": [{**POOL, "replicaCount": 0}]}
    answer = api.call("PATCH", NIGHT, body, updateMask="resourcePools.replicaCount")
    assert answer["error"]["message"].startswith("resourcePools[0].replicaCount: 0 given")
    body = {"resourcePools": [{**POOL, "replicaCount": 3}]}
    answer = api.call("PATCH", NIGHT, body, updateMask="resourcePools")
    assert ("can never get its machines here: the request asks for 12 vCPUs") in answer["error"][
        "message"
    ]


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ({"resourcePools": []}, "resourcePools: 0 given; allowed: 1 to 10"),
        ({"resourcePools": [{}]}, "resourcePools[0].replicaCount: required: 1 to 1000"),
        ({"resourcePools": [{}]}, "resourcePools[0].machineSpec.machineType: required"),
        (
            {"resourcePools": [{**POOL, "id": "a"}, {**POOL, "id": "a"}]},
            (
                'resourcePools[1].id: "a" given, the id of another pool; allowed: a different id '
                "for each pool"
            ),
        ),
        (
            {"resourcePools": [{**POOL, "autoscalingSpec": {"minReplicaCount": 2}}]},
            "resourcePools[0].autoscalingSpec.maxReplicaCount: required",
        ),
        (
            {"resourceRuntimeSpec": {"raySpec": {}}},
            "resourceRuntimeSpec.raySpec: given, but Footplate has no Ray clusters",
        ),
        ({"network": "n"}, "network: "),
        ({"resourcePools": [{**POOL, "replicaCount": 3}]}, "can never get its machines here"),
    ],
)
def test_what_is_wrong_is_refused(api: Api, resource: dict[str, Any], said: str) -> None:
    error = api.create(**resource)["error"]
    assert said in error["message"]
    assert api.resources.all() == ()


def test_names_are_checked(api: Api) -> None:
    api.create()
    assert api.create()["error"]["status"] == "ALREADY_EXISTS"
    body = {"resourcePools": [POOL]}
    for resource_id in ("", "Night", "x" * 64):
        answer = api.call("POST", PATH, body, persistentResourceId=resource_id)
        assert answer["error"]["message"].startswith("persistentResourceId: ")
    elsewhere = PATH.replace("us-central1", "moon-west1")
    answer = api.call("POST", elsewhere, body, persistentResourceId="a")
    assert answer["error"]["message"].startswith("parent: ")
    assert api.call("GET", f"{PATH}/day")["error"]["status"] == "NOT_FOUND"
    assert api.call("GET", f"{NIGHT}/operations/what")["error"]["status"] == "NOT_FOUND"
