"""One running service: every part made and joined, from the settings alone."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.middleware import Middleware

from footplate import __version__
from footplate.api.app import create_app
from footplate.api.footplate_v1 import About, ServerView
from footplate.api.led_elsewhere import LedElsewhere
from footplate.api.logging_v2 import EndOfStream, Followers
from footplate.api.security import Access
from footplate.catalogue import load_catalogue
from footplate.control.admission import Admission
from footplate.control.exports import Exports
from footplate.control.hangs import HangLimits, HangWatch
from footplate.control.models import ModelRegistry
from footplate.control.reconciler import HEARING_S, Reconciler
from footplate.control.regions import Binding, Regions
from footplate.control.round import Round
from footplate.domain.errors import Unavailable
from footplate.ports.servers import Member
from footplate.replica.archive import build_archive
from footplate.server.company import Company
from footplate.server.container_engine import ServiceEngine
from footplate.server.draining import Draining
from footplate.server.faces import make_routes
from footplate.server.jobs import JobParts
from footplate.server.kept import Kept, open_database
from footplate.server.machine import RandomIds, machine_id
from footplate.server.news import News
from footplate.server.no_backend import NoBackend
from footplate.server.package_resolver import ProcessResolver
from footplate.server.replicas import ReplicaParts
from footplate.server.site import local_site
from footplate.server.supervision import local_backend
from footplate.server.term import Term
from footplate.server.terms import Terms
from footplate.server.tuning import TuningParts

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.leases import Lease
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings


class Service:
    """The parts of a service that lives in ``data_dir`` and answers at ``url``."""

    def __init__(self, settings: Settings, data_dir: DataDir, url: str) -> None:
        self._settings = settings
        self._data_dir = data_dir
        self._catalogue = catalogue = load_catalogue(settings.catalogue)
        self.site = local_site(settings, catalogue)
        me = _member(data_dir, url)
        database = open_database(settings, data_dir, me.id)
        self.company = Company(database, me, data_dir, settings.lease_s)
        self.company.join()
        self._kept = kept = Kept(
            settings, data_dir, database, lambda: self.company.leads, lambda uid: news.see(uid)
        )
        self._archive = build_archive(settings.cache)
        self._terms = terms = Terms(self._make_term, data_dir, lambda: self.wishes.dismiss())
        self._news = news = News(terms, kept.logs, lambda: self._parts.queue)
        self._tuning = tuning = TuningParts(kept.store, database.studies, kept.clock, terms.changed)
        regions = Regions(Binding(NoBackend(), self.site))
        self._engine = engine = ServiceEngine(settings, data_dir)
        self._replicas = replicas = ReplicaParts(
            kept, tuning, terms, catalogue, regions.site, settings, data_dir.secret(), url, engine
        )
        self.wishes = replicas.wishes
        reduction = replicas.reduction.complete
        resolver = ProcessResolver(settings, data_dir, catalogue.runtimes, self._archive)
        self._parts = parts = JobParts(
            *(kept, tuning, terms, news, catalogue, regions, settings, engine, resolver),
            reduction=reduction,
        )
        self._registry = ModelRegistry(
            database.models, kept.buckets, kept.clock, RandomIds(), terms.wake_exports
        )
        self.jobs, self.status = parts.jobs, parts.status
        self._draining = Draining(lambda: self.status.active() or self.status.trials())
        self.app = self._make_app(url)

    def _make_app(self, url: str) -> EndOfStream:
        about = About(__version__, url, os.getpid(), str(self._data_dir.root))
        followers = Followers()
        routes = make_routes(
            about,
            self._catalogue,
            self._kept,
            self._parts,
            self._replicas,
            self._tuning,
            self._registry,
            self._news.watchers,
            followers,
            self._draining.begin,
            self._servers,
        )
        access = Access.at(url, self._settings.token, self._settings.allowed_hosts)
        access = replace(access, check_key=self._replicas.programs.check)
        company = self.company
        led = Middleware(LedElsewhere, leads=lambda: company.leads, url=lambda: company.leader_url)
        return EndOfStream(create_app(routes, access, inner=[led]), followers)

    def _make_term(self, lease: Lease) -> Term:
        """All that leads, made anew: what it writes is written only under this lease."""
        queue, replicas = self._parts.queue, self._replicas
        queue.refresh()
        settings, clock, catalogue = self._settings, self._kept.clock, self._catalogue
        fenced = self._kept.database.fenced(lease)
        store = self._kept.telling(fenced)
        backend = local_backend(settings, self._data_dir, self._archive)
        regions = Regions(Binding(backend, self.site))
        term = Term(backend, lambda: self.company.leads, self._engine.leftovers())
        limits = HangLimits(
            settings.usage_s, settings.heartbeat_s, settings.hang_s, settings.hang_limit_s
        )
        hangs = HangWatch(store, clock, limits, HEARING_S, replicas.stacks.tell, term.look_at)
        grace_s = settings.evaluator_grace_s
        reconciler = Reconciler(store, regions, clock, replicas.tokens, grace_s, hangs)
        control = Round(Admission(store, queue, regions, catalogue, clock), reconciler)
        buckets = self._kept.buckets
        registry = ModelRegistry(fenced.models, buckets, clock, RandomIds())
        tuner = self._tuning.make_tuner(store, fenced.studies, registry, term.wake, term.wake_tuner)
        exports = Exports(fenced.models, buckets, clock)
        term.join(control, reconciler, hangs, tuner, exports)
        return term

    def start(self) -> None:
        """Take up what is there if this server leads, then follow every change."""
        self._kept.disk.start()
        self.company.start(self._terms.begin, self._terms.end, self._news.hear, self._news.miss)

    def has_company(self) -> bool:
        """Whether other servers go on when this one ends, as far as is known."""
        try:
            return len(self.company.members()) > 1
        except Unavailable:
            return False

    def _servers(self) -> tuple[ServerView, ...]:
        leader = self.company.leader_url
        return tuple(
            ServerView(m.url, m.pid, m.version, leads=m.url == leader)
            for m in self.company.members()
        )

    def on_drained(self, drained: Callable[[], None]) -> None:
        """``drained`` is called when the end was asked for and no job is active any more, or this
        server may not go on.
        """
        self._draining.drained = drained
        self.company.put_out = drained

    def close(self) -> None:
        """Stop following. Jobs go on."""
        self._tuning.models.close()  # what waits for one of them doesn't hold up the end
        self.company.close()
        self._kept.close()


def _member(data_dir: DataDir, url: str) -> Member:
    return Member(
        id=secrets.token_hex(6),
        url=url,
        pid=os.getpid(),
        version=__version__,
        machine=machine_id(),
        host=socket.gethostname(),
        data_dir=str(data_dir.root),
        data_dir_id=data_dir.identity().id,
    )
