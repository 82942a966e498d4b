"""How a supervisor has the server copy buckets."""

from __future__ import annotations

import pytest

from footplate.protocol.bucket_copies import StepResult
from footplate.replica.bucket_copies import RETRY_S, take
from footplate.replica.http_client import Refused, ServerUnavailable


class Server:
    """Gives the answers that it was made with, in order."""

    def __init__(self, *answers: StepResult | Exception) -> None:
        self.answers = list(answers)
        self.told: list[dict[str, object]] = []
        self.now = 0.0

    def answer(self) -> StepResult:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run(self) -> list[dict[str, object]]:
        take(self.answer, self.told.append, lambda: self.now, self.sleep)
        return self.told

    def sleep(self, seconds: float) -> None:
        self.now += seconds


DONE = StepResult(done=True, notes=("3 objects",))


def test_it_asks_until_all_is_done() -> None:
    server = Server(StepResult(done=False, progress="1 so far"), ServerUnavailable("away"), DONE)
    assert server.run() == [{"m": "1 so far"}, {"notes": ["3 objects"]}]


def test_a_bucket_may_be_away_for_a_while() -> None:
    fault = StepResult(done=False, fault="it is away", retry=True)
    server = Server(fault, fault, DONE)
    assert server.run()[-1] == {"notes": ["3 objects"]}
    assert server.told[0] == {"m": f"it is away; trying for {RETRY_S:g} s"}


def test_one_that_stays_away_is_given_up() -> None:
    server = Server(StepResult(done=False, fault="it is away", retry=True))
    assert server.run()[-1] == {"error": "it is away"}
    assert RETRY_S <= server.now <= RETRY_S + 2


@pytest.mark.parametrize(
    "answer", [StepResult(done=False, fault="HTTP 403: no"), Refused(403, "no")]
)
def test_what_is_refused_is_not_tried_again(answer: StepResult | Exception) -> None:
    server = Server(answer)
    assert server.run() == [{"error": "HTTP 403: no"}]
    assert server.now == 0
