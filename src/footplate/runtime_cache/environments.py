"""The environments in this machine's cache."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.catalogue import load_catalogue
from footplate.control.preparations import describe_slice
from footplate.domain.errors import FailedPrecondition
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.environment.base_environments import BaseEnvironments
from footplate.replica.environment.build_isolation import isolate_build
from footplate.replica.environment.cache import Cache
from footplate.replica.environment.command import READABLE_UMASK, bound
from footplate.replica.environment.disk_usage import measure
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.eviction import EvictionPolicy
from footplate.replica.environment.fetched_interpreters import (
    FetchedInterpreters,
    inspect,
    locate,
)
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.runtime_slices import Words, choose
from footplate.replica.environment.uv import Uv, UvFailed
from footplate.replica.environment.uv_errors import explain_os_error
from footplate.replica.program_spec import compose_build_environment
from footplate.replica.program_user import take_for_builds
from footplate.runtime_cache.listing import Inventory, stand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from footplate.domain.runtimes import Runtime, Runtimes
    from footplate.protocol.promised import Promised
    from footplate.replica.environment.cache import CacheEntry, Pruned
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.environment.progress_output import ProgressOutput
    from footplate.settings import Settings


class CatalogueLocks:
    def __init__(self, runtimes: Runtimes) -> None:
        self._runtimes = runtimes

    def fetch_lock(self, sha256: str, directory: str) -> str:
        """Returns the path of a lock in ``directory``. Raises NotFound, OSError."""
        path = Path(directory, f"{sha256}.txt")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{os.getpid()}.part")
            part.write_text(self._runtimes.lock_text(sha256), encoding="utf-8")
            part.replace(path)
        return str(path)


class Environments:
    """The cache of built Python environments.

    ``uv`` is the program that builds; ``environ`` has its settings. If the server is root, builds
    run as ``users``, with the isolation that ``promised`` returns.
    """

    def __init__(
        self,
        settings: Settings,
        uv: Path,
        environ: Mapping[str, str] = os.environ,
        users: tuple[int | str, ...] | None = None,
        *,
        promised: Callable[[], Promised],
    ) -> None:
        """Reads the catalogue. Raises InvalidArgument if the operator's catalogue file is wrong."""
        self._users = users
        self._promised = promised
        self._settings = settings
        self._runtimes = load_catalogue(settings.catalogue).runtimes
        self._environ = dict(environ)
        self._uv = uv
        self._cache = Cache(str(settings.cache))

    def inventory(self) -> Inventory:
        """Returns all runtimes of the catalogue, and the contents of the cache.

        Raises FailedPrecondition: there can't be a cache.
        """
        _open(self._settings.cache)
        found = self._cache.look()
        interpreters = self._find_interpreters()
        uv_cache = self._uv_cache()
        locks = set(self._runtimes.locks)
        others = [one for one in found if _is_other(one, locks)]
        return Inventory(
            cache=self._cache.root,
            limit_bytes=self._settings.cache_limit_bytes,
            free_bytes=shutil.disk_usage(self._cache.root).free,
            runtimes=tuple(
                stand(offer, interpreters[offer.runtime.python], found)
                for offer in self._runtimes.offers
            ),
            environments=len(found),
            environments_bytes=sum(one.entry.size_bytes for one in found),
            others=len(others),
            others_bytes=sum(one.entry.size_bytes for one in others),
            uv_cache=uv_cache,
            uv_cache_bytes=measure(uv_cache) if uv_cache else 0,
        )

    def build(
        self, name: str, *, gpu: bool, part: str, teller: ProgressOutput
    ) -> tuple[Runtime, int]:
        """Makes a runtime's environment, if it doesn't exist; returns the runtime and its size.

        ``name`` is a version or an image; ``part`` a slice of it, such as ``full``.

        Raises:
            InvalidArgument: there is no such runtime.
            FailedPrecondition: it can't be had here, saying why and the way out.
        """
        runtime = self._runtimes.find(name, "RUNTIME")
        if gpu and not runtime.gpu:
            raise FailedPrecondition(f"runtime {runtime.name} has no packages for GPUs")
        _open(self._settings.cache)
        try:
            return runtime, self._build(runtime, gpu=gpu, part=part, teller=teller)
        except PreparationError as error:
            raise FailedPrecondition(str(error)) from error
        except OSError as error:
            why = explain_os_error(error)
            raise FailedPrecondition(f"runtime {runtime.name} can't be made: {why}") from error

    def interpreters(self) -> Mapping[str, str | None]:
        """Returns the path of each Python version that runtimes need; None: it isn't installed.

        Raises FailedPrecondition: there is no uv.
        """
        found = self._find_interpreters()
        return {version: each.path if each else None for version, each in found.items()}

    def plan(self, eviction_policy: EvictionPolicy) -> Sequence[CacheEntry]:
        """Returns the entries that ``prune`` would remove now."""
        return self._cache.plan(eviction_policy)

    def prune(self, eviction_policy: EvictionPolicy) -> Pruned:
        """Removes the entries that the policy selects, except environments in use.

        Raises FailedPrecondition: the cache can't be changed.
        """
        try:
            return self._cache.prune(eviction_policy)
        except OSError as error:
            raise FailedPrecondition(f"{self._cache.root} can't be changed: {error}") from error

    def prune_uv(self) -> int:
        """Removes the files in uv's cache that uv doesn't need any more; returns their size in
        bytes.

        Raises FailedPrecondition: the cache can't be changed.
        """
        before = measure(self._uv_cache())
        try:
            self._make_uv().run(["cache", "prune"])
        except UvFailed as failure:
            raise FailedPrecondition(f"uv can't prune its cache: {failure.output}") from failure
        return max(0, before - measure(self._uv_cache()))

    def to_the_limit(self) -> EvictionPolicy:
        """Returns the policy that keeps the cache to the limit of the settings, and no more."""
        limit = self._settings.cache_limit_bytes
        return EvictionPolicy(below_bytes=limit or None)

    def _build(self, runtime: Runtime, *, gpu: bool, part: str, teller: ProgressOutput) -> int:
        uv = self._make_uv()
        slices = [describe_slice(piece) for piece in (runtime.gpu if gpu else runtime.cpu)]
        choice = choose(slices, Words(()), part)
        found, path = locate(
            Interpreters(self._settings.pythons, self._environ, self._cache.root, uv),
            FetchedInterpreters(self._cache.root, uv),
            *(runtime.python, f"runtime {runtime.name}", teller),
            fetches=self._settings.fetches_interpreters,
        )
        locks = CatalogueLocks(self._runtimes)
        with self._isolate(uv, path, teller) as isolated:
            interpreter = found or inspect(path, isolated)
            bases = BaseEnvironments(self._cache.root, interpreter, isolated, locks, teller)
            with closing(bases):
                base = bases.get(runtime.name, [choice.slice, *choice.fallbacks])
                if base.note:
                    teller.tell(base.note)
                if bases.made:
                    bound(self._cache.root, self._settings.cache_limit_bytes, teller)
                return base.size_bytes

    @contextmanager
    def _isolate(self, uv: Uv, interpreter: str, teller: ProgressOutput) -> Iterator[Uv]:
        """Yields uv with the isolation of jobs: code of packages runs in a mount namespace of its
        own.
        """
        private = [self._settings.data_dir, *self._settings.bound_folders]
        ticket = SupervisorTicket(
            cache=self._cache.root,
            uv=uv.program,
            build_users=self._users,
            private=tuple(str(path) for path in private),
            promised=self._promised(),
        )
        user = take_for_builds(ticket)
        with ExitStack() as stack:
            if user is not None:
                stack.callback(user.release)
                os.umask(READABLE_UMASK)
            home = stack.enter_context(
                tempfile.TemporaryDirectory(prefix=".build-", dir=self._cache.root)
            )
            isolation = isolate_build(home, ticket, user, [interpreter, uv.program])
            if isolation.note:
                teller.tell(isolation.note)
            yield uv.secluding(isolation)

    def _find_interpreters(self) -> Mapping[str, Interpreter | None]:
        """Returns the installed interpreters by version; downloads none."""
        uv = self._make_uv()
        finder = Interpreters(self._settings.pythons, self._environ, self._cache.root, uv)
        versions = {offer.runtime.python for offer in self._runtimes.offers}
        return {version: _find(finder, version) for version in versions}

    def _uv_cache(self) -> str:
        """Returns uv's cache folder; '' if uv has none."""
        try:
            return self._make_uv().run(["cache", "dir"]).strip()
        except UvFailed:
            return ""

    def _make_uv(self) -> Uv:
        """Returns uv. Raises FailedPrecondition if there is none."""
        try:
            return Uv(str(self._uv), compose_build_environment(self._environ))
        except PreparationError as error:
            raise FailedPrecondition(str(error)) from error


def _find(finder: Interpreters, version: str) -> Interpreter | None:
    try:
        return finder.find(version, "a runtime")
    except PreparationError:
        return None


def _is_other(found: CacheEntry, locks: set[str]) -> bool:
    """Returns whether no runtime of the catalogue uses the environment; one that is being built may
    be used.
    """
    if found.entry.useless:
        return not found.entry.in_use
    lock = found.record.lock_sha256 or found.record.base
    return lock not in locks


def _open(cache: Path) -> None:
    """Makes the cache, which only this user can read, as a server does. Raises
    FailedPrecondition.
    """
    try:
        for folder in reversed((cache, *cache.parents)):
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        why = explain_os_error(error)
        raise FailedPrecondition(f"the server can't write into the cache {cache}: {why}") from error
