"""The launcher's reports to the server: when each is due, how long the server may hold its answer,
and what follows without one.
"""

from __future__ import annotations

import sys
import time

from footplate.protocol.launcher import LauncherAnswer
from footplate.protocol.message import DecodeError
from footplate.replica.http_client import Refused, ServerUnavailable
from footplate.replica.launcher.background_call import NoThread
from footplate.replica.launcher.server_link import Post

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.protocol.launcher import LauncherReport
    from footplate.replica.launcher.background_call import BackgroundCall, Wake

PATH = "/replica/v1/launcher"
_LONGEST_HOLD_S = 20.0
_ANSWER_S = 20.0
_MIN_RETRY_S, _MAX_RETRY_S = 0.2, 2.0
_SETTLE_S = 0.5
"""How long a state is believed to be about to change."""
_NAME_LOOKUP_S = 1.0
"""How much longer than its request a thread may take, as looking up a name does."""
_WAIT_S = 1.0


def now_s() -> float:
    """Returns the time of a clock that goes on while the machine sleeps."""
    # While a node sleeps, the server's clock goes on: after the lease it starts the replica
    # elsewhere. A launcher that wakes up must know that its lease is over.
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Reporter:
    """Sends one report at a time, and obeys nothing: ``receive`` returns the server's answers.

    A report is due when the state has changed, and when the last answer was an order. While nothing
    changes, the server holds its answer until it has an order. ``send`` begins a request.
    """

    def __init__(
        self,
        send: Callable[[Post], BackgroundCall],
        lease_s: float,
        clock_s: Callable[[], float] = now_s,
    ) -> None:
        self._send = send
        self._lease_s = lease_s
        self._now_s = clock_s
        self._answered_s = clock_s()
        """When the last report that the server answered was sent."""
        self._post: Post | None = None
        """The report that is on its way."""
        self._call: BackgroundCall | None = None
        """Its thread."""
        self._sent_s = 0.0
        self._call_until_s = 0.0
        self._holds = False
        """Whether the server may keep its answer until there is something to do."""
        self._said = ""
        """The state in the last report."""
        self._due_s = 0.0
        self._settles = False
        """Whether the next report needs to wait only while nothing changes."""
        self._seen = ""
        """The state when it was last considered whether to report."""
        self._quiet_until_s = 0.0
        self._retry_s = _MIN_RETRY_S

    @property
    def unanswered_s(self) -> float:
        """Returns how old the last report is that the server has answered: the lease counts from
        it.
        """
        return self._now_s() - self._answered_s

    def is_due(self, state: str) -> bool:
        """Returns whether to report the state now."""
        if self._call is not None:
            return False
        now_s = self._now_s()
        if state != self._seen:
            # What starts is soon live, and a short job has soon ended: one report says it all.
            self._seen = state
            self._quiet_until_s = now_s + (_SETTLE_S if state in ("STARTING", "LIVE") else 0)
        if now_s < self._quiet_until_s:
            return False
        return now_s >= self._due_s or (self._settles and state != self._said)

    def report(self, report: LauncherReport) -> None:
        # Another state that is new may change soon. That would cancel a held request, and cost a
        # connection: so this request is answered at once, and held is the next.
        self._holds = report.state in (self._said, "IDLE", "LIVE", "GONE")
        self._said = report.state
        report.hold_s = min(_LONGEST_HOLD_S, self._lease_s / 4) if self._holds else 0
        timeout_s = min(report.hold_s + _ANSWER_S, max(1.0, self._lease_s / 2))
        self._sent_s = self._now_s()
        self._call_until_s = self._sent_s + timeout_s + _NAME_LOOKUP_S
        self._post = Post(PATH, report.encode(), timeout_s)
        self._call = self._send(self._post)

    def receive(self, state: str) -> LauncherAnswer | None:
        """Returns a new answer of the server. Gives up a report that is out of date in this state,
        or takes too long.
        """
        call = self._call
        if call is None:
            return None
        if not call.done:
            late = self._now_s() > self._call_until_s
            if late or (self._holds and state != self._said):
                self._cancel()
            if late:
                self._retry(f"{PATH}: the server doesn't answer in time")
            return None
        self._call = None
        try:
            answer = LauncherAnswer.decode(call.result())
        except (ServerUnavailable, NoThread) as error:
            self._retry(error)
        except DecodeError as error:
            self._retry(f"{PATH}: {error}")
        except Refused as error:
            # No answer of the server's, for all that is known: it renews no lease.
            self._retry(error)
            if error.status in (401, 403):
                return LauncherAnswer(leave=True)
        else:
            # The lease counts from when the report was sent, not from the answer: the server
            # counts from when it got the report. So the lease ends here before it ends there.
            self._answered_s, self._retry_s = self._sent_s, _MIN_RETRY_S
            self._settles = not self._holds and not answer.is_news
            self._due_s = self._now_s() + (_SETTLE_S if self._settles else 0)
            return answer
        return None

    def _cancel(self) -> None:
        if self._post is not None:
            self._post.cancel()
        self._call = self._post = None

    def _retry(self, error: object) -> None:
        print(error, file=sys.stderr)
        self._settles, self._due_s = False, self._now_s() + self._retry_s
        self._retry_s = min(_MAX_RETRY_S, self._retry_s * 2)

    def report_last(self, report: LauncherReport, wake: Wake) -> None:
        """Reports once more, in place of a report that is on its way, and waits for the answer."""
        self._cancel()
        end_s = self._now_s() + _ANSWER_S
        call = self._send(Post(PATH, report.encode(), _MAX_RETRY_S))
        while not call.done and self._now_s() < end_s:
            wake.wait(_WAIT_S)
        try:
            call.result()
        except (ServerUnavailable, NoThread, Refused) as error:
            print(error, file=sys.stderr)
