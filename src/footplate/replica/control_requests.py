"""Polls the server for control requests while the program runs, and starts a task for each."""

from __future__ import annotations

from json.encoder import encode_basestring_ascii as quote

from footplate.protocol.control_requests import ControlRequest, PendingRequests
from footplate.protocol.message import DecodeError
from footplate.replica.http_client import ServerUnavailable
from footplate.replica.report_client import MIN_BACKOFF_S, parse_object

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.background_tasks import BackgroundTasks
    from footplate.replica.nonblocking_http import NonblockingRequest

CONTROL_REQUESTS_PATH = "/replica/v1/control-requests"
TIMEOUT_S = 40.0
"""Longer than the server lets a question without an answer stand."""
POLL_INTERVAL_S = 10.0
"""So often it is looked whether another server has come in the place of the one that was asked."""
MAX_BACKOFF_S = 5.0
MAX_REFUSED_BACKOFF_S = 60.0
"""The limit for a server that doesn't know the question, or doesn't want it."""
RETRY_WITHIN_S = 1.0
"""A server that answers sooner that there is nothing would be asked again without end."""
MIN_AGE_S = 0.5
"""A program that ends sooner has nobody who looks into it, and needs no question."""
_HTTP_UNAVAILABLE = 503
_MOST = 64
NEVER = float("inf")


class ControlRequests:
    """Keeps one question standing with the server between ``open`` and ``close``.

    ``tick`` begins what is due, ``step`` goes on with it. Whatever the server says or doesn't,
    nothing else changes by it. A control request comes at least once where the server can't know
    whether it has: the cursor of the last answer tells it.
    """

    def __init__(
        self,
        exchange: NonblockingRequest,
        background_tasks: BackgroundTasks,
        jitter: Callable[[], float],
    ) -> None:
        self._exchange = exchange
        self._background_tasks = background_tasks
        self._vary = jitter
        self._opened = False
        self._cursor = ""
        self._faults: list[tuple[str, str]] = []
        """Control requests that can't be handled, and why: to be reported."""
        self._telling = False
        self._failures = 0
        self._begun_at = 0.0
        self._look_at = 0.0
        self._due = 0.0

    def fileno(self) -> int:
        return self._exchange.fileno()

    def events(self) -> int:
        return self._exchange.events()

    def open(self, now: float) -> None:
        """Begins to ask the server for control requests: the program has started."""
        self._opened = True
        self._due = now + MIN_AGE_S

    def close(self) -> None:
        """Stops asking the server, and ends all tasks: the program has ended."""
        self._opened = False
        self._faults.clear()
        self._exchange.abort()
        self._background_tasks.kill()

    def deadline(self) -> float:
        """Returns the time at which ``tick`` has something to do, if nothing happens before."""
        if not self._opened:
            return NEVER
        return self._look_at if self._exchange.busy else self._due

    def reap_finished(self) -> None:
        """Handles the processes that have ended."""
        failures = self._background_tasks.reap()
        if self._opened:
            self._faults += failures

    def tick(self, now: float) -> None:
        if not self._opened:
            return
        if self._exchange.busy and now >= self._look_at:
            if now >= self._begun_at + TIMEOUT_S or self._exchange.moved():
                self._exchange.abort()
                self._rest(now, MAX_BACKOFF_S)
            else:
                self._look_at = now + POLL_INTERVAL_S
        if self._faults and not self._telling:
            self._exchange.abort()  # no request is lost: the server repeats it
            self._notify(now)
        elif not self._exchange.busy and now >= self._due:
            after = f"?after={self._cursor}" if self._cursor else ""
            self._telling = False
            self._begin(now, "GET", CONTROL_REQUESTS_PATH + after, None)

    def step(self, now: float) -> None:
        """Continues the exchange with the server, because something happened on ``fileno``."""
        try:
            answer = self._exchange.step()
        except ServerUnavailable:
            self._rest(now, MAX_BACKOFF_S)
            return
        if answer is None:
            return
        if self._telling:  # a control request that nobody waits for any more is refused: as good
            self._telling, self._due = False, now
        elif answer.status == 200:
            self._take(now, parse_object(answer.body))
        elif answer.status == _HTTP_UNAVAILABLE:  # another one may lead by now
            self._exchange.abort()
            self._rest(now, MAX_BACKOFF_S)
        else:
            self._rest(now, MAX_REFUSED_BACKOFF_S)

    def _take(self, now: float, value: object) -> None:
        try:
            pending = PendingRequests.decode(value)
        except DecodeError:
            pending = None
        if pending is None or not is_word(pending.cursor):
            self._rest(now, MAX_REFUSED_BACKOFF_S)
            return
        self._cursor = pending.cursor
        for each in pending.control_requests[:_MOST]:
            try:
                self._grant(ControlRequest.decode(each))
            except DecodeError:  # nobody knows who asked for it
                continue
        if pending.control_requests or now >= self._begun_at + RETRY_WITHIN_S:
            self._failures, self._due = 0, now
        else:
            self._rest(now, MAX_BACKOFF_S)

    def _grant(self, wanted: ControlRequest) -> None:
        """Starts the task for a control request. Its id and kind become words of a command line, so
        requests with unsafe ones are ignored.
        """
        if is_word(wanted.id) and is_word(wanted.kind):
            fault = self._background_tasks.run(wanted.kind, wanted.id)
            if fault:
                self._faults.append((wanted.id, fault))

    def _notify(self, now: float) -> None:
        self._telling = True
        name, fault = self._faults.pop(0)
        body = b'{"error":' + quote(fault).encode("ascii") + b"}"
        self._begin(now, "POST", f"{CONTROL_REQUESTS_PATH}/{name}", body)

    def _begin(self, now: float, method: str, path: str, body: bytes | None) -> None:
        self._begun_at = now
        self._look_at = now + POLL_INTERVAL_S
        try:
            self._exchange.begin(method, path, body)
        except ServerUnavailable:
            self._rest(now, MAX_BACKOFF_S)

    def _rest(self, now: float, longest_s: float) -> None:
        self._telling = False
        rest_s = min(longest_s, MIN_BACKOFF_S * 2 ** min(self._failures, 16))
        self._failures += 1
        self._due = now + rest_s * (0.5 + 0.5 * self._vary())


def is_word(text: str) -> bool:
    """Returns whether it is a short text of letters, digits and dashes, with no dash at first."""
    if not 0 < len(text) <= 64 or text.startswith("-"):
        return False
    return text.isascii() and text.replace("-", "").isalnum()
