"""Starts a server that outlives its terminal, and waits until it answers."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from footplate.cli.group import Failure
from footplate.cli.session import announced
from footplate.cli.terminal_text import disarm
from footplate.client.service import Service
from footplate.domain.errors import ServiceError
from footplate.replica.isolation.procfs import is_there

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from footplate.settings import Settings

LOG_NAME = "footplate.log"
_COMMAND = (sys.executable, "-P", "-m", "footplate.cli.entry_point", "up")
"""-P: nothing in the directory where the user stands is taken for a module of ours."""
_INTERVAL_S = 0.1
_MOST_SHOWN = 20
_PRIVATE = 0o600


def start_detached(settings: Settings, words: Sequence[str]) -> None:
    """Starts a server and returns when it answers; ``words`` are options of ``footplate up``.

    Its messages go to LOG_NAME in the data directory; the file of the previous start is kept
    beside.

    Raises:
        Failure: the server has ended, with its output as the message; or a server runs there
            already, whose messages are kept.
    """
    _check_alone(settings)
    log = settings.data_dir / LOG_NAME
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        log.replace(log.with_suffix(".log.1"))
    log.touch(mode=_PRIVATE)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*_COMMAND, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # neither Ctrl-C nor the end of the terminal reaches it
        )
    try:
        url = _wait(process, settings)
    except KeyboardInterrupt:
        process.terminate()
        raise
    if url is None:
        raise Failure(f"the service has not started:\n{_last_lines(log)}")
    click.echo(
        f"Footplate answers at {url} (data in {settings.data_dir}), as process {process.pid}.\n"
        f"\n"
        f"  {url}  see and submit jobs in a browser\n"
        f"\n"
        "The service continues when this terminal closes; `footplate down` stops it and its jobs.\n"
        f"`kill {process.pid}` stops only the service. The log of the service is {log}."
    )


def _check_alone(settings: Settings) -> None:
    found = announced(settings.data_dir / "server.json")
    if found is not None and is_there(found[1]) and settings.database.startswith("sqlite:"):
        raise Failure(
            f"a server already uses {settings.data_dir}, and answers at {found[0]}; "
            "stop it with `footplate down`"
        )


def _wait(process: subprocess.Popen[bytes], settings: Settings) -> str | None:
    """Waits until the server answers; returns its URL, or None if it has ended."""
    while process.poll() is None:
        for file in (settings.data_dir / "server.json", *settings.data_dir.glob("servers/*.json")):
            found = announced(file)
            if found is not None and found[1] == process.pid and _answers(found[0], settings):
                return found[0]
        time.sleep(_INTERVAL_S)
    return None


def _answers(url: str, settings: Settings) -> bool:
    with suppress(ServiceError), Service(url, settings.token, _INTERVAL_S * 50) as service:
        service.health()
        return True
    return False


def _last_lines(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()[-_MOST_SHOWN:]
    return disarm("\n".join(f"  {line.removeprefix('Error: ')}" for line in lines))
