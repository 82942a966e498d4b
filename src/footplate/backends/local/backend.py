"""The local backend: requests stored on disk, and one thread that carries them out."""

from __future__ import annotations

import builtins
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from footplate.backends.ended_attempts import EndedAttempts
from footplate.backends.local.attempt_directories import AttemptDirectories
from footplate.backends.local.fork_server import ForkServer
from footplate.backends.local.launcher import Launcher
from footplate.backends.local.process_watcher import ProcessWatcher, make_process_watcher
from footplate.backends.local.replica_controller import ReplicaController
from footplate.domain.errors import NotLeading, Unavailable
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Presence, ReplicaObservation, Ticket
from footplate.protocol.promised import Promised
from footplate.protocol.ticket import SupervisorTicket

log = logging.getLogger(__name__)

DEFAULT_SPOOL_LIMIT_BYTES = 64 * 1024 * 1024
_RETRY_S = 60.0


class LocalBackend:
    """Runs the replicas of one ``root`` directory, for which one process at a time is responsible.

    A former process that doesn't know of its successor yet does no harm. ``python`` runs the
    supervisors' ``archive``. With a ``fork_server`` of the same archive supervisors are forked, as
    long as it runs. ``service`` is the id that marks containers as this service's. ``private`` are
    directories of which programs see only their own part; ``tmp_paths`` are paths below /tmp that
    programs see beside a /tmp of their own. Links below ``job_dir_roots`` are never followed to a
    job's directory. ``reserve`` is the file whose space replicas' last reports may take on a full
    disk. The other values go into the tickets: the file with the server's address, the shared
    caches and buckets, the isolation's containment mode (``auto``: the strongest), what
    ``promised`` says this machine supports of it (None: each supervisor finds out by itself), the
    users that programs run as (``program_users``: first and last id of a range, or id, group and
    name of one user; ``allow_root``: projects whose programs may be root, ``*`` for all), the
    installer, the program that reads stacks, and where to look for more interpreters.

    Nothing happens before the first ``start``, ``stop`` or ``watch``. Then the backend also takes
    over what an earlier process left: it fulfils open requests and cleans up after lost
    supervisors.
    """

    def __init__(
        self,
        *,
        root: Path,
        archive: Path,
        python: Path,
        server_file: Path,
        cache: Path,
        buckets: Path,
        uv: Path,
        py_spy: Path | None = None,
        isolation: str = "auto",
        promised: Callable[[], Promised] | None = None,
        program_users: Sequence[int | str] | None = None,
        allow_root: Sequence[str] = (),
        pythons: Sequence[str] = (),
        fetch_interpreters: bool = False,
        private: Sequence[Path] = (),
        blocked: Sequence[Path] = (),
        spool_limit_bytes: int = DEFAULT_SPOOL_LIMIT_BYTES,
        cache_limit_bytes: int = 0,
        build_limits: tuple[float, int] = (0, 0),
        tmp_paths: Sequence[Path] = (),
        job_dir_roots: Sequence[Path] = (),
        reserve: Path | None = None,
        fork_server: ForkServer | None = None,
        service: str = "",
        watcher: Callable[[], ProcessWatcher] = make_process_watcher,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        # Supervisors are recognised by the path of their HOME: there is one way to write it.
        self._attempts = AttemptDirectories(root.resolve(), self._write_ticket)
        self._make_ticket = partial(
            SupervisorTicket,
            server_file=str(server_file.absolute()),
            cache=str(cache.absolute()),
            cache_limit_bytes=cache_limit_bytes,
            build_limits=build_limits,
            buckets=str(buckets.absolute()),
            isolation=isolation,
            program_users=None if program_users is None else tuple(program_users),
            allow_root=tuple(allow_root),
            uv=str(uv),
            py_spy=str(py_spy or ""),
            pythons=tuple(pythons),
            fetch_interpreters=fetch_interpreters,
            service=service,
            private=tuple(str(path.absolute()) for path in private),
            blocked=tuple(str(path.absolute()) for path in blocked),
            tmp_paths=tuple(str(path) for path in tmp_paths),
            job_dir_roots=tuple(str(path) for path in job_dir_roots),
            spool_limit_bytes=spool_limit_bytes,
            reserve=str(reserve.absolute()) if reserve else "",
            kept=str(self._attempts.kept),
        )
        self._ended = EndedAttempts(root.resolve())
        self._promised = promised
        self._launcher = Launcher(python.absolute(), archive.absolute(), fork_server)
        self._watcher = watcher()
        self._controller = ReplicaController(self._launcher, self._watcher, monotonic)
        self._mutex = threading.RLock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._listeners: list[Callable[[AttemptId], None]] = []

    def _write_ticket(self, ticket: Ticket) -> str:
        promised = None if self._promised is None else self._promised()
        made = self._make_ticket(token=ticket.token, restart=ticket.restart, promised=promised)
        return json.dumps(made.encode())

    def start(self, request: AttemptStart) -> None:
        """Creates all HOMEs of the gang, then spawns its supervisors; see the port."""
        with self._mutex:
            self._open()
            try:
                self._ended.take_back(request.attempt_id)
                self._make_homes(request)
                self._withdraw_ended(request.attempt_id)
            finally:
                for home in self._attempts.of(request.attempt_id):
                    self._controller.reconcile(home)
                self._watcher.wake()

    def _withdraw_ended(self, attempt_id: AttemptId) -> None:
        """Removes the HOMEs of an attempt that another server has ended meanwhile.

        Raises NotLeading if so.
        """
        try:
            self._ended.check(attempt_id)
        except NotLeading:
            self._attempts.discard(attempt_id)
            raise

    def _make_homes(self, request: AttemptStart) -> None:
        """Creates HOMEs of a new gang, or of gone replicas that are older than their tickets."""
        seen = self._see(request.attempt_id)
        late = [t for t in request.tickets if seen and _is_later(t, seen.get(t.replica))]
        if not seen or late:
            self._launcher.check()
        if not seen:
            self._attempts.make(request)
        for ticket in late:
            old = self._attempts.find(request.attempt_id, ticket.replica)
            self._attempts.renew(request.attempt_id, ticket)
            if old is not None:
                self._controller.forget(old)

    def _see(self, attempt_id: AttemptId) -> dict[str, ReplicaObservation]:
        """Returns the observations of an attempt by replica."""
        return {observation.replica: observation for observation in self.inspect(attempt_id)}

    def stop(self, attempt_id: AttemptId, replicas: Mapping[str, int] | None = None) -> None:
        with self._mutex:
            try:
                self._open()
            except Unavailable as error:
                log.warning("can't stop %s: %s", attempt_id, error.message)
                return
            for home in self._attempts.of(attempt_id):
                meant = replicas is None or home.restart <= replicas.get(home.replica, -1)
                self._controller.reconcile(home, stop=meant)
            self._watcher.wake()

    def list(self) -> tuple[ReplicaObservation, ...]:
        with self._mutex:
            return self._controller.observations(self._attempts.homes())

    def inspect(self, attempt_id: AttemptId) -> builtins.tuple[ReplicaObservation, ...]:
        with self._mutex:
            return self._controller.observations(self._attempts.of(attempt_id), attempt_id)

    def forget(self, attempt_id: AttemptId) -> None:
        with self._mutex:
            homes, ours = self._attempts.of(attempt_id), self._see(attempt_id).values()
            if any(s.presence is not Presence.GONE for s in ours):
                return
            try:
                self._ended.note(attempt_id)
                self._attempts.discard(attempt_id)
            except OSError:
                log.warning("can't forget %s", attempt_id, exc_info=True)
                return
            for home in homes:
                self._controller.forget(home)

    def watch(self, changed: Callable[[AttemptId], None]) -> None:
        with self._mutex:
            self._listeners.append(changed)
            self._open()

    def close(self) -> None:
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
            self._watcher.wake()
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._launcher.close()
        self._attempts.close()
        if thread is None:
            self._watcher.close()

    def seconds_to_due(self) -> float | None:
        """Returns the seconds until a replica's next check is due; None if none is."""
        with self._mutex:
            return self._controller.seconds_to_due()

    def _seconds_to_work(self) -> float | None:
        """Deletes expired kept files; returns the seconds until the next check or expiry; None if
        there is none.
        """
        try:
            expires_s = self._attempts.discard_expired(time.time())
        except OSError:
            log.warning(
                "the server can't read the folder of files that it keeps of ended jobs",
                exc_info=True,
            )
            expires_s = _RETRY_S
        due_s = [each for each in (self.seconds_to_due(), expires_s) if each is not None]
        return min(due_s, default=None)

    def _open(self) -> None:
        """Loads the requests on disk and starts processing them.

        Raises:
            Unavailable: the root can't be used now, or the backend was closed.
        """
        if self._closed:
            raise Unavailable("the server is shutting down, and starts nothing more")
        if self._thread is not None:
            return
        try:
            self._attempts.open()
            self._ended.open()
        except OSError as error:
            raise Unavailable(f"the server can't use the directory of replicas: {error}") from error
        for home in self._attempts.homes():
            self._controller.reconcile(home)
        self._thread = threading.Thread(target=self._work, name="local-backend", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._closed:
            dead = self._watcher.wait(self._seconds_to_work())
            with self._mutex:
                self._controller.reconcile_dead(dead)
                self._controller.reconcile_due()
                changed = self._controller.take_changed()
                listeners = tuple(self._listeners)
            for attempt_id in changed:
                _notify(listeners, attempt_id)
        self._watcher.close()


def _is_later(ticket: Ticket, seen: ReplicaObservation | None) -> bool:
    """Returns whether the ticket is for a start after the observed one, and may start now.

    ``seen`` is None if the replica's HOME was removed.
    """
    if seen is None:
        return True
    return seen.presence is Presence.GONE and ticket.restart > seen.restart


def _notify(listeners: builtins.tuple[Callable[[AttemptId], None], ...], of: AttemptId) -> None:
    for listener in listeners:
        try:
            listener(of)
        except Exception:
            log.exception("a listener failed for %s", of)
