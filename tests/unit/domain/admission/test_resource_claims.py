"""Persistent resources in the queue: what they hold, and what jobs can use of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.admission import Scheduler
from footplate.domain.admission.claims import make_claim
from footplate.domain.admission.resource_claims import claims_of
from footplate.domain.names import CustomJobName, JobUid
from footplate.domain.persistent_resources import (
    PersistentResource,
    begin_deletion,
    begin_reboot,
    note_provisioned,
)
from footplate.domain.quotas import Quotas
from footplate.domain.resources import MEMORY_MB, REPLICAS, VCPUS
from footplate.domain.sites import Mode, Site
from tests.support.catalogue import built_in
from tests.support.jobs import CREATED, make_spec
from tests.support.persistent_resources import TWO_T4, make_resource
from tests.support.sites import make_site

ENFORCED = make_site(Mode.ENFORCE, vcpus=16, memory_gb=128)
NOW = CREATED.timestamp()
KIND = "n1-standard-4"


def running(resource: PersistentResource) -> PersistentResource:
    return note_provisioned(resource, CREATED)


def see(scheduler: Scheduler, resource: PersistentResource, site: Site = ENFORCED) -> None:
    claims = claims_of(resource, site, built_in())
    scheduler.set_capacity(claims.site, claims.capacity)
    for part in ("held", "waiting", "blocked"):
        scheduler.leave(JobUid(f"{resource.name}:{part}"))
    for claim in filter(None, (claims.held, claims.blocked)):
        scheduler.hold(claim, NOW)
    if claims.waiting is not None:
        scheduler.wait(claims.waiting)


def send(
    scheduler: Scheduler,
    name: str,
    resource: str | None,
    *,
    workers: int = 0,
    site: Site = ENFORCED,
) -> None:
    spec = make_spec(CustomJobName("demo", "us-central1", name), workers=workers)
    spec = replace(spec, persistent_resource=resource)
    scheduler.wait(make_claim(JobUid(name), name, "demo", spec, NOW, site, built_in()))


def test_it_waits_for_its_machines_and_its_jobs_for_it() -> None:
    scheduler = Scheduler({ENFORCED.name: ENFORCED.capacity}, Quotas())
    send(scheduler, "big", None, workers=2)
    assert scheduler.admit(NOW) == ("big",)
    resource = make_resource(count=2)
    see(scheduler, resource)
    send(scheduler, "mine", "night")
    assert scheduler.admit(NOW) == ()
    waits = scheduler.explain(JobUid(f"{resource.name}:waiting"), NOW)
    assert waits is not None
    assert waits.text.startswith("Waits for 8 vCPUs on this machine: 4 of 16 are free; big holds")
    waits = scheduler.explain(JobUid("mine"), NOW)
    assert waits is not None
    assert waits.text.startswith(
        "Waits for 1 n1-standard-4 on persistent resource night: none of 2 is free; "
        "its provisioning holds 2."
    )

    scheduler.leave(JobUid("big"))
    assert scheduler.admit(NOW) == (f"{resource.name}:waiting",)
    see(scheduler, running(resource))
    assert scheduler.admit(NOW) == ("mine",)
    assert scheduler.held("demo", "us-central1") == {VCPUS: 8}, "its jobs count nothing more"


def test_its_machines_are_nobody_elses() -> None:
    scheduler = Scheduler({ENFORCED.name: ENFORCED.capacity}, Quotas())
    see(scheduler, running(make_resource(count=3)))
    send(scheduler, "other", None, workers=1)
    send(scheduler, "mine", "night", workers=1)
    send(scheduler, "mine_too", "night", workers=1)
    assert scheduler.admit(NOW) == ("mine",)
    waits = scheduler.explain(JobUid("other"), NOW)
    assert waits is not None
    assert waits.reason == "Waits for 8 vCPUs on this machine"
    assert "persistent resource night holds 12" in waits.text
    assert waits.starts_by is None, "nobody knows when the resource is deleted"
    waits = scheduler.explain(JobUid("mine_too"), NOW)
    assert waits is not None
    assert waits.text.startswith(
        "Waits for 2 n1-standard-4 on persistent resource night: 1 of 3 is free; mine holds 2."
    )
    assert scheduler.held_of(str(make_resource().name)) == {KIND: 2}


@pytest.mark.parametrize("change", [begin_reboot, begin_deletion])
def test_none_is_usable_while_it_reboots_or_is_deleted(change: object) -> None:
    assert callable(change)
    scheduler = Scheduler({ENFORCED.name: ENFORCED.capacity}, Quotas())
    see(scheduler, change(running(make_resource()), CREATED))
    send(scheduler, "mine", "night")
    assert scheduler.admit(NOW) == ()
    waits = scheduler.explain(JobUid("mine"), NOW)
    assert waits is not None
    assert ("its reboot holds 2" in waits.text) or ("its deletion holds 2" in waits.text)


def test_in_emulate_mode_it_holds_at_most_what_there_is() -> None:
    site = make_site(replicas=4)
    scheduler = Scheduler({site.name: site.capacity}, Quotas())
    resource = running(make_resource(count=6))
    claims = claims_of(resource, site, built_in())
    assert claims.held is not None
    assert claims.held.holds == {REPLICAS: 4}
    assert claims.capacity == {KIND: 6, REPLICAS: 4}
    see(scheduler, resource, site)
    send(scheduler, "three", "night", workers=2, site=site)
    send(scheduler, "two", "night", workers=1, site=site)
    assert scheduler.admit(NOW) == ("three",), "the machine runs four replicas at once"


def test_growing_claims_the_difference() -> None:
    resource = running(make_resource(machine=TWO_T4, count=1))
    (pool,) = resource.pools
    grown = replace(resource, pools=(replace(pool, replica_count=3),))
    claims = claims_of(replace(grown, state=grown.state.UPDATING), ENFORCED, built_in())
    assert claims.held is not None
    assert claims.waiting is not None
    assert claims.blocked is not None
    assert claims.held.holds == {VCPUS: 8, MEMORY_MB: 30 << 10, "NVIDIA_TESLA_T4": 2}
    assert claims.waiting.holds == {VCPUS: 16, MEMORY_MB: 60 << 10, "NVIDIA_TESLA_T4": 4}
    assert claims.waiting.counts == {VCPUS: 16, "NVIDIA_TESLA_T4": 4}
    assert claims.blocked.holds == {"n1-standard-8 with 2 NVIDIA_TESLA_T4": 2}
    assert claims.held.accelerator == "NVIDIA_TESLA_T4"
