"""Supervisors that run while no server does, and how to stop them."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.client.service import Service as Client
from footplate.domain.job_states import State
from footplate.domain.sites import Site
from footplate.server.data_dir import DataDir
from footplate.server.serving import serve
from footplate.store import open_store

if TYPE_CHECKING:
    from footplate.settings import Settings


def left_behind(settings: Settings) -> dict[State, int]:
    """Returns the jobs that the last server left, by their state.

    Raises:
        FailedPrecondition: a server runs, and must be asked instead.
    """
    data_dir = DataDir(settings.data_dir)
    if not data_dir.root.exists():
        return {}
    with data_dir.claimed():
        store = open_store(settings.database)
        try:
            return store.counts()
        finally:
            store.close()


def end_left_behind(settings: Settings) -> None:
    """Runs a server once more until every job has been cancelled and has ended.

    This takes no more resources than the machine has, since jobs that start meanwhile end at once.

    Raises:
        FailedPrecondition: a server runs, and must be asked instead.
    """

    def end_all(url: str, _site: Site, _leader: str | None) -> None:
        threading.Thread(target=call, args=(url,), name="down", daemon=True).start()

    def call(url: str) -> None:
        with Client(url, settings.token) as client:
            client.down()

    serve(replace(settings, host="127.0.0.1", port=0), end_all)
