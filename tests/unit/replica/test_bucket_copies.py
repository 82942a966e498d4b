"""How a supervisor has the server copy buckets."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.replica.bucket_copies import RETRY_S, take
from footplate.replica.http_client import Refused, ServerUnavailable


class Server:
    """Gives the answers that it was made with, in order."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.told: list[dict[str, object]] = []
        self.now = 0.0

    def answer(self) -> dict[str, Any]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run(self) -> list[dict[str, object]]:
        take(self.answer, self.told.append, lambda: self.now, self.sleep)
        return self.told

    def sleep(self, seconds: float) -> None:
        self.now += seconds


DONE = {"done": True, "notes": ["3 objects"]}


def test_it_asks_until_all_is_done() -> None:
    server = Server({"done": False, "progress": "1 so far"}, ServerUnavailable("away"), DONE)
    assert server.run() == [{"m": "1 so far"}, {"notes": ["3 objects"]}]


def test_a_bucket_may_be_away_for_a_while() -> None:
    fault = {"done": False, "fault": "it is away", "retry": True}
    server = Server(fault, fault, DONE)
    assert server.run()[-1] == {"notes": ["3 objects"]}
    assert server.told[0] == {"m": f"it is away; trying for {RETRY_S:g} s"}


def test_one_that_stays_away_is_given_up() -> None:
    server = Server({"done": False, "fault": "it is away", "retry": True})
    assert server.run()[-1] == {"error": "it is away"}
    assert RETRY_S <= server.now <= RETRY_S + 2


@pytest.mark.parametrize(
    "answer", [{"done": False, "fault": "HTTP 403: no", "retry": False}, Refused(403, "no")]
)
def test_what_is_refused_is_not_tried_again(answer: dict[str, Any] | Exception) -> None:
    server = Server(answer)
    assert server.run() == [{"error": "HTTP 403: no"}]
    assert server.now == 0
