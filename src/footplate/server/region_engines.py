"""The regions of engines, and the backends over them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uv

from footplate.backends.engine import EngineBackend, LauncherSettings
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.engine import Engine, LauncherRequest
from footplate.backends.engine.launcher_calls import LauncherCalls
from footplate.backends.engine.launcher_tokens import LauncherTokens
from footplate.backends.engine.node_check import NodeCheck, NodeNeeds
from footplate.backends.engine.warm_launchers import WarmLaunchers, WarmSettings
from footplate.backends.region_bindings import RegionBinding, check_names
from footplate.backends.region_keys import (
    ANY_MACHINE,
    COPIED,
    KUBERNETES,
    LOCAL,
    SHARED,
)
from footplate.backends.slurm import (
    SlurmEngine,
    container_check,
)
from footplate.backends.slurm.mapping_check import check_mapping
from footplate.containers.discovery import COMMANDS
from footplate.control.regions import Binding
from footplate.control.tokens import derive
from footplate.domain.catalogue import Catalogue
from footplate.domain.launchers import LEASE_S
from footplate.domain.sites import EngineMachines, Mode, Site, memory_mb
from footplate.ports.backend import ReplicaMachine
from footplate.ports.engines import SLURM_LABELS, EngineReport
from footplate.protocol.ticket import SupervisorTicket
from footplate.server.credential_files import find_credential_files
from footplate.server.data_dir import DataDir
from footplate.server.engine_clients import describe_limits, make_engine, title_of
from footplate.server.local_backend import find_py_spy
from footplate.server.standby_backend import StandbyBackend

if TYPE_CHECKING:
    from footplate.server.cluster_listener import ClusterListener
    from footplate.settings import Settings


_FOLDER = "regions"
_USE = "launchers"
_CONTAINERS_END_S = 10.0
"""Within which a guard ends a container whose launcher and supervisor were killed."""
MUNGE = Path("/run/munge")
"""Where Slurm's commands prove who calls them: programs don't see it."""


def bind_regions(
    settings: Settings,
    catalogue: Catalogue,
    data_dir: DataDir,
    cluster: ClusterListener | None = None,
) -> dict[str, Binding]:
    """Returns the regions of engines, with backends that do nothing.

    Raises InvalidArgument if the settings contain names that the catalogue lacks.
    """
    check_names(settings.regions, catalogue)
    return {
        region.name: _bind(region, catalogue, partial(_find_needs, region, data_dir, cluster))
        for region in settings.regions
        if region.backend != LOCAL
    }


def _bind(region: RegionBinding, catalogue: Catalogue, needs: Callable[[], NodeNeeds]) -> Binding:
    engine = make_engine(region)
    samples = make_samples(region, catalogue)
    return Binding(
        StandbyBackend(),
        _site(region),
        region.backend,
        _place(region),
        make_check(engine, samples),
        make_fault(engine),
        NodeCheck(engine, needs, samples, container_check.read_answer),
        frozenset(f"{SLURM_LABELS}{name}" for name in region.admit),
    )


def _find_needs(
    region: RegionBinding, data_dir: DataDir, cluster: ClusterListener | None
) -> NodeNeeds:
    return NodeNeeds(
        url="" if cluster is None else cluster.url,
        authority="" if cluster is None else cluster.certificate_file.read_text(),
        scratch=region.scratch or "",
        shared=region.shared or "",
        buckets=str(data_dir.buckets.resolve()) if region.files == SHARED else "",
        uv=str(Path(uv.find_uv_bin())),
        program=container_check.make_program(region.container_engine) if region.containers else "",
    )


class RegionEngines:
    """The engines of regions. ``calls`` answers launchers; ``backends`` are the leader's."""

    def __init__(
        self, settings: Settings, data_dir: DataDir, archive: Path, cluster: ClusterListener | None
    ) -> None:
        self._regions = {r.name: r for r in settings.regions if r.backend != LOCAL}
        self._data_dir = data_dir
        self._cluster = cluster
        self._digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        self._tokens = LauncherTokens(derive(data_dir.secret(), _USE))
        self.calls = LauncherCalls(
            self._tokens,
            {name: AttemptFiles(self._root(name)) for name in self._regions},
            {name: _tickets(region, settings, data_dir) for name, region in self._regions.items()},
            {self._digest: archive},
            {name: self._warm(each) for name, each in self._regions.items() if each.keep_warm_s},
        )

    def bind(
        self,
        bound: Mapping[str, Binding],
        problems: dict[str, Callable[[], tuple[str, ...]]],
        facts: dict[str, Callable[[], tuple[str, ...]]],
    ) -> dict[str, Binding]:
        """Returns the same bindings with working backends, each of which must be closed.

        What reports the problems of each goes to ``problems``, and its jobs that wait for a replica
        to ``facts``.
        """
        backends = {name: self._backend(name) for name in bound}
        problems.update({name: each.problems for name, each in backends.items()})
        facts.update({name: each.describe for name, each in self.calls.warm.items()})
        return {name: replace(each, backend=backends[name]) for name, each in bound.items()}

    def _warm(self, region: RegionBinding) -> WarmLaunchers:
        version = hashlib.sha256(f"{region!r} {self._digest}".encode()).hexdigest()[:16]
        settings = WarmSettings(region.keep_warm_s or 0.0, version, region.max_replicas or 0)
        return WarmLaunchers(region.name, self._tokens, settings)

    def _root(self, name: str) -> Path:
        return self._data_dir.root / _FOLDER / name

    def _backend(self, name: str) -> EngineBackend:
        region = self._regions[name]
        return EngineBackend(
            name=name,
            service=self._data_dir.identity().id,
            engine=make_engine(region),
            settings=LauncherSettings(
                url=self._url,
                authority=self._authority,
                archive=self._digest,
                supervisor=self._digest,
                scratch=region.scratch or "",
                lease_s=region.lease_s or LEASE_S,
                settle_s=_CONTAINERS_END_S if _outlive_jobs(region) else 0.0,
                node_lost_s=region.node_lost_s or 0.0,
                fence=region.fence,
                voids_keys=region.files == COPIED,
            ),
            tokens=self._tokens,
            calls=self.calls,
        )

    def _url(self) -> str:
        return "" if self._cluster is None else self._cluster.url

    def _authority(self) -> str:
        return "" if self._cluster is None else self._cluster.certificate_file.read_text()


