"""Changes of a job with which it may start sooner: each valid, each a change."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from footplate.catalogue import load_catalogue
from footplate.domain.jobs import JobSpec, MachineSpec, WorkerPool
from footplate.domain.machines import MachineRequest, accelerators_of, check_machines
from footplate.domain.preview.alternatives import variations
from footplate.domain.sites import counted
from tests.support import strategies
from tests.support.jobs import PROGRAM

CATALOGUE = load_catalogue()
T4, A100 = "NVIDIA_TESLA_T4", "NVIDIA_TESLA_A100"


def pool(role: str, machine: MachineSpec, count: int = 1) -> WorkerPool:
    return WorkerPool(role, f"{role}-replica", machine, count, PROGRAM)


def spec(*pools: WorkerPool, region: str = "us-central1") -> JobSpec:
    return JobSpec(region=region, pools=pools)


def violations(spec: JobSpec) -> list[str]:
    requests = [MachineRequest(pool.machine, "type", "type", "count") for pool in spec.pools]
    found = check_machines(requests, spec.region, "region", CATALOGUE)
    return [f"{violation.field}: {violation.description}" for violation in found]


ATTACHED = [MachineSpec(name) for name in CATALOGUE.machine_types] + [
    MachineSpec(kind.name, accelerator, count)
    for kind in CATALOGUE.machine_types.values()
    for accelerator, counts in kind.accelerators.items()
    for count in counts
]
"""Machines as the catalogue allows them, without accelerators and with each number of each."""


def machine(number: int) -> MachineSpec:
    """By number: Hypothesis would write the list out."""
    return ATTACHED[number % len(ATTACHED)]


def attached() -> st.SearchStrategy[MachineSpec]:
    return st.integers(0, len(ATTACHED) - 1).map(machine)


specs = st.builds(
    lambda master, others, region: spec(
        master, *(pool for pools in others for pool in pools), region=region
    ),
    st.builds(pool, st.just("master"), attached()),
    st.tuples(
        st.lists(st.builds(pool, st.just("worker"), attached(), st.integers(1, 20)), max_size=1),
        st.lists(st.builds(pool, st.just("ps"), attached(), st.integers(1, 3)), max_size=1),
        st.lists(st.builds(pool, st.just("evaluator"), attached()), max_size=1),
    ),
    st.sampled_from(sorted(CATALOGUE.regions)),
)


@given(specs)
def test_every_variation_is_valid_and_another_job_with_a_name_of_its_own(job: JobSpec) -> None:
    found = list(variations(job, CATALOGUE))

    assert [(words, violations(other)) for words, other in found if violations(other)] == []
    assert job not in [other for _, other in found]
    assert len({words for words, _ in found}) == len(found) <= 12
    for _, other in found:
        assert other.primary.replica_count == 1
        assert len(other.replica_names()) <= len(job.replica_names())


@given(specs)
def test_what_is_asked_for_grows_only_in_the_place_of_something_else(job: JobSpec) -> None:
    now = counted(job, CATALOGUE)
    for words, other in variations(job, CATALOGUE):
        then = counted(other, CATALOGUE)
        more = {name for name, amount in then.items() if amount > now.get(name, 0)}
        less = {name for name, amount in now.items() if then.get(name, 0) < amount}
        assert more <= set(CATALOGUE.accelerators), words
        assert less or not more, words


def words(job: JobSpec) -> list[str]:
    return [said for said, _ in variations(job, CATALOGUE)]


def test_the_example_of_the_guide_with_thirteen_machines() -> None:
    four = MachineSpec("n1-highcpu-16", T4, 4)
    job = spec(
        pool("master", four), pool("worker", four, 9), pool("ps", MachineSpec("n1-highmem-8"), 3)
    )

    said = words(job)

    assert said[:4] == [
        "with 2 NVIDIA_TESLA_T4 instead of 4",
        "with 1 NVIDIA_TESLA_T4 instead of 4",
        "with 4 workers instead of 9",
        "with 1 worker instead of 9",
    ]
    assert "without workers" not in said  # there are parameter servers to serve them
    assert "with n1-highmem-4 instead of n1-highmem-8 for ps" in said
    assert any(each.startswith("in us-") for each in said)
    halved = dict(variations(job, CATALOGUE))["with 2 NVIDIA_TESLA_T4 instead of 4"]
    assert [accelerators_of(p.machine, CATALOGUE) for p in halved.pools] == [
        (T4, 2),
        (T4, 2),
        (None, 0),
    ]


def test_pools_that_have_different_numbers_are_changed_one_at_a_time() -> None:
    job = spec(
        pool("master", MachineSpec("n1-standard-8", T4, 4)),
        pool("worker", MachineSpec("n1-standard-8", T4, 2), 2),
    )

    assert words(job)[:3] == [
        "with 2 NVIDIA_TESLA_T4 instead of 4 for master",
        "with 1 NVIDIA_TESLA_T4 instead of 4 for master",
        "with 1 NVIDIA_TESLA_T4 instead of 2 for worker",
    ]


def test_a_number_that_another_pools_machine_does_not_take_is_not_offered() -> None:
    job = spec(
        pool("master", MachineSpec("n1-standard-32", T4, 4)),
        pool("worker", MachineSpec("n1-standard-8", T4, 4), 2),
    )

    assert "with 2 NVIDIA_TESLA_T4 instead of 4" in words(job)
    assert "with 1 NVIDIA_TESLA_T4 instead of 4" not in words(job)


def test_machines_that_come_with_their_accelerators() -> None:
    job = spec(pool("master", MachineSpec("a2-highgpu-4g", A100, 4)))

    assert words(job)[:2] == [
        "with a2-highgpu-2g instead of a2-highgpu-4g",
        "with a2-highgpu-1g instead of a2-highgpu-4g",
    ]


def test_one_worker_becomes_none() -> None:
    job = spec(
        pool("master", MachineSpec("n1-standard-4")), pool("worker", MachineSpec("n1-standard-4"))
    )

    assert words(job)[0] == "without workers"
    assert dict(variations(job, CATALOGUE))["without workers"].pools == job.pools[:1]


def test_a_machine_that_there_is_nothing_smaller_than() -> None:
    job = spec(pool("master", MachineSpec("n1-standard-4")))
    smallest = spec(pool("master", MachineSpec("cloud_tpu")), region="nowhere")

    assert not any("instead of" in said for said in words(smallest))
    assert all(other != job for _, other in variations(job, CATALOGUE))


def test_regions_of_the_same_continent_come_first() -> None:
    job = replace(spec(pool("master", MachineSpec("n1-standard-4"))), region="europe-west4")

    regions = [said for said in words(job) if said.startswith("in ")]
    assert regions
    assert all(said.startswith("in europe-") for said in regions)


@given(strategies.specs)
def test_of_jobs_that_are_not_valid_there_may_be_none(job: JobSpec) -> None:
    assert all(not violations(other) for _, other in variations(job, CATALOGUE))
