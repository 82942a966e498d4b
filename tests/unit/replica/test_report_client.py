"""When a supervisor sends what waits: at once, or together with what comes after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footplate.protocol.task import CommandTask, Task
from footplate.replica.nonblocking_http import Answer
from footplate.replica.report_client import (
    ENDED,
    FLUSH_WITHIN_S,
    HOLD_S,
    INTERVAL_S,
    PEER_WAIT_S,
    POLL_INTERVAL_S,
    REPORTS_PATH,
    START_PATH,
    TASK_PATH,
    ReportClient,
)
from footplate.replica.spool import Spool

TASK = Task(CommandTask(("true",)))
LINE = b'"k":"line","m":"x"}'
AT_ONCE = 1 + round(FLUSH_WITHIN_S / INTERVAL_S)


class Server:
    """An exchange whose server is there, and keeps what it gets."""

    def __init__(self) -> None:
        self.busy = False
        self.silent = False
        self.elsewhere = False
        self.status = 200
        self.task: Answer = Answer(200, json.dumps(TASK.encode()).encode())
        self.paths: list[str] = []
        self.reports: list[list[int]] = []

    def begin(self, _method: str, path: str, body: bytes | None) -> None:
        self.busy = True
        self.paths.append(path)
        if body is not None:
            self.reports.append([record["n"] for record in json.loads(body)["records"]])

    def step(self) -> Answer:
        self.busy = False
        if self.paths[-1] == TASK_PATH:
            return self.task
        if self.paths[-1].startswith(START_PATH):
            return Answer(200, b'{"awaited": ["worker-replica-0"]}')
        number = max((number for report in self.reports for number in report), default=0)
        return Answer(self.status, json.dumps({"acknowledged": number}).encode())

    def is_ours(self) -> bool:
        return True

    def moved(self) -> bool:
        return self.elsewhere

    def abort(self) -> None:
        self.busy = False


class Post:
    """A report client with a task, its spool, and its server; ``now`` is the time."""

    def __init__(self, directory: Path) -> None:
        self.server = Server()
        self.spool = Spool(str(directory), 1 << 20)
        self.report_client = ReportClient(self.server, self.spool, lambda: 0.5)  # type: ignore[arg-type]  # a fake
        self.report_client.task = TASK
        self.report_client.unhurried = True
        self.now = 1000.0

    def add(self, body: bytes = LINE) -> None:
        self.spool.append([body])
        self.turn()

    def turn(self) -> None:
        self.report_client.tick(self.now)
        if self.server.busy and not self.server.silent:
            self.report_client.step(self.now)

    @property
    def reports(self) -> list[list[int]]:
        return self.server.reports


@pytest.fixture
def post(tmp_path: Path) -> Post:
    return Post(tmp_path)


@pytest.fixture
def newcomer(post: Post) -> Post:
    """It has no task yet."""
    post.report_client.task, post.report_client.unhurried = None, False
    return post


def test_the_task_is_asked_for_before_anything_is_told(newcomer: Post) -> None:
    newcomer.add()
    assert newcomer.server.paths == [TASK_PATH]
    assert newcomer.report_client.task == TASK
    newcomer.turn()
    assert newcomer.server.paths == [TASK_PATH, REPORTS_PATH]


@pytest.mark.parametrize(
    ("status", "body"), [(503, b""), (404, b'{"error":{"status":"NOT_FOUND","message":"gone"}}')]
)
def test_what_there_is_to_tell_does_not_wait_for_a_task_that_can_not_be_had(
    newcomer: Post, status: int, body: bytes
) -> None:
    newcomer.server.task = Answer(status, body)
    newcomer.add()
    newcomer.now = newcomer.report_client.deadline()
    newcomer.turn()
    assert newcomer.server.paths == [TASK_PATH, REPORTS_PATH]
    assert newcomer.reports == [[1]]


def test_what_a_dead_program_said_goes_at_once_and_says_so_where_it_was_refused(post: Post) -> None:
    post.server.status = 503
    for _ in range(9):
        post.add()
        post.now = post.report_client.deadline()
    refused = len(post.server.paths)
    assert set(post.server.paths) == {REPORTS_PATH}
    post.report_client.end()
    assert post.report_client.deadline() == 0.0
    post.turn()
    assert post.server.paths[refused:] == [REPORTS_PATH + ENDED]

    post.server.status = 200
    post.now = post.report_client.deadline()
    post.turn()
    post.add()
    assert post.server.paths[-1] == REPORTS_PATH


def test_the_first_lines_go_at_once_each_by_itself(post: Post) -> None:
    for _ in range(AT_ONCE):
        post.add()
    assert post.reports == [[n] for n in range(1, AT_ONCE + 1)]


def test_what_comes_without_a_pause_goes_together(post: Post) -> None:
    for _ in range(AT_ONCE + 3):
        post.add()
    assert len(post.reports) == AT_ONCE

    due = post.report_client.deadline()
    assert post.now < due <= post.now + INTERVAL_S + 1e-6
    post.now = due
    post.turn()
    assert post.reports[AT_ONCE:] == [[AT_ONCE + 1, AT_ONCE + 2, AT_ONCE + 3]]


def test_a_program_that_never_stops_printing_costs_few_requests(post: Post) -> None:
    for _ in range(1000):
        post.now += 0.01
        post.add()
    assert len(post.reports) <= AT_ONCE + 10 / INTERVAL_S + 1
    sent = [number for report in post.reports for number in report]
    assert sent == list(range(1, len(sent) + 1))
    assert post.spool.waiting <= INTERVAL_S / 0.01 + 1


def test_after_a_quiet_moment_a_line_goes_at_once_again(post: Post) -> None:
    for _ in range(AT_ONCE):
        post.add()
    post.now += INTERVAL_S * AT_ONCE
    for _ in range(AT_ONCE):
        post.add()
    assert len(post.reports) == 2 * AT_ONCE


def test_much_goes_at_once(post: Post) -> None:
    for _ in range(AT_ONCE + 1):
        post.add()
    post.add(b'"k":"line","m":"' + b"x" * 65536 + b'"}')
    assert post.reports[AT_ONCE:] == [[AT_ONCE + 1, AT_ONCE + 2]]


def test_the_line_after_a_flood_waits_no_longer_than_any(post: Post) -> None:
    for _ in range(200):
        post.add(b'"k":"line","m":"' + b"x" * 65536 + b'"}')
    assert len(post.reports) == 200
    post.add()
    assert post.report_client.deadline() <= post.now + INTERVAL_S + 1e-6


def test_the_end_of_a_program_waits_for_nothing(post: Post) -> None:
    for _ in range(AT_ONCE + 1):
        post.add()
    post.report_client.unhurried = False
    assert post.report_client.deadline() <= post.now
    post.turn()
    assert post.reports[AT_ONCE:] == [[AT_ONCE + 1]]


def test_what_was_told_of_the_preparation_slows_no_line(post: Post) -> None:
    post.report_client.unhurried = False
    for _ in range(3 * AT_ONCE):
        post.add(b'"k":"state"}')
    post.report_client.unhurried = True
    post.add()
    assert len(post.reports) == 3 * AT_ONCE + 1


STATE = b'"k":"state","phase":"RUNNING"}'


@pytest.fixture
def beginner(post: Post) -> Post:
    """Its program has begun just now, and nobody has heard of that."""
    post.spool.append([STATE, STATE])
    post.report_client.wait_for_peers(post.now)
    post.turn()
    assert post.reports == []
    return post


def test_word_of_a_start_goes_with_the_first_lines(beginner: Post) -> None:
    beginner.now += PEER_WAIT_S / 2
    beginner.add()
    until = beginner.report_client.deadline()
    assert until == pytest.approx(beginner.now + PEER_WAIT_S / 4)
    beginner.now += PEER_WAIT_S / 8
    beginner.add()
    assert beginner.reports == []
    beginner.now = until
    beginner.turn()
    assert beginner.reports == [[1, 2, 3, 4]]
    beginner.add()
    assert beginner.reports == [[1, 2, 3, 4], [5]]


def test_a_late_first_line_waits_no_longer_than_word_of_the_start(beginner: Post) -> None:
    end_at = beginner.now + PEER_WAIT_S
    beginner.now += PEER_WAIT_S * 3 / 4
    beginner.add()
    assert beginner.report_client.deadline() == end_at


def test_word_of_a_start_goes_with_the_first_line_and_the_end(beginner: Post) -> None:
    beginner.now += PEER_WAIT_S / 2
    beginner.add()
    beginner.now += PEER_WAIT_S / 8
    beginner.report_client.end()
    beginner.add(b'"k":"exit"}')
    assert beginner.reports == [[1, 2, 3, 4]]


def test_word_of_a_start_goes_alone_when_nothing_is_said(beginner: Post) -> None:
    assert beginner.report_client.deadline() == beginner.now + PEER_WAIT_S
    beginner.now += PEER_WAIT_S
    beginner.turn()
    assert beginner.reports == [[1, 2]]
    beginner.add()
    assert beginner.reports == [[1, 2], [3]]


def test_word_of_a_start_goes_with_the_end(beginner: Post) -> None:
    beginner.report_client.unhurried = False
    beginner.add(b'"k":"exit"}')
    assert beginner.reports == [[1, 2, 3]]


def test_a_spool_at_its_bound_waits_for_nothing(tmp_path: Path) -> None:
    post = Post(tmp_path)
    post.spool = Spool(str(tmp_path / "small"), 128)
    post.report_client = ReportClient(post.server, post.spool, lambda: 0.5)  # type: ignore[arg-type]  # a fake
    post.report_client.task, post.report_client.unhurried = TASK, True
    for _ in range(AT_ONCE):
        post.add()
    post.spool.append([LINE] * 10)
    assert post.spool.full
    post.turn()
    assert post.reports[-1][-1] == post.spool.last


def test_a_report_goes_to_the_server_that_came_in_the_place_of_a_silent_one(post: Post) -> None:
    post.server.silent = True
    post.add()
    begun = post.now
    post.now = post.report_client.deadline()
    post.turn()
    waits = [post.server.busy]
    post.server.elsewhere = True
    post.now = post.report_client.deadline()
    post.turn()
    waits.append(post.server.busy)
    assert (waits, post.now - begun) == ([True, False], 2 * POLL_INTERVAL_S)
    post.server.silent = post.server.elsewhere = False
    post.now = post.report_client.deadline()
    post.turn()
    assert post.reports == [[1], [1]]
    assert post.report_client.idle


def test_a_server_that_does_not_lead_is_asked_again_after_a_rest(post: Post) -> None:
    post.server.status = 503
    post.add()
    assert post.spool.waiting
    assert post.report_client.deadline() > post.now
    post.server.status = 200
    post.now = post.report_client.deadline()
    post.turn()
    assert post.report_client.idle


@pytest.fixture
def ready(post: Post) -> Post:
    """It waits for the others of its gang, and the server lets its question stand."""
    post.report_client.ask_to_start()
    post.server.silent = True
    post.turn()
    assert post.server.paths == [f"{START_PATH}?hold={HOLD_S}"]
    return post


def test_records_do_not_wait_for_an_answer_whether_to_start(ready: Post) -> None:
    ready.spool.append([LINE])
    assert ready.report_client.deadline() <= ready.now
    ready.server.silent = False
    ready.report_client.unhurried = False
    ready.turn()
    assert ready.reports == [[1]]


def test_a_question_that_stands_is_no_reason_to_report_less(ready: Post) -> None:
    begun = ready.now
    while not ready.reports:
        ready.server.silent = False
        ready.report_client.step(ready.now)
        ready.now = max(ready.now + HOLD_S, ready.report_client.deadline())
        ready.turn()
    assert ready.reports == [[]]
    assert ready.now - begun <= ready.report_client.heartbeat_s + HOLD_S
