"""``footplate ai persistent-resources``, against the routes of the service."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from footplate.api.app import create_app
from footplate.api.security import Access
from footplate.api.vertex_v1 import persistent_resource_routes
from footplate.cli.main import main
from footplate.control.job_queue import Queue
from footplate.control.persistent_resources import PersistentResources
from footplate.domain.persistent_resources import note_provisioned
from footplate.domain.quotas import Quotas
from footplate.server.machine import RandomIds
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.http_server import serve
from tests.support.persistent_resources import MemoryResources
from tests.support.sites import make_regions
from tests.support.store import MemoryStore

POOL = "--resource-pool-spec=machine-type=n1-standard-8,replica-count=2"


@pytest.fixture
def resources() -> MemoryResources:
    return MemoryResources()


@pytest.fixture
def invoke(
    resources: MemoryResources, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Result]]:
    """Run ``footplate ai persistent-resources WORDS``; an exception that is no exit is raised."""
    for name in ("FOOTPLATE_TOKEN", "FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_AI_REGION"):
        monkeypatch.delenv(name, raising=False)
    clock, regions, jobs = FakeClock(), make_regions(), MemoryStore()
    queue = Queue(jobs, regions, built_in(), 3600.0, clock, resources=resources.all)
    service = PersistentResources(
        resources, jobs, queue, regions.site, Quotas, built_in(), clock, queue.resources_changed
    )

    def run(*words: str) -> Result:
        words = ("ai", "persistent-resources", *words)
        result = CliRunner().invoke(main, words, prog_name="footplate")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    routes = persistent_resource_routes(service, clock, RandomIds(), built_in())
    with serve(create_app(routes, Access(None, frozenset()))) as url:
        monkeypatch.setenv("FOOTPLATE_URL", url)
        yield run


def test_create_list_describe_reboot_and_delete(
    invoke: Callable[..., Result], resources: MemoryResources
) -> None:
    made = invoke("create", "--persistent-resource-id=night", POOL, "--labels=team=a")
    assert (made.exit_code, made.stdout) == (0, "")
    name = "projects/demo/locations/us-central1/persistentResources/night"
    assert made.stderr == f"Created {name}.\nStarts in a moment.\n"
    (resource,) = resources.all()
    assert resource.labels == (("team", "a"),)

    refused = invoke("reboot", "night")
    assert refused.exit_code == 1
    assert (
        f"{name} is PROVISIONING; only a resource that is RUNNING can be rebooted"
    ) in refused.stderr
    resources.write(note_provisioned(resource, resource.create_time))

    listed = invoke("list", "--format=value(name,state,resourcePools[0].replicaCount)")
    assert listed.stdout.split() == [name, "RUNNING", "2"]
    assert "usedReplicaCount: '0'" in invoke("describe", name).stdout
    assert invoke("reboot", "night").stderr == f"Reboots {name}.\n"
    assert invoke("describe", "night", "--format=value(state)").stdout == "REBOOTING\n"
    assert "is REBOOTING; only a resource that is RUNNING" in invoke("delete", "night").stderr
    assert invoke("describe", "day").exit_code == 1


def test_pools_of_all_kinds(invoke: Callable[..., Result], resources: MemoryResources) -> None:
    gpus = "machine-type=n1-standard-8,accelerator-type=nvidia-tesla-t4,accelerator-count=2"
    done = invoke(
        "create",
        "--persistent-resource-id=mixed",
        f"--resource-pool-spec={gpus},min-replica-count=1,max-replica-count=3",
        f"{POOL},disk-type=pd-ssd,disk-size=200",
    )
    assert done.exit_code == 0, done.stderr
    scaled, fixed = resources.all()[0].pools
    assert (scaled.replica_count, scaled.machine.accelerator_count) == (3, 2)
    assert (fixed.id, fixed.replica_count) == ("resource-pool-1", 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["machine-type=n1-standard-8"], "replica-count is missing"),
        (["replica-count=1"], "machine-type is missing"),
        (["machine-type=n1-standard-8,replica-count=x"], "replica-count=x is no number"),
        (["machine-type=n1-standard-8,max-replica-count=2"], "min-replica-count is missing"),
        (["machine-type=n1-standard-7,replica-count=1"], "resourcePools[0].machineSpec"),
        (["machine-type=n1-standard-8,replica-count=0"], "0 given; allowed: 1 to 1000"),
    ],
)
def test_what_is_wrong_is_said(invoke: Callable[..., Result], words: list[str], said: str) -> None:
    done = invoke("create", "--persistent-resource-id=r", f"--resource-pool-spec={words[0]}")
    assert done.exit_code != 0
    assert said in done.stderr