def _outlive_jobs(region: RegionBinding) -> bool:
    """Returns whether containers are children of an engine, which the end of a job leaves alone."""
    return bool(region.containers) and region.container_engine not in COMMANDS


def _place(region: RegionBinding) -> str:
    """Returns the region's place in the engine, such as a partition or namespace."""
    if region.partition:
        return f"partition {region.partition}"
    if region.namespace:
        return f"namespace {region.namespace}"
    return region.address or ""


def _site(region: RegionBinding) -> Site:
    types = frozenset(region.machines)
    every = not types or ANY_MACHINE in types
    machines = EngineMachines(
        title_of(region.backend),
        None if every else types,
        frozenset(region.accelerators),
        describe_limits(region),
        runs_containers=region.backend == KUBERNETES or bool(region.containers),
    )
    name = f"{machines.title} in {region.name}"
    return Site(name, Mode.EMULATE, region.max_replicas or 0, 0, 0, engine=machines)


def _tickets(
    region: RegionBinding, settings: Settings, data_dir: DataDir
) -> partial[SupervisorTicket]:
    """Returns what makes the tickets of the region; launchers add what is of their node."""
    directories, files = find_credential_files(settings.buckets, os.environ, settings.regions)
    private = (data_dir.root, *settings.bound_folders, *directories, MUNGE)
    return partial(
        SupervisorTicket,
        cache=f"{region.shared}/footplate" if region.shared else "",
        cache_limit_bytes=settings.cache_limit_bytes,
        build_limits=settings.build_limits,
        buckets=str(data_dir.buckets.resolve()),  # as tasks name what lies there
        files=region.files,
        isolation=settings.isolation,
        allow_root=tuple(settings.allow_root),
        uv=str(Path(uv.find_uv_bin())),
        py_spy=str(find_py_spy() or ""),
        pythons=tuple(settings.pythons),
        fetch_interpreters=settings.fetches_interpreters,
        container_engine=region.container_engine,
        service=data_dir.identity().id,
        private=tuple(str(path.absolute()) for path in private),
        blocked=tuple(str(path.absolute()) for path in files),
        tmp_paths=tuple(str(path) for path in settings.tmp_paths),
        job_dir_roots=tuple(str(path) for path in settings.job_dir_roots),
        spool_limit_bytes=settings.spool_limit_mb << 20,
        keeps_files=region.backend != KUBERNETES,  # a Pod's disk goes with it
    )


def make_check(
    engine: Engine, samples: Mapping[str, LauncherRequest]
) -> Callable[[], EngineReport]:
    """Returns a check of the engine's resources and, where it can be asked without a job, of the
    mapped machines, which ``samples`` has by their settings.
    """
    if not isinstance(engine, SlurmEngine):
        return engine.check
    return lambda: check_mapping(engine.check(), engine.try_out, samples)


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
