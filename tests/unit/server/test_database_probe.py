"""A health check tells whether the database answers, however often it is asked."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from footplate.domain.errors import Unavailable
from footplate.server.routes import PROBE_INTERVAL_S, PROBE_SLOW_S, DatabaseProbe


class Database:
    def __init__(self) -> None:
        self.failure = ""
        self.asked = 0
        self.now_s = 0.0

    def ping(self) -> None:
        self.asked += 1
        if self.failure:
            raise Unavailable(self.failure)


def test_it_fails_while_the_database_is_away_and_asks_once_a_second() -> None:
    database = Database()
    probe = DatabaseProbe(database.ping, lambda: database.now_s)
    probe.check()
    database.failure = "gone"
    probe.check()
    assert database.asked == 1
    database.now_s += PROBE_INTERVAL_S
    for _ in range(3):
        with pytest.raises(Unavailable, match="gone"):
            probe.check()
    assert database.asked == 2
    database.failure = ""
    database.now_s += PROBE_INTERVAL_S
    probe.check()


def test_a_database_that_gives_no_answer_holds_up_one_thread_and_counts_as_away() -> None:
    database, asked, answered = Database(), Event(), Event()

    def ping() -> None:
        asked.set()
        answered.wait()

    probe = DatabaseProbe(ping, lambda: database.now_s)
    first = Thread(target=probe.check)
    first.start()
    asked.wait()
    probe.check()  # it may answer still
    database.now_s += PROBE_SLOW_S + 0.1
    with pytest.raises(Unavailable, match="doesn't answer"):
        probe.check()
    answered.set()
    first.join()
    database.now_s += PROBE_INTERVAL_S
    probe.check()
