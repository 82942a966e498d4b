from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.catalogue import load_catalogue
from footplate.domain.jobs import JobSpec, MachineSpec
from footplate.domain.resources import REPLICAS, total
from footplate.domain.sites import Gpu, Mode, Site
from footplate.domain.sites.gpu_assignment import (
    are_real,
    assign,
    done_without,
    finds_gpus,
    held_with,
    variables,
    visible,
)
from tests.support.jobs import make_spec
from tests.support.sites import make_engine_site

CATALOGUE = load_catalogue()
TYPES = ("NVIDIA_TESLA_T4", "NVIDIA_L4", "NVIDIA_TESLA_K80")
T4, L4, K80 = TYPES
CPU = MachineSpec("n1-standard-4")


def with_gpus(count: int, kind: str = T4) -> MachineSpec:
    return MachineSpec("n1-standard-4", kind, count)


def make_gpus(*kinds: str | None) -> tuple[Gpu, ...]:
    return tuple(Gpu(str(i), kind, f"model of {kind}") for i, kind in enumerate(kinds))


def make_site(mode: Mode, *kinds: str | None) -> Site:
    return Site("local", mode, 8, 64, 1 << 20, make_gpus(*kinds))


def job_of(*pools: tuple[MachineSpec, int]) -> JobSpec:
    first = make_spec().primary
    return replace(
        make_spec(),
        pools=tuple(
            replace(first, machine=machine, replica_count=count, replica_prefix=f"pool{index}")
            for index, (machine, count) in enumerate(pools)
        ),
    )


def test_each_replica_gets_its_own_the_primary_first() -> None:
    spec = job_of((with_gpus(2), 1), (with_gpus(1), 2), (CPU, 1))
    for mode in Mode:
        site = make_site(mode, T4, T4, T4, T4, T4)
        assert assign(spec, CATALOGUE, site, {"1"}) == {
            "pool0-0": ("0", "2"),
            "pool1-0": ("3",),
            "pool1-1": ("4",),
        }


def test_a_job_without_gpus_gets_none() -> None:
    for mode in Mode:
        assert assign(job_of((CPU, 3)), CATALOGUE, make_site(mode, T4), {"0"}) == {}


def test_those_that_exist_are_waited_for_and_the_others_done_without() -> None:
    spec = job_of((with_gpus(4), 13))
    site = make_site(Mode.EMULATE, *[T4] * 5)

    assert assign(spec, CATALOGUE, site, {"4"}) is None
    assert assign(spec, CATALOGUE, site, ()) == {f"pool0-{i}": (str(i),) for i in range(5)}
    assert done_without(spec, CATALOGUE, site) == (
        "the job runs with 5 of its 52 NVIDIA_TESLA_T4: this machine has 5 GPUs",
    )


def test_what_is_too_few_is_shared_evenly() -> None:
    spec = job_of((with_gpus(4), 1), (with_gpus(2), 2))
    shared = assign(spec, CATALOGUE, make_site(Mode.EMULATE, *[T4] * 5), ())
    assert shared == {"pool0-0": ("0", "1"), "pool1-0": ("2", "3"), "pool1-1": ("4",)}


def test_emulating_any_model_serves_the_right_one_first() -> None:
    spec = job_of((with_gpus(1, L4), 1), (with_gpus(1, T4), 1))
    given = assign(spec, CATALOGUE, make_site(Mode.EMULATE, T4, L4), ())
    assert given == {"pool0-0": ("1",), "pool1-0": ("0",)}

    site = make_site(Mode.EMULATE, None, None)
    assert assign(spec, CATALOGUE, site, ()) == {"pool0-0": ("0",), "pool1-0": ("1",)}
    assert done_without(spec, CATALOGUE, site) == (
        "the job gets model of None, which this machine has, instead of NVIDIA_L4",
        "the job gets model of None, which this machine has, instead of NVIDIA_TESLA_T4",
    )


def test_enforcing_only_the_right_type_and_number_will_do() -> None:
    assert assign(job_of((with_gpus(1), 1)), CATALOGUE, make_site(Mode.ENFORCE, L4), ()) is None
    two = job_of((with_gpus(2), 1))
    assert assign(two, CATALOGUE, make_site(Mode.ENFORCE, T4, L4), ()) is None
    assert assign(two, CATALOGUE, make_site(Mode.ENFORCE, T4, L4, T4), ()) == {
        "pool0-0": ("0", "2")
    }
    assert make_site(Mode.ENFORCE, T4, None).capacity.keys() == {"vcpus", "memory_mb", T4}
    tpu = job_of((MachineSpec("cloud_tpu"), 1))
    assert assign(tpu, CATALOGUE, make_site(Mode.ENFORCE, T4), ()) is None


