"""Creates the job services, and the rule for host directories outside the buckets."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uv

from footplate.control.jobs import Jobs
from footplate.control.package_checks import PackageChecks
from footplate.control.package_patterns import PackagePatterns
from footplate.control.persistent_resources import PersistentResources
from footplate.control.quotas import QuotaBook
from footplate.control.region_reports import RegionReports
from footplate.control.status import Status
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.validation import Validation
from footplate.domain.errors import NotFound
from footplate.domain.jobs import RestartBounds
from footplate.domain.machine_hours import NO_PRICES
from footplate.safe_path import resolve
from footplate.server.machine import RandomIds
from footplate.server.machine_interpreters import MachineInterpreters
from footplate.server.package_sources import read_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.model_registry import Model
    from footplate.domain.names import ModelName
    from footplate.ports.models import ModelStore
    from footplate.ports.package_resolver import PackageResolver
    from footplate.server.context import ServiceContext
    from footplate.server.tuning_services import TuningServices


_KERNEL = (Path("/dev"), Path("/proc"), Path("/sys"))
_MAX_NAME_BYTES = 255


class HostDirectories:
    """Checks directories of this machine for jobs. ``roots`` is the setting ``job_dir_roots``.

    Directories are created only below these roots.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)

    def fault(self, path: str) -> str | None:
        """Returns why a job can't have the absolute path ``path`` as a directory; None if it can.

        Creates nothing. Follows no link below the root, as the job's start won't either.
        """
        place = Path(os.path.normpath(path))
        listed = ", ".join(map(str, self._roots))
        if not any(place.is_relative_to(os.path.normpath(root)) for root in self._roots):
            allows = f"paths below {listed} only" if listed else "no directories of this machine"
            return (
                "allowed: gs://BUCKET/PATH; the setting job_dir_roots of the server "
                f"allows {allows}"
            )
        real = Path(resolve(path, [str(root) for root in self._roots]))
        if any(real.is_relative_to(root) for root in _KERNEL):
            return "allowed: a directory for files, but not one of the kernel, such as /proc"
        if any(len(os.fsencode(name)) > _MAX_NAME_BYTES for name in real.parts):
            return f"allowed: directories with names of at most {_MAX_NAME_BYTES} bytes"
        link = next((each for each in (real, *real.parents) if each.is_symlink()), None)
        if link is not None:
            return f"{link} is a link; allowed: paths below {listed} without links"
        return _unwritable(real)


def _unwritable(path: Path) -> str | None:
    """Returns why ``path`` (which may not exist) can't take new files; None if it can."""
    nearest = next(each for each in (path, *path.parents) if os.path.lexists(each))
    if not nearest.is_dir():
        return f"{nearest} is a file; allowed: a directory"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return f"the server's user can't write into {nearest}; allowed: another directory"
    return None


def _find_model(store: ModelStore, name: ModelName) -> Model | None:
    try:
        return store.get(name)
    except NotFound:
        return None


class JobServices:
    """The parts that every server has for its clients. None of them starts or ends a replica."""

    def __init__(
        self,
        context: ServiceContext,
        tuning: TuningServices,
        resolver: PackageResolver,
        *,
        reduction: bool,
    ) -> None:
        """Creates the services. ``reduction``: jobs may have reduction servers."""
        settings, catalogue, regions = context.settings, context.catalogue, context.regions
        store, buckets, clock = context.store, context.buckets, context.clock
        queue, leader, check_room = context.queue, context.leader, context.reserve.check
        self.quotas = QuotaBook(context.quotas, queue.held, context.notifications.see_quotas)
        self.resources = PersistentResources(
            context.database.persistent_resources,
            store,
            queue,
            regions.site,
            context.quotas.quotas,
            catalogue,
            clock,
            context.notifications.see_resources,
        )
        submission_checks = SubmissionChecks(
            buckets,
            catalogue,
            regions,
            context.quotas.quotas,
            RestartBounds(settings.max_restarts, settings.max_retries),
            tuning.resolver,
            context.engine,
            reduction=reduction,
            path_fault=HostDirectories(settings.job_dir_roots).fault,
            container_images=settings.container_images,
            directories=settings.directories,
            shared_buckets=settings.shared_buckets,
            resource=context.find_resource,
            has_tensorboard=lambda name: bool(context.database.tracking.find((name,))),
            python_fault=MachineInterpreters(
                settings.pythons,
                settings.cache,
                uv.find_uv_bin(),
                {offer.runtime.python for offer in catalogue.runtimes.offers},
                fetches=settings.fetches_interpreters,
            ).fault,
            find_model=partial(_find_model, context.database.models),
            patterns=PackagePatterns(buckets, read_sources).find,
        )
        self.jobs = Jobs(
            store,
            context.logs,
            context.usage,
            submission_checks,
            queue,
            tuning.trials,
            clock,
            RandomIds(),
            leader.wake,
            leader.begin_search,
            check_room,
            lambda region: regions.site(region).engine is not None,
        )
        self.status = Status(store, clock, leader.wake)
        self.region_reports = RegionReports(regions, catalogue, time.monotonic, queue.held_of)
        self.validation = Validation(
            store,
            submission_checks,
            catalogue,
            regions.site,
            queue.outlook,
            check_room,
            settings.prices or NO_PRICES,
        )
        self.package_checks = PackageChecks(
            submission_checks, buckets, catalogue, regions.site, resolver
        )
