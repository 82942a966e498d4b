"""A PostgreSQL server of the tests' own: in a folder of its own, on a Unix socket in it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from tests.support.requirements import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "footplate"
START_TIMEOUT_S = 60.0


def find_binaries() -> Path | None:
    """The folder with ``initdb`` and ``postgres``: of PATH, else Debian's newest."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    packaged = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(packaged, key=lambda folder: folder.parent.name.zfill(4), reverse=True)
    usable = (f for f in folders if (f / "initdb").exists() and (f / "postgres").exists())
    return next(usable, None)


def require_binaries() -> Path:
    """The same; without it the test that asks is skipped, and in CI it fails."""
    binaries = find_binaries()
    if binaries is None:
        require_packages("PostgreSQL", "postgresql")
    assert binaries is not None
    return binaries


class Postgresql:
    """A server that can be stopped and started again; each test takes a database of its own."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._databases = 0

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://{USER}@/{database}?host={self._folder}"

    def create_database(self) -> str:
        """The URL of a new, empty database."""
        self._databases += 1
        name = f"test_{self._databases}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name} {self._locale(connection)}".encode())
        return self.url(name)

    def _locale(self, connection: psycopg.Connection) -> str:
        """One that sorts unlike Python does, as most servers in the world have it."""
        icu = "SELECT 1 FROM pg_collation WHERE collname = 'en-US-x-icu'"
        if connection.info.server_version < 15_00_00 or not connection.execute(icu).fetchone():
            return ""
        return "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(
            host=str(self._folder), user=USER, dbname=database, autocommit=True, connect_timeout=10
        )

    def initialise(self) -> None:
        options = ("--encoding=UTF8", "--locale=C", "--auth=trust", "--no-sync")
        command = (str(self._binaries / "initdb"), *options, f"--username={USER}")
        place = f"--pgdata={self._folder / 'data'}"
        subprocess.run((*command, place), check=True, stdout=subprocess.DEVNULL, **self._owner())

    def start(self) -> None:
        """Return when it answers."""
        settings = ("fsync=off", "listen_addresses=", f"unix_socket_directories={self._folder}")
        options = [option for setting in settings for option in ("-c", setting)]
        command = (str(self._binaries / "postgres"), "-D", str(self._folder / "data"), *options)
        with (self._folder / "log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, text=True, **self._owner())
        self._process = process
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL didn't start: {(self._folder / 'log').read_text()}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Cut all connections and end, as a restart by an administrator would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with suppress(psycopg.OperationalError), self.connect():
            return True
        return False

    def _owner(self) -> dict[str, Any]:
        """Whom to run it as: PostgreSQL refuses root. Any: arguments of Popen."""
        if os.geteuid() != 0:
            return {"cwd": self._folder}
        owner = self._folder.stat()
        ids = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
        return {"cwd": self._folder, **ids}


@contextmanager
def private_postgresql(binaries: Path) -> Iterator[Postgresql]:
    """A server that runs until the block ends and leaves nothing behind."""
    folder = Path(tempfile.mkdtemp(prefix="footplate-pg-"))
    server = Postgresql(binaries, folder)
    try:
        if os.geteuid() == 0:
            owner = _unprivileged()
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        server.initialise()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


def _unprivileged() -> pwd.struct_passwd:
    with suppress(KeyError):
        return pwd.getpwnam("postgres")
    return pwd.getpwnam("nobody")
