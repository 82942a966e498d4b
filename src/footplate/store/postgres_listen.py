"""Listens for PostgreSQL notifications on a connection and a thread of its own."""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from footplate.domain.errors import ServiceError
from footplate.ports.notifications import Notice
from footplate.store.errors import translated
from footplate.store.postgres_notify import CHANNEL, read_notice

if TYPE_CHECKING:
    from sqlalchemy import Engine

_FIRST_REST_S, _LONGEST_REST_S = 0.1, 5.0
_PROBE_S = 15.0
"""A connection that says nothing for so long is asked whether it is there still."""
_log = logging.getLogger(__name__)


class Listener:
    """Listens from ``start`` to ``close``; reconnects if the connection is lost.

    Notifications are lost while there is no connection, so ``missed`` is called after each
    connecting.
    """

    def __init__(
        self,
        engine: Engine,
        server: str,
        receive: Callable[[Notice], None],
        missed: Callable[[], None],
    ) -> None:
        self._engine = engine
        self._server = server
        self._receive = receive
        self._missed = missed
        # `close` writes to it, which ends the wait for notifications at once.
        self._reader, self._writer = os.pipe()
        self._closed = threading.Event()
        self._rest_s = _FIRST_REST_S
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stops listening; to be called once, even without a ``start``."""
        self._closed.set()
        os.write(self._writer, b"!")
        if self._thread.is_alive():
            self._thread.join()
        os.close(self._reader)
        os.close(self._writer)

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._listen()
            except Exception as error:
                reason = error.message if isinstance(error, ServiceError) else str(error)
                _log.warning("the server receives no notifications from other servers: %s", reason)
                self._closed.wait(self._rest_s)
                self._rest_s = min(_LONGEST_REST_S, 2 * self._rest_s)

    def _listen(self) -> None:
        """Listens until this listener is closed; raises an exception if the connection ends."""
        with translated(self._engine.url):
            kept = self._engine.raw_connection()
        try:
            connection: Any = kept.driver_connection  # psycopg's, which need not be installed
            kept.detach()
            connection.autocommit = True
            connection.execute(f"LISTEN {CHANNEL}")
            self._rest_s = _FIRST_REST_S
            # After LISTEN: a write before that has sent nothing to this connection.
            self._missed()
            while not self._closed.is_set():
                self._wait(connection)
        finally:
            kept.close()

    def _wait(self, connection: Any) -> None:
        waiting = select.poll()  # select() knows no descriptor above 1023
        for descriptor in (connection.fileno(), self._reader):
            waiting.register(descriptor, select.POLLIN)
        if not waiting.poll(_PROBE_S * 1000):
            connection.execute("SELECT 1")
        for heard in connection.notifies(timeout=0):
            notice = read_notice(heard.payload, self._server)
            if notice is not None:
                self._receive(notice)