def test_gpus_that_come_with_the_machine_type_count() -> None:
    spec = job_of((MachineSpec("standard_gpu"), 1))
    assert assign(spec, CATALOGUE, make_site(Mode.ENFORCE, K80), ()) == {"pool0-0": ("0",)}


@pytest.mark.parametrize(
    ("site", "told"),
    [
        (
            make_site(Mode.EMULATE),
            ("the job runs without its 4 NVIDIA_TESLA_T4: this machine has none",),
        ),
        (
            make_site(Mode.EMULATE, T4),
            ("the job runs with 1 of its 4 NVIDIA_TESLA_T4: this machine has 1 GPU",),
        ),
        (make_site(Mode.EMULATE, T4, T4, T4, T4), ()),
        (make_site(Mode.ENFORCE), ()),
        (
            replace(make_site(Mode.EMULATE), gpus=(Gpu("0", T4, simulated=True),) * 4),
            ("the NVIDIA_TESLA_T4 of the job are simulated: programs find no GPU",),
        ),
    ],
)
def test_what_a_job_does_without(site: Site, told: tuple[str, ...]) -> None:
    assert done_without(job_of((with_gpus(4), 1)), CATALOGUE, site) == told


def test_a_tpu_is_emulated_on_the_cpu() -> None:
    site = make_site(Mode.EMULATE)
    tpu = MachineSpec("cloud_tpu", "TPU_V3", 8)
    spec = job_of((CPU, 1), (tpu, 1))

    assert done_without(spec, CATALOGUE, site) == (
        "the job runs on the CPU without its 8 TPU_V3: this machine has no TPUs",
    )
    own = {"PJRT_DEVICE": "TPU"}
    assert variables(tpu, (), CATALOGUE, site, own) == {
        "JAX_PLATFORMS": "cpu",
        "PJRT_DEVICE": "CPU",
    }
    assert variables(CPU, (), CATALOGUE, site, own) == {}


def test_programs_are_told_their_gpus_wherever_there_are_any() -> None:
    def told(site: Site, devices: tuple[str, ...], **own: str) -> str | None:
        values = variables(CPU, devices, CATALOGUE, site, own)
        assert values.get("CUDA_DEVICE_ORDER", "PCI_BUS_ID") == "PCI_BUS_ID"
        return values.get("CUDA_VISIBLE_DEVICES")

    site = make_site(Mode.EMULATE, T4, T4, T4)
    assert told(site, ("1", "2")) == "1,2"
    assert told(site, ()) == ""
    assert told(site, (), CUDA_VISIBLE_DEVICES="0") == ""
    assert told(make_site(Mode.EMULATE), ()) is None
    assert told(replace(make_site(Mode.EMULATE), hides_gpus=True), ()) == ""


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        (None, ("4", "7")),
        ("", ()),
        ("-1", ()),
        ("0", ("4",)),
        (" 1 , 0", ("7", "4")),
        ("4", ()),
        ("1,2,0", ("7",)),
        ("0,0", ("4",)),
        ("GPU-7c1", ()),
        ("all", ()),
        ("\u0661", ()),
        ("9" * 5000, ()),
    ],
)
def test_a_jobs_own_variable_narrows_and_never_widens(
    wanted: str | None, seen: tuple[str, ...]
) -> None:
    assert visible(("4", "7"), wanted) == seen


def test_simulated_ones_are_not_real() -> None:
    site = replace(make_site(Mode.EMULATE), gpus=(Gpu("0", T4), Gpu("1", T4, simulated=True)))
    assert are_real(("0", "1"), site)
    assert not are_real(("1",), site)
    assert not are_real(("",), site)


machines = st.one_of(st.just(CPU), st.builds(with_gpus, st.integers(1, 4), st.sampled_from(TYPES)))
specs = st.lists(st.tuples(machines, st.integers(1, 3)), min_size=1, max_size=3).map(
    lambda pools: job_of(*pools)
)
sites = st.builds(
    lambda mode, kinds: make_site(mode, *kinds),
    st.sampled_from(Mode),
    st.lists(st.sampled_from((*TYPES, None)), max_size=8),
)


