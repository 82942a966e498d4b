"""The parts that take jobs in and tell of them, made and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.gate import Gate
from footplate.control.jobs import Jobs
from footplate.control.package_checks import PackageChecks
from footplate.control.queue import Queue
from footplate.control.quotas import QuotaBook
from footplate.control.status import Status
from footplate.control.validation import Validation
from footplate.domain.jobs import RestartBounds
from footplate.server.machine import RandomIds
from footplate.server.plain_directories import PlainDirectories

if TYPE_CHECKING:
    from footplate.control.regions import Regions
    from footplate.domain.catalogue import Catalogue
    from footplate.ports.container_engine import ContainerEngine
    from footplate.ports.package_resolver import PackageResolver
    from footplate.server.kept import Kept
    from footplate.server.news import News
    from footplate.server.terms import Terms
    from footplate.server.tuning import TuningParts
    from footplate.settings import Settings


class JobParts:
    """What every server has for its clients. Nothing of it starts or ends a replica."""

    def __init__(
        self,
        kept: Kept,
        tuning: TuningParts,
        terms: Terms,
        news: News,
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
            kept.database.quotas, settings.quotas, catalogue, self.queue.held, news.see_quotas
        )
        bounds = RestartBounds(settings.max_restarts, settings.max_retries)
        quotas, searches = self.quotas.quotas, tuning.resolver
        gate = Gate(
            buckets,
            catalogue,
            regions,
            quotas,
            bounds,
            searches,
            engine,
            reduction=reduction,
            path_fault=PlainDirectories(settings.job_dir_roots).fault,
            container_images=settings.container_images,
        )
        self.jobs = Jobs(
            store,
            kept.logs,
            kept.usage,
            gate,
            self.queue,
            tuning.trials,
            clock,
            RandomIds(),
            terms.wake,
            terms.begin_search,
            kept.reserve.check,
        )
        self.status = Status(store, clock, terms.wake)
        self.validation = Validation(
            store,
            gate,
            buckets,
            catalogue,
            regions.site,
            self.queue.outlook,
            kept.reserve.check,
        )
        self.package_checks = PackageChecks(gate, buckets, catalogue, regions.site, resolver)
