"""Asks the engine of a region what must hold before any job waits there."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.backends.engine.engine import LauncherRequest
from footplate.backends.region_bindings import ANY_MACHINE
from footplate.backends.slurm import SlurmEngine
from footplate.backends.slurm.container_check import ContainerCheck
from footplate.backends.slurm.mapping_check import check_mapping
from footplate.domain.sites import memory_mb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.backends.engine.engine import Engine
    from footplate.backends.region_bindings import RegionBinding
    from footplate.domain.catalogue import Catalogue
    from footplate.ports.backend import ReplicaMachine
    from footplate.ports.engines import EngineReport


def make_check(
    engine: Engine, region: RegionBinding, catalogue: Catalogue
) -> Callable[[], EngineReport]:
    """Returns a check of the engine: its resources, the mapped machines, and the nodes' containers.

    Only Slurm can be asked whether it would accept each machine of the mapping, and whether its
    nodes run containers, if they shall.
    """
    if not isinstance(engine, SlurmEngine):  # only Slurm can be asked without a job
        return engine.check
    samples = make_samples(region, catalogue)
    if not region.containers:
        return lambda: check_mapping(engine.check(), engine.try_out, samples)
    if not engine.asks_nodes:
        return lambda: _say_unasked(check_mapping(engine.check(), engine.try_out, samples))
    check = ContainerCheck(engine.run_on_node, region.engine_socket, time.monotonic)
    return lambda: check.extend(check_mapping(engine.check(), engine.try_out, samples))


def _say_unasked(report: EngineReport) -> EngineReport:
    fact = (
        "containers: slurmrestd can't check container engines on a node; the first job with an "
        "image shows whether an engine answers"
    )
    return replace(report, facts=(*report.facts, fact)) if report.reachable else report


def make_fault(engine: Engine) -> Callable[[Mapping[str, ReplicaMachine]], str | None]:
    """Returns a function that says why no job can ever have some machines; None if one can.

    It gets the machines by replica, and doesn't call the engine.
    """
    return lambda machines: engine.fault([LauncherRequest.on(*each) for each in machines.items()])


def make_samples(region: RegionBinding, catalogue: Catalogue) -> dict[str, LauncherRequest]:
    """Returns a sample launcher for each mapped machine type, and one for each accelerator."""
    samples = {}
    for name in region.machines:
        kind = catalogue.machine_types.get(name)
        if name != ANY_MACHINE and kind is not None:
            sample = LauncherRequest("", name, kind.vcpus, memory_mb(kind))
            samples[f"machines.{name}"] = sample
    for name in region.accelerators:
        sample = LauncherRequest("", vcpus=1, accelerator_type=name, accelerators=1)
        samples[f"accelerators.{name}"] = sample
    return samples
