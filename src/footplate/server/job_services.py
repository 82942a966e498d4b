"""Creates the job services, and the rule for host directories outside the buckets."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import Request

import uv

from footplate.control.datasets import read_dataset
from footplate.control.jobs import Jobs
from footplate.control.package_checks import PackageChecks
from footplate.control.package_patterns import PackagePatterns
from footplate.control.persistent_resources import PersistentResources
from footplate.control.quotas import QuotaBook
from footplate.control.region_reports import RegionReports
from footplate.control.status import Status
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.validation import Validation
from footplate.domain.datasets import Dataset
from footplate.domain.errors import NotFound
from footplate.domain.formatting import joined
from footplate.domain.jobs import RestartBounds
from footplate.domain.machine_hours import NO_PRICES
from footplate.domain.model_registry import Model
from footplate.domain.names import DatasetName, ModelName
from footplate.limited_http import open_url
from footplate.ports.models import ModelStore
from footplate.ports.package_resolver import PackageResolver
from footplate.ports.tracking import TrackingStore
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.fetched_interpreters import FetchedInterpreters
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.uv import Uv, UvFailed
from footplate.replica.program_spec import compose_build_environment
from footplate.safe_path import resolve
from footplate.server.machine import RandomIds
from footplate.server.package_sources import read_sources
from footplate.server.tuning_services import TuningServices

if TYPE_CHECKING:
    from footplate.server.context import ServiceContext


# Finds the Python interpreters of this machine, for jobs that are about to be created.

_TRUE, _NEVER = frozenset({"1", "true", "yes", "on"}), frozenset({"never", "false", "0"})
_REMEMBERED_S = 10
"""How long an absence is believed: uv takes a tenth of a second to look."""


class MachineInterpreters:
    """Finds the interpreters on this machine. ``globs`` is the setting ``pythons``.

    ``versions`` are those of all runtimes.
    """

    def __init__(
        self,
        globs: Sequence[str],
        cache: Path,
        uv: str,
        versions: Iterable[str],
        environ: Mapping[str, str] = os.environ,
        *,
        fetches: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._globs = globs
        self._cache = cache
        self._uv = uv
        self._versions = sorted(set(versions), key=_numbers)
        self._environ = environ
        self._fetches = fetches
        self._now = now
        self._lock = Lock()
        self._found: dict[str, tuple[str, float]] = {}
        self._asking = Lock()  # of its own: jobs that need no mirror don't wait for one
        self._fetchable: dict[str, tuple[bool, float]] = {}

    def fault(self, version: str) -> str | None:
        """Returns why programs can't run on ``version``; None if an interpreter is installed or
        can be downloaded.
        """
        if self._find(version) or self._can_fetch(version):
            return None
        there = [each for each in self._versions if self._find(each)]
        has = f"has only {joined(there)}" if there else "has no Python interpreter for runtimes"
        fetched = ", and the server can't fetch an interpreter" if self._fetches else ""
        return (
            f"this machine {has}{fetched}; install Python {version} (for example with pyenv), "
            "name the interpreter in the setting pythons, or use another runtime"
        )

    def _find(self, version: str) -> str:
        """Returns an interpreter's path or ''. Searches again if the known one is gone."""
        with self._lock:
            path, since = self._found.get(version, ("", float("-inf")))
            fresh = Path(path).exists() if path else self._now() - since < _REMEMBERED_S
            if not fresh:
                path = self._search(version)
                self._found[version] = path, self._now()
            return path

    def _can_fetch(self, version: str) -> bool:
        if not self._fetches:
            return False
        with self._asking:
            answers, since = self._fetchable.get(version, (False, float("-inf")))
            if self._now() - since >= _REMEMBERED_S:
                answers = self._ask_mirror(version)
                self._fetchable[version] = answers, self._now()
            return answers

    def _ask_mirror(self, version: str) -> bool:
        if self._environ.get("UV_OFFLINE", "").lower() in _TRUE:
            return False
        if self._environ.get("UV_PYTHON_DOWNLOADS", "").lower() in _NEVER:
            return False
        try:
            return can_fetch(version, self._make_uv())
        except PreparationError:
            return False

    def _search(self, version: str) -> str:
        cache = str(self._cache)
        try:
            uv = self._make_uv()
            found = FetchedInterpreters(cache, uv).find(version)
            finder = Interpreters(self._globs, self._environ, cache, uv)
            return found or finder.find(version, "a runtime").path
        except PreparationError:
            return ""

    def _make_uv(self) -> Uv:
        """Returns uv's runner. Raises PreparationError if uv is missing."""
        return Uv(self._uv, compose_build_environment(self._environ))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


_TIMEOUT_S, _LIMIT_S = 3, 10
_OWN, _ORIGIN = "https://releases.astral.sh/github/", "https://github.com/astral-sh/"
"""uv's own mirror, and what it falls back to."""


def can_fetch(version: str, uv: Uv) -> bool:
    """Returns whether uv knows a build of this version, and the server that has it answers."""
    options = ["--only-downloads", "--show-urls", "--output-format", "json"]
    try:
        said = uv.run(["python", "list", f"cpython-{version}", *options])
        listed = json.loads(said[said.index("[") :])
        urls = [str(each["url"]) for each in listed if each["implementation"] == "cpython"]
    except (UvFailed, ValueError, KeyError, TypeError):
        return False
    return any(_answers(url) for url in urls[:1] for url in _places(url))


def _places(url: str) -> Iterator[str]:
    yield url
    if url.startswith(_OWN):
        yield _ORIGIN + url.removeprefix(_OWN)


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).is_file()
    if parts.scheme not in ("http", "https"):
        return False
    request = Request(url, method="HEAD")  # noqa: S310  checked above
    try:
        with open_url(request, _TIMEOUT_S, _LIMIT_S):
            return True
    except (OSError, ValueError):  # whatever is the matter, uv would get nothing either
        return False


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


def _find_dataset(store: TrackingStore, name: DatasetName) -> Dataset | None:
    try:
        return read_dataset(store, name)
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
            find_dataset=partial(_find_dataset, context.database.tracking),
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
        self.region_reports = RegionReports(
            *(regions, catalogue, time.monotonic, queue.held_of),
            *(context.region_problems, context.region_facts),
        )
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