def fits(amounts: dict[str, int], site: Site) -> bool:
    return all(amount <= site.capacity.get(name, 0) for name, amount in amounts.items())


@given(sites, st.lists(specs, max_size=12), st.randoms(use_true_random=False))
def test_whenever_the_amounts_fit_there_are_gpus_for_all(
    site: Site, queue: list[JobSpec], random: Random
) -> None:
    """Jobs come and go in any order; no GPU is ever given twice."""
    # Of vCPUs, memory and replicas there is enough: this is about GPUs.
    site = replace(site, replicas=1000, vcpus=10_000, memory_mb=1 << 30)
    running: list[tuple[JobSpec, dict[str, tuple[str, ...]]]] = []
    for spec in queue:
        held = {device for _, given in running for ids in given.values() for device in ids}
        amounts = total([site.held_by(s, CATALOGUE) for s in (*(r[0] for r in running), spec)])
        given = assign(spec, CATALOGUE, site, held)
        assert given == assign(spec, CATALOGUE, site, sorted(held))
        assert (given is not None) == fits(amounts, site)
        if given is not None:
            check(spec, site, given, held)
            running.append((spec, given))
        if running and random.random() < 0.4:
            running.pop(random.randrange(len(running)))


@given(sites, st.lists(st.tuples(specs, st.sets(st.integers(0, 9), max_size=4)), max_size=4), specs)
def test_whatever_an_earlier_server_gave_what_fits_can_be_given(
    site: Site, earlier: list[tuple[JobSpec, set[int]]], spec: JobSpec
) -> None:
    """It may have had another mode, other GPUs and another catalogue."""
    site = replace(site, replicas=1000, vcpus=10_000, memory_mb=1 << 30)
    held: set[str] = set()
    amounts = [site.held_by(spec, CATALOGUE)]
    for each, numbers in earlier:
        given = {str(number) for number in numbers} - held
        held |= given
        amounts.append(held_with(each, given, CATALOGUE, site))

    if fits(total(amounts), site):
        assert assign(spec, CATALOGUE, site, held) is not None


def test_gpus_that_were_given_count_as_what_they_are_now() -> None:
    spec = job_of((with_gpus(2), 1))
    emulated, enforced = (make_site(mode, T4, L4, None) for mode in Mode)

    assert held_with(spec, ("1", "2"), CATALOGUE, emulated) == {"replicas": 1, "gpus": 2}
    assert held_with(spec, ("2", "7"), CATALOGUE, emulated) == {"replicas": 1, "gpus": 1}
    assert held_with(spec, ("7",), CATALOGUE, emulated) == {"replicas": 1}
    machine = {"vcpus": 4, "memory_mb": 15 << 10}
    assert held_with(spec, ("1", "2"), CATALOGUE, enforced) == {**machine, L4: 1}
    assert held_with(spec, ("0", "1"), CATALOGUE, enforced) == {**machine, T4: 1, L4: 1}
    for site in (emulated, enforced):
        assert held_with(spec, (), CATALOGUE, site) == site.held_by(spec, CATALOGUE)


def check(spec: JobSpec, site: Site, given: dict[str, tuple[str, ...]], held: set[str]) -> None:
    devices = [device for ids in given.values() for device in ids]
    assert len(devices) == len(set(devices))
    assert not held & set(devices)
    kinds = {gpu.id: gpu.accelerator for gpu in site.gpus}
    assert all(given.values())
    for name, pool, _ in spec.replicas():
        ids = given.get(name, ())
        wanted = pool.machine.accelerator_count
        assert len(ids) <= wanted
        if site.mode is Mode.ENFORCE:
            assert [kinds[i] for i in ids] == [pool.machine.accelerator_type] * wanted


def test_on_an_engine_programs_find_the_gpus_that_the_engine_gives() -> None:
    site = make_engine_site()
    spec = job_of((with_gpus(2), 1), (CPU, 1))

    assert assign(spec, CATALOGUE, site, ()) == {}
    assert done_without(spec, CATALOGUE, site) == ()
    assert site.held_by(spec, CATALOGUE) == {}
    assert finds_gpus(with_gpus(2), (), CATALOGUE, site)
    assert not finds_gpus(CPU, (), CATALOGUE, site)
    tpu = MachineSpec("cloud-tpu", "TPU_V2", 8)
    assert variables(tpu, (), CATALOGUE, site, {}) == {}
    assert make_engine_site(replicas=1).held_by(spec, CATALOGUE) == {REPLICAS: 1}
