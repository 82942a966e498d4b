"""The data directory: its lock, its servers, and its layout."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import secrets
import ssl
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from footplate import __version__
from footplate.backup import UNFINISHED
from footplate.domain.errors import FailedPrecondition, InvalidArgument, Violation
from footplate.replica.isolation.procfs import is_there
from footplate.server.disk_reserve import DiskReserve

SQLITE = "sqlite"
"""What a directory belongs to whose server keeps its jobs in SQLite."""

_SECRET_BYTES = 32
_MOST_PORTS = 16
"""The number of last servers whose ports are remembered."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Announcement:
    """The address of the running server. It is outdated if that process was killed."""

    url: str
    pid: int


@dataclass(frozen=True)
class Identity:
    """The identity of a data directory. ``id`` moves with the directory.

    ``database`` is the one that it belongs to, or None.
    """

    id: str
    database: str | None


class DataDir:
    """The data directory: paths, and the few small files that the server itself keeps there."""

    def __init__(self, root: Path, reserve_bytes: int = 0) -> None:
        """Opens the directory. With a server, ``reserve_bytes`` of its disk are set aside."""
        self.root = root
        self.buckets = root / "buckets"
        self.copies = root / "copies"
        self.logs = root / "logs"
        self.usage = root / "usage"
        self.replicas = root / "replicas"
        self.server_file = root / "server.json"
        self.reserve = DiskReserve(root / "reserve", reserve_bytes)
        self.clock_file = root / "clock.json"
        self.audit_file = root / "audit.jsonl"
        self._servers = root / "servers"
        self._identity_file = root / "identity.json"
        self._lock_file = root / "footplate.lock"
        self.cluster_certificate = root / "cluster_ca.pem"
        self._secret_file = root / "secret"
        self.authority_file = root / "certificate_authority.pem"
        self.database_file = root / "footplate.db"
        self._files = (
            *(self.database_file, root / "footplate.db-wal"),
            *(self._identity_file, self._secret_file, self.authority_file),
            *(self.audit_file, self.clock_file, self.reserve.path, self.server_file),
        )

    def make(self) -> None:
        """Creates the directory with its missing parts, for this user alone.

        Raises:
            InvalidArgument: the directory can't be used; the message has the reason and the remedy.
            FailedPrecondition: the directory was only partly restored.
        """
        if (self.root / UNFINISHED).exists():
            raise FailedPrecondition(
                f"`footplate restore` ended before the directory {self.root} was complete: "
                "remove the directory, and restore again"
            )
        within = (self.buckets, self.logs, self.usage, self.replicas, self._servers)
        for folder in (self.root, *within):
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise self._unfit(error) from None
            if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                raise self._unfit(
                    PermissionError(0, "this user may not write into this folder", str(folder))
                )
        for file in self._files:
            if file.is_dir():
                raise self._unfit(
                    IsADirectoryError(0, "the path is a folder (move the folder away)", str(file))
                )
            if file.exists() and not os.access(file, os.R_OK | os.W_OK):
                text = "this user may not read and write this file"
                raise self._unfit(PermissionError(0, text, str(file)))

    def _unfit(self, error: OSError) -> InvalidArgument:
        text = (
            f"'{self.root}' given, where the server can't store anything: {error.filename}: "
            f"{error.strerror}; "
            "choose another --data-dir"
        )
        return InvalidArgument.of((Violation("data_dir", text),))

    @contextmanager
    def claimed(self, *, shared: bool = False) -> Iterator[None]:
        """Owns the directory for the block; at the latest the process's end releases it.

        ``shared``: together with other shared owners.

        Raises:
            FailedPrecondition: another server owns the directory; the message names it and the
                remedy.
            InvalidArgument: the directory can't be used.
        """
        try:
            descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unfit(error) from None
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise FailedPrecondition(self._taken()) from None
        try:
            yield
        finally:
            os.close(descriptor)

    def _taken(self) -> str:
        other = self.announcement()
        who = f" (process {other.pid}, {other.url})" if other else ""
        return (
            f"another server{who} already uses {self.root}; "
            "stop it with `footplate down`, or choose another --data-dir"
        )

    def secret(self) -> bytes:
        """Returns the key of the replica tokens, created at first use.

        Raises:
            FailedPrecondition: the file is empty, cut (as by a full disk), or all zeros (as by a
                power failure), so that anybody could make tokens with the key.
        """
        found = _once(self._secret_file, secrets.token_bytes(_SECRET_BYTES))
        if len(found) < _SECRET_BYTES or not any(found):
            raise FailedPrecondition(
                f"the key file {self._secret_file} is damaged: it has {len(found)} bytes instead "
                f"of {_SECRET_BYTES} random ones. Put the file back from a copy, or remove it to "
                "get a new key: then running jobs lose their connection, and start again"
            )
        return found

    def authority(self, make: Callable[[], bytes]) -> bytes:
        """Returns key and certificate of the certificate authority, created at first use."""
        with suppress(FileNotFoundError):
            return self.authority_file.read_bytes()
        return _once(self.authority_file, make())

    def check_authority(self) -> None:
        """Checks the authority's file without signing. Raises FailedPrecondition if damaged."""
        with suppress(FileNotFoundError):
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.authority_file)
            except ssl.SSLError:
                raise self.spoilt_authority() from None

    def spoilt_authority(self) -> FailedPrecondition:
        return FailedPrecondition(
            f"the certificate file {self.authority_file} is damaged: put the file back from a "
            "copy, or remove it to get a new certificate authority"
        )

    def replace_authority(self, content: bytes) -> None:
        self._replace(self.authority_file, content)

    def identity(self) -> Identity:
        """Returns the identity, created at first use. A directory with SQLite's file belongs to
        that.

        Raises:
            FailedPrecondition: the identity's file can't be read.
        """
        database = SQLITE if self._has_database() else None
        fresh = json.dumps({"id": secrets.token_hex(10), "database": database})
        try:
            kept = json.loads(_once(self._identity_file, fresh.encode()))
            identity = Identity(str(kept["id"] or ""), kept["database"])
        except (ValueError, KeyError, TypeError):
            identity = Identity("", None)
        if not identity.id:
            raise FailedPrecondition(
                f"the file {self._identity_file} is damaged: put the file back from a copy, or "
                "remove it if no other server uses this directory"
            )
        return identity

    def _has_database(self) -> bool:
        """Returns whether the database file has content; a server that ended too early leaves an
        empty one.
        """
        try:
            return self.database_file.stat().st_size > 0
        except FileNotFoundError:
            return False

    def describe_loss(self) -> str:
        """Returns why this directory can't continue with an empty SQLite database.

        Returns '' if it had no database before, or belongs to PostgreSQL, which is refused later.
        """
        database = self.identity().database
        used = database == SQLITE or (database is None and any(self.logs.glob("*.jsonl")))
        if not used:
            return ""
        return self._explain_loss(
            f"the file is missing or empty, but {self.root} had a database before"
        )

    def check_jobs(self, known: Collection[str]) -> None:
        """Checks the logs against ``known``, the ids of the jobs in the database, which may have
        lost writes.

        If some jobs are known it only warns, as a server may end after it deleted a job, but before
        the job's log.

        Raises:
            FailedPrecondition: there are logs, but no jobs.
        """
        lost = sum(path.stem not in known for path in self.logs.glob("*.jsonl"))
        if lost and not known and self.identity().database in (None, SQLITE):
            text = f"the database has no jobs, but {self.logs} has the logs of {lost} jobs"
            raise FailedPrecondition(self._explain_loss(text))
        if lost:
            _log.warning(
                "%d logs in %s belong to jobs that the database doesn't have: the database is "
                "older than the logs, or has lost its last writes. `footplate restore` creates a "
                "data directory from a backup.",
                lost,
                self.logs,
            )

    def _explain_loss(self, why: str) -> str:
        return (
            f"the server can't use the database {self.database_file}: {why}. Put back "
            "footplate.db and footplate.db-wal from a copy, or restore a backup into another "
            "data directory with `footplate restore`. To keep the buckets and start without the "
            "old jobs, move identity.json, footplate.db*, logs and usage away"
        )

    def settle(self, identity: Identity, database: str) -> None:
        """Assigns the directory to this database from now on."""
        if identity.database != database:
            text = json.dumps({"id": identity.id, "database": database})
            self._replace(self._identity_file, text.encode())

    def last_ports(self, file: str = "port") -> tuple[int, ...]:
        """Returns the last servers' ports, the latest first, which running programs know."""
        with suppress(FileNotFoundError, ValueError):
            ports = [int(text) for text in (self.root / file).read_text().split()]
            return tuple(port for port in ports if 0 < port < 1 << 16)
        return ()

    def keep_port(self, port: int, file: str = "port") -> None:
        before = self.last_ports(file)
        kept = (port, *(other for other in before if other != port))[:_MOST_PORTS]
        if kept != before:
            self._replace(self.root / file, " ".join(map(str, kept)).encode())

    def keep_cluster_certificate(self, certificate: bytes) -> None:
        """Writes the authority's certificate without its key, which engines pass to launchers."""
        self._replace(self.cluster_certificate, certificate)

    def announce(self, url: str) -> None:
        """Announces the leading server's address to supervisors and clients of this machine."""
        self._replace(self.server_file, _announcement(url))

    def withdraw(self) -> None:
        """Removes the announcement, unless it is another server's."""
        with suppress(OSError):  # its readers ask whether the process lives
            found = self.announcement()
            if found is None or found.pid == os.getpid():
                self.server_file.unlink(missing_ok=True)

    def announcement(self) -> Announcement | None:
        try:
            document = json.loads(self.server_file.read_bytes())
            return Announcement(str(document["url"]), int(document["pid"]))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def enlist(self, server: str, url: str) -> None:
        """Registers this server for clients of this machine; removes dead servers."""
        for path in self._servers.glob("*.json"):
            if not _lives(path):
                path.unlink(missing_ok=True)
        self._replace(self._servers / f"{server}.json", _announcement(url))

    def remove_server(self, server: str) -> None:
        (self._servers / f"{server}.json").unlink(missing_ok=True)

    def _replace(self, path: Path, content: bytes) -> None:
        self.reserve.retrying(partial(_replace, path, content))


def _announcement(url: str) -> bytes:
    return json.dumps({"url": url, "pid": os.getpid(), "version": __version__}).encode()


def _lives(path: Path) -> bool:
    try:
        return is_there(int(json.loads(path.read_bytes())["pid"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False


def _once(path: Path, fresh: bytes) -> bytes:
    """Returns the file's content, after creating it from ``fresh`` if missing; concurrent calls
    get the same.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        _replace(part, fresh)
        try:
            # A link fails where a rename would replace: if several servers start at once, the
            # first file stays.
            os.link(part, path)
        except FileExistsError:
            pass
        finally:
            part.unlink()
        return path.read_bytes()


def _replace(path: Path, content: bytes) -> None:
    """Replaces a file at once, for this user alone; readers see the old content or the new."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        # Otherwise a power failure may leave the new name with zeros as its content.
        os.fsync(file.fileno())
    fresh.replace(path)
