"""``footplate up`` as users start it: a process of its own, which tests may stop, kill, restart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar
from urllib.request import urlopen

from footplate.client.service import Service
from footplate.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

START_S = 240.0
STOP_S = 60.0
_POLL_S = 0.02
FOOTPLATE = (sys.executable, "-c", "from footplate.cli.main import main; main()")
"""The command ``footplate`` of this interpreter, wherever its console script is."""


class RunningService:
    """A service in ``data_dir``, with its output in ``log`` beside that.

    Without the setting ``port`` each start uses a free one. ``settings`` are the service's own
    (``max_replicas=...``); ``footplate`` settings in the tests' environment don't affect it.
    ``process_class`` starts the command of a server.
    """

    process_class: ClassVar[type[subprocess.Popen[bytes]]] = subprocess.Popen

    def __init__(self, data_dir: Path, cache_dir: Path | None = None, **settings: object) -> None:
        """Creates the service without starting it.

        ``cache_dir`` holds the environments of programs; None means the data directory.
        """
        self.data_dir = data_dir
        self.cache_dir = cache_dir
        self.log = data_dir.with_name(f"{data_dir.name}.log")
        self.url = ""
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Returns the process id of the server that runs now, or ran last."""
        assert self._process is not None, "never started"
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def environment(self, **variables: str) -> dict[str, str]:
        """Returns an environment in which ``footplate`` commands use this service."""
        own = {"FOOTPLATE_DATA_DIR": str(self.data_dir)}
        if "token" in self._settings:
            own["FOOTPLATE_TOKEN"] = str(self._settings["token"])
        return {**outside(os.environ), **own, **variables}

    def start(self) -> None:
        """Starts the server; returns when it answers."""
        assert not self.alive, "it runs already"
        settings = {f"FOOTPLATE_{k.upper()}": str(v) for k, v in self._settings.items()}
        place = {"FOOTPLATE_PORT": "0"}
        if self.cache_dir is not None:
            place["FOOTPLATE_CACHE_DIR"] = str(self.cache_dir)
        with self.log.open("ab") as log:
            self._process = self.process_class(
                (*FOOTPLATE, "up"),
                env=self.environment(**{**place, **settings}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # an interrupt of the tests is not one of the service
            )
        self.url = self._wait_for_url()

    def stop(self) -> None:
        """Stops the server as Ctrl-C does. Its jobs keep running."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kills the server. Its jobs keep running."""
        self._end(signal.SIGKILL)

    def down(self) -> None:
        """Ends the jobs, then the servers of the service, as ``footplate down`` does."""
        if self.alive:
            token = self.environment().get("FOOTPLATE_TOKEN")
            with Service(self.url, token) as service:
                others = service.end().others
            for url in others:
                with suppress(Unavailable), Service(url, token) as service:
                    service.down()
            assert self._process is not None
            self._process.wait(STOP_S)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(STOP_S)

    def _wait_for_url(self) -> str:
        """Returns the URL from the file in which this server announces itself, once it exists."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if not self.alive:
                break
            url = self._announced()
            if url is not None:
                with urlopen(f"{url}/healthz", timeout=START_S) as answer:  # noqa: S310 - loopback
                    assert answer.status == 200
                return url
            time.sleep(_POLL_S)
        self.kill()
        raise RuntimeError(f"the service didn't start: {self.log.read_text()}")

    def _announced(self) -> str | None:
        """Returns the URL that this server has announced, leading or not; None if none."""
        for path in (self.data_dir / "servers").glob("*.json"):
            with suppress(FileNotFoundError):
                document = json.loads(path.read_bytes())
                if document["pid"] == self.pid:
                    return str(document["url"])
        return None


def outside(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns ``environ`` without the variables that lead a client or a server to a service."""
    clients = ("CLOUDSDK_", "GOOGLE_", "STORAGE_EMULATOR_", "CLOUD_STORAGE_EMULATOR_")
    leading = ("FOOTPLATE_", "PYTHONPATH", *clients)
    return {name: value for name, value in environ.items() if not name.startswith(leading)}


@contextmanager
def running_service(
    data_dir: Path, cache_dir: Path | None = None, **settings: object
) -> Iterator[RunningService]:
    """Yields a service that runs until the block ends; no job survives the block."""
    service = RunningService(data_dir, cache_dir, **settings)
    service.start()
    try:
        yield service
    finally:
        if not service.alive:
            service.start()
        service.down()
