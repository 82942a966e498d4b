"""Sites for tests: a machine with little of everything."""

from __future__ import annotations

from footplate.control.regions import Binding, Regions
from footplate.domain.sites import EngineMachines, Gpu, Mode, Site
from tests.support.backend import FakeBackend


def make_site(
    mode: Mode = Mode.EMULATE,
    *,
    name: str = "this machine",
    replicas: int = 4,
    vcpus: int = 8,
    memory_gb: int = 32,
    gpus: int = 0,
) -> Site:
    """``gpus`` of the type NVIDIA_TESLA_T4."""
    devices = tuple(Gpu(str(index), "NVIDIA_TESLA_T4", "Tesla T4") for index in range(gpus))
    return Site(name, mode, replicas, vcpus, memory_gb << 10, devices)


def make_engine_site(
    machines: EngineMachines | None = None,
    *,
    name: str = "Slurm in europe-west4",
    replicas: int = 0,
) -> Site:
    """An engine that queues by itself; ``replicas`` 0: as many as come."""
    return Site(name, Mode.EMULATE, replicas, 0, 0, engine=machines or EngineMachines("Slurm"))


def make_regions(site: Site | None = None) -> Regions:
    """All regions bound to one site, on which nothing happens by itself."""
    return Regions(Binding(FakeBackend(), site or make_site()))
