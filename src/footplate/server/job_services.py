"""Creates the job services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.active_jobs import Queue
from footplate.control.jobs import Jobs
from footplate.control.package_checks import PackageChecks
from footplate.control.quotas import QuotaBook
from footplate.control.status import Status
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.validation import Validation
from footplate.domain.jobs import RestartBounds
from footplate.server.host_directories import HostDirectories
from footplate.server.machine import RandomIds

if TYPE_CHECKING:
    from footplate.control.regions import Regions
    from footplate.domain.catalogue import Catalogue
    from footplate.ports.container_engine import ContainerEngine
    from footplate.ports.package_resolver import PackageResolver
    from footplate.server.leadership import LeadershipServices
    from footplate.server.notifications import Notifications
    from footplate.server.persistence import Persistence
    from footplate.server.tuning_services import TuningServices
    from footplate.settings import Settings


class JobServices:
    """What every server has for its clients. Nothing of it starts or ends a replica."""

    def __init__(
        self,
        kept: Persistence,
        tuning: TuningServices,
        leadership_services: LeadershipServices,
        notifications: Notifications,
        catalogue: Catalogue,
        regions: Regions,
        settings: Settings,
        engine: ContainerEngine,
        resolver: PackageResolver,
        *,
        reduction: bool,
    ) -> None:
        """``reduction``: whether jobs may have reduction servers.

        Raises:
            InvalidArgument: all that is wrong with the quotas of the settings.
        """
        store, buckets, clock = kept.store, kept.buckets, kept.clock
        patience_s = settings.patience_s
        self.queue = Queue(
            store, regions, catalogue, patience_s, clock, lambda: self.quotas.quotas()
        )
        self.quotas = QuotaBook(
            kept.database.quotas,
            settings.quotas,
            catalogue,
            self.queue.held,
            notifications.see_quotas,
        )
        bounds = RestartBounds(settings.max_restarts, settings.max_retries)
        quotas, searches = self.quotas.quotas, tuning.resolver
        submission_checks = SubmissionChecks(
            buckets,
            catalogue,
            regions,
            quotas,
            bounds,
            searches,
            engine,
            reduction=reduction,
            path_fault=HostDirectories(settings.job_dir_roots).fault,
            container_images=settings.container_images,
        )
        self.jobs = Jobs(
            store,
            kept.logs,
            kept.usage,
            submission_checks,
            self.queue,
            tuning.trials,
            clock,
            RandomIds(),
            leadership_services.wake,
            leadership_services.begin_search,
            kept.reserve.check,
        )
        self.status = Status(store, clock, leadership_services.wake)
        self.validation = Validation(
            store,
            submission_checks,
            buckets,
            catalogue,
            regions.site,
            self.queue.outlook,
            kept.reserve.check,
        )
        self.package_checks = PackageChecks(
            submission_checks, buckets, catalogue, regions.site, resolver
        )
