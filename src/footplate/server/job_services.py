"""Creates the job services."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from footplate.ports.package_resolver import PackageResolver
    from footplate.server.context import ServiceContext
    from footplate.server.tuning_services import TuningServices


class JobServices:
    """What every server has for its clients. Nothing of it starts or ends a replica."""

    def __init__(
        self,
        context: ServiceContext,
        tuning: TuningServices,
        resolver: PackageResolver,
        *,
        reduction: bool,
    ) -> None:
        """``reduction``: whether jobs may have reduction servers."""
        settings, catalogue, regions = context.settings, context.catalogue, context.regions
        store, buckets, clock = context.store, context.buckets, context.clock
        queue, leader, check_room = context.queue, context.leader, context.reserve.check
        self.quotas = QuotaBook(context.quotas, queue.held, context.notifications.see_quotas)
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
        )
        self.status = Status(store, clock, leader.wake)
        self.validation = Validation(
            store, submission_checks, buckets, catalogue, regions.site, queue.outlook, check_room
        )
        self.package_checks = PackageChecks(
            submission_checks, buckets, catalogue, regions.site, resolver
        )
