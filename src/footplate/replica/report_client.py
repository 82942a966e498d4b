"""Fetches the task and the start signal from the server, and uploads records.

For as long as that takes.
"""

from __future__ import annotations

import json

from footplate.protocol.message import DecodeError
from footplate.protocol.reports import Acknowledgement
from footplate.protocol.task import Start, Task
from footplate.replica.http_client import ServerUnavailable

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable

    from footplate.replica.nonblocking_http import Answer, NonblockingRequest
    from footplate.replica.spool import Spool

TASK_PATH = "/replica/v1/task"
START_PATH = "/replica/v1/start"
REPORTS_PATH = "/replica/v1/reports"
ENDED = "?ended"
"""After that path: what is reported is of a program that is dead."""
MIN_BACKOFF_S = 0.05
MAX_BACKOFF_S = 5.0
HOLD_S = 5
"""How long the server may let a question whether to start stand, while others of the gang aren't
ready.
"""
QUESTION_INTERVAL_S = 1.0
"""Seconds from one such question to the next, if the server answers sooner."""
_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 2.0
"""A server that takes so long may have been stopped, and another have come in its place."""
_BATCH_BYTES = 262144
_LARGE_BACKLOG_BYTES = 65536
"""So much goes at once: a larger request would hardly cost less for each line."""
INTERVAL_S = 0.25
"""Seconds from one report of a running program's lines to the next, in the long run."""
FLUSH_WITHIN_S = 1.0
"""So far ahead of that a report may be: five of them after a quiet second go at once."""
PEER_WAIT_S = 0.2
"""So long word of a program's start waits for its first line, or its end, to go with it."""
_FINAL = ("INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "UNIMPLEMENTED")
_HTTP_FORBIDDEN = 403
_HTTP_TOO_LARGE = 413
_HTTP_UNIMPLEMENTED = 501
NEVER = float("inf")


class ReportClient:
    """Sends one request at a time; ``tick`` starts due requests, ``step`` continues them.

    A record is sent at once when nothing is on its way; those that come meanwhile go together
    in the next request. While a program runs, not more than one request in ``INTERVAL_S`` begins,
    after the first few: a request costs the server as much as a hundred lines do, and a thousand
    programs that print without end would keep it from everything else.

    When the server is away, or answers nonsense, the same is sent again after a rest that
    doubles, and varies so that a thousand supervisors don't come at once.
    """

    def __init__(
        self,
        exchange: NonblockingRequest,
        spool: Spool,
        jitter: Callable[[], float],
        places: str = "",
    ) -> None:
        """Prepares the client; ``places`` is a query that says where the program runs."""
        self.task: Task | None = None
        self.fault = ""
        """Why the server doesn't give us what we ask it for, and never will."""
        self.answer: Start | None = None
        """What the server said last whether the program may start; see ``ask_to_start``."""
        self.heartbeat_s = 30.0
        self.stop_wanted = False
        """The server wants the program to end."""
        self.refused = False
        """The attempt is over, or unknown to the server: nothing more will be taken."""
        self.unhurried = False
        """What waits are a running program's lines: better together than at once."""
        self._ended = False
        """The program is dead: the server may take the rest on a full disk, too."""
        self._exchange = exchange
        self._spool = spool
        self._vary = jitter
        self._places = places
        self._sent = spool.acknowledged
        self._batch_bytes = _BATCH_BYTES
        self._path = ""
        self._failures = 0
        self._contact: float | None = None
        self.answered_at = 0.0
        """When the server last answered anything."""
        self._longest_rest_s = MAX_BACKOFF_S
        self._due = 0.0
        """When to begin again after a failure."""
        self._timeout_at = 0.0
        self._look_at = 0.0
        self._interval_end = 0.0
        """Each report of lines moves it ``INTERVAL_S`` on; what comes next waits no longer."""
        self._delayed_at = self._delayed_until = 0.0
        self._delayed_record: int | None = None
        """The number of a record that waits for more to go with it."""
        self._ask_at = NEVER

    @property
    def idle(self) -> bool:
        """Says whether no request is on its way and no record waits."""
        return not self._exchange.busy and not self._spool.waiting

    def fileno(self) -> int:
        return self._exchange.fileno()

    def events(self) -> int:
        return self._exchange.events()

    def deadline(self) -> float:
        """Returns the time at which ``tick`` has something to do, if nothing happens before."""
        if self._exchange.busy:
            return 0.0 if self._holds_up_records() else min(self._timeout_at, self._look_at)
        if self._spool.waiting:
            return max(self._due, self._report_at())
        if self.task is None:
            return self._due
        return max(self._due, min(self._ask_at, (self._contact or 0.0) + self.heartbeat_s))

    def wait_for_peers(self, now: float) -> None:
        """Lets the newest record, and those before it, wait a little for more.

        Most programs soon print something, and short ones end: a report costs the server as much as
        a hundred lines do.
        """
        self._delayed_record = self._spool.last
        self._delayed_at, self._delayed_until = now, now + PEER_WAIT_S

    def ask_to_start(self) -> None:
        """Makes the client ask for the ``environment``, once all records are delivered."""
        self._ask_at = 0.0

    def end(self) -> None:
        """Notes that the program is dead: the remaining records are sent at once, whatever the
        server's last answers were.
        """
        self.unhurried = False
        if not self._ended:
            self._ended, self._due = True, 0.0

    def retry_soon(self) -> None:
        """Makes the client wait at most a second from now on, if the server is silent."""
        self._longest_rest_s, self._due = 1.0, 0.0

    def tick(self, now: float) -> None:
        if self.refused:
            return
        self._shorten_delay(now)
        if self._exchange.busy and self._watch(now):
            return
        if self._contact is None:
            self._contact = now
        if now < self._due:
            return
        if self._wants_task_first():
            self._begin(now, "GET", TASK_PATH, None, self._places)
        elif self._spool.waiting and now >= self._report_at():
            self._report(now)
        elif self.task is None:
            self._begin(now, "GET", TASK_PATH, None, self._places)
        elif now >= self._contact + self.heartbeat_s:  # before a question that may stand for long
            self._report(now)
        elif now >= self._ask_at:
            self._ask(now)

    def _holds_up_records(self) -> bool:
        """Returns whether records wait for the answer to a question that the server lets stand."""
        return self._exchange.busy and self._path == START_PATH and self._spool.waiting > 0

    def _shorten_delay(self, now: float) -> None:
        """Shortens the wait once a second record comes: a program that prints soon often ends soon.

        Both records then wait for the program's end half as long as the second one took to come.
        """
        if self._delayed_record not in (None, self._spool.last):
            self._delayed_record = None
            end_at = now + (now - self._delayed_at) / 2
            self._delayed_until = min(self._delayed_until, end_at)

    def _wants_task_first(self) -> bool:
        """Returns whether the task is requested before reports are sent: the program waits for the
        task.

        If the task can't be had at once, reports don't wait for it.
        """
        return self.task is None and not self.fault and not self._failures

    def _watch(self, now: float) -> bool:
        """Aborts a request that takes too long, or whose server is now at another address, and a
        question that records wait for. Returns whether the request goes on.
        """
        late = now >= self._look_at
        if self._holds_up_records():
            self._exchange.abort()
        elif now >= self._timeout_at or (late and self._exchange.moved()):
            self._exchange.abort()
            self._rest(now)
        elif late:
            self._look_at = now + POLL_INTERVAL_S
        return self._exchange.busy

    def step(self, now: float) -> None:
        """Continues the request, because something happened on ``fileno``."""
        self._timeout_at = now + _TIMEOUT_S
        try:
            answer = self._exchange.step()
        except ServerUnavailable:
            self._rest(now)
            return
        if answer is None:
            return
        if answer.status != 200 and not self._exchange.is_ours():
            self._exchange.abort()
            self._rest(now)
            return
        self.answered_at = now
        if answer.status == _HTTP_FORBIDDEN:
            self.refused = True
        elif self._take(answer):
            self._failures, self._due = 0, now
            if self._path != START_PATH:  # which doesn't say whether a stop is wanted
                self._contact = now
        else:
            self._rest(now)

    def close(self) -> None:
        self._exchange.abort()

    def _report_at(self) -> float:
        """Returns the time at which waiting records are sent, if no more come before."""
        is_large = self._spool.waiting_bytes >= _LARGE_BACKLOG_BYTES or self._spool.full
        if is_large or not self.unhurried:
            return 0.0
        return max(self._interval_end - FLUSH_WITHIN_S, self._delayed_until)

    def _report(self, now: float) -> None:
        if self.unhurried:
            # Those of a flood go without a pause, and the lines behind it don't wait for them all.
            self._interval_end = (
                min(max(self._interval_end, now), now + FLUSH_WITHIN_S) + INTERVAL_S
            )
        batch = self._spool.read(self._batch_bytes)
        self._sent = batch.last
        self._begin(
            now, "POST", REPORTS_PATH, b'{"records":[' + batch.body + b"]}", self._urgency()
        )

    def _urgency(self) -> str:
        """Returns the urgency of a report, but only if the server took none before: mostly it has
        room.
        """
        return ENDED if self._ended and self._failures else ""

    def _ask(self, now: float) -> None:
        self._ask_at = now + QUESTION_INTERVAL_S * (0.5 + 0.5 * self._vary())
        hold = f"{'&' if self._places else '?'}hold={HOLD_S}"
        self._begin(now, "GET", START_PATH, None, self._places + hold)

    def _begin(
        self, now: float, method: str, path: str, body: bytes | None, query: str = ""
    ) -> None:
        self._path = path
        self._timeout_at = now + _TIMEOUT_S
        self._look_at = now + POLL_INTERVAL_S
        try:
            self._exchange.begin(method, path + query, body)
        except ServerUnavailable:
            self._rest(now)

    def _rest(self, now: float) -> None:
        # The exponent is limited: ``2 ** failures`` grows without end, and a float can't hold it.
        rest_s = min(self._longest_rest_s, MIN_BACKOFF_S * 2 ** min(self._failures, 16))
        self._failures += 1
        self._due = now + rest_s * (0.5 + 0.5 * self._vary())

    def _take(self, answer: Answer) -> bool:
        """Acts on the answer; returns whether it made sense."""
        if answer.status == _HTTP_TOO_LARGE:
            self._batch_bytes = max(1024, self._batch_bytes // 2)
        if (
            answer.status >= 500 and answer.status != _HTTP_UNIMPLEMENTED
        ):  # it may be another server by now that we should talk to
            self._exchange.abort()
            return False
        if answer.status != 200:
            self.fault = "" if self._path == REPORTS_PATH else find_fault(answer.body)
            return bool(self.fault)
        value = parse_object(answer.body)
        if value is None:
            return False
        if self._path == TASK_PATH:
            return self._receive_task(value)
        if self._path == START_PATH:
            return self._receive_start(value)
        return self._acknowledge(value)

    def _receive_task(self, value: dict[str, Any]) -> bool:
        """Takes the task from an answer. Returns False if the answer has no program: it doesn't
        come from our server then. A task that can't be read is a lasting fault.
        """
        if "program" not in value:
            return False
        try:
            self.task = Task.decode(value)
        except DecodeError as error:
            self.fault = str(error)
        return True

    def _receive_start(self, value: dict[str, Any]) -> bool:
        """Takes the answer to the request to start. Returns False if the answer has neither of the
        two lists: it doesn't come from our server then.
        """
        if not any(isinstance(value.get(name), list) for name in ("environment", "awaited")):
            return False
        try:
            self.answer = Start.decode(value)
        except DecodeError as error:
            self.fault = str(error)
        if self.answer is None or self.answer.environment is not None:
            self._ask_at = NEVER
        return True

    def _acknowledge(self, value: dict[str, Any]) -> bool:
        try:
            answer = Acknowledgement.decode(value)
        except DecodeError:
            return False
        number, expected = answer.acknowledged, self._sent > self._spool.acknowledged
        # An answer that confirms nothing of what was sent isn't taken as success: after a success
        # the same records would be sent again at once, without a rest.
        if not number <= self._spool.last or (expected and number <= self._spool.acknowledged):
            return False
        self.stop_wanted = self.stop_wanted or answer.stop
        self._spool.acknowledge(number)
        return True


def find_fault(answer: bytes) -> str:
    """Returns why a request will fail however often it is made; '' if it may succeed later.

    Only an error as our server spells it counts: another server at its port knows nothing of us.
    """
    error = (parse_object(answer) or {}).get("error")
    if not isinstance(error, dict) or error.get("status") not in _FINAL:
        return ""
    return str(error.get("message"))


def parse_object(text: bytes) -> dict[str, Any] | None:
    """Returns the JSON object in ``text``, or None if there is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
