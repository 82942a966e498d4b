"""A replica of a gang says where it will be, and starts its program when it is told to."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from footplate.domain.log_lines import restart_of
from tests.support.replica_api import Reply
from tests.support.supervisor_process import Supervised, find_living, python_task

Make = Callable[..., Supervised]

LISTENING = """
import os, socket
own, other = int(os.environ["OWN"]), int(os.environ["OTHER"])
for port in (own, other):
    with socket.socket() as listening:
        listening.bind(("", port))
        listening.listen()
print(sorted(name for name in os.environ if name in ("EARLY", "LATE")))
"""


def gang(code: str = LISTENING, **fields: Any) -> dict[str, Any]:
    return python_task(code, environment=[["EARLY", "1"]], **{"gathering_s": 600.0, **fields})


def gather(replica: Supervised, *awaited: str) -> dict[str, Any]:
    """Run until it waits for ``awaited``; its READY record."""
    replica.api.awaited = list(awaited)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.questions > 2)
    ready = replica.api.ready
    assert ready is not None
    return ready


def test_one_that_comes_back_is_where_it_was(make_replica: Make) -> None:
    """And its records are numbered above those of its earlier starts."""
    replica = make_replica(gang())
    first = gather(replica, "worker-replica-1")
    replica.process.kill()
    replica.process.wait()
    place = {name: first[name] for name in ("host", "port", "open_ports")}
    again = make_replica(gang(restart=2, address=place), restart=2)
    ready = gather(again, "worker-replica-1")

    assert {name: ready[name] for name in place} == place
    assert first["n"] < 100
    assert restart_of(ready["n"]) == 2


def test_it_waits_then_starts_with_the_environment_that_it_is_told(
    make_replica: Make, containment_mode: str
) -> None:
    """And on every containment mode its ports are free by then."""
    replica = make_replica(gang(), isolation=containment_mode)
    ready = gather(replica, "worker-replica-1")
    assert ready["host"] == "127.0.0.1"
    assert (replica.api.phases(), replica.api.lines()) == (["PREPARING", "READY"], [])

    ports = [ready["port"], *ready["open_ports"]]
    names = ("OWN", "OTHER", "LATE")
    replica.api.environment = [[n, str(v)] for n, v in zip(names, (*ports, 1), strict=True)]
    replica.api.awaited = []
    assert replica.finish()["kind"] == "EXITED"
    assert replica.api.phases() == ["PREPARING", "READY", "RUNNING"]
    assert replica.api.lines() == ["['LATE']"]
    task = json.loads((replica.home / "task.json").read_text())
    assert task["environment"] == replica.api.environment


def test_replicas_of_one_machine_are_never_at_the_same_place(make_replica: Make) -> None:
    made = [gather(make_replica(gang()), "worker-replica-1") for _ in range(4)]
    ports = [port for ready in made for port in (ready["port"], *ready["open_ports"])]
    assert len(set(ports)) == len(ports) == 8


def test_one_that_is_alone_asks_nothing(make_replica: Make) -> None:
    replica = make_replica(python_task("print(1)", gathering_s=None))
    assert replica.supervise()["kind"] == "EXITED"
    assert (replica.api.questions, replica.api.phases()) == (0, ["PREPARING", "RUNNING"])


def test_who_does_not_get_ready_is_named_when_the_time_is_over(make_replica: Make) -> None:
    replica = make_replica(gang(gathering_s=0.3))
    replica.api.awaited = ["worker-replica-1", "worker-replica-3"]
    end = replica.supervise()
    assert end["kind"] == "UNPREPARED"
    assert end["cause"] == "waited 0.3 s for worker-replica-1 and worker-replica-3 to be ready"


def test_what_cannot_be_started_anyway_does_not_wait(make_replica: Make) -> None:
    task = gang()
    task["environment"] = [["A=B", "1"]]
    replica = make_replica(task)
    replica.api.awaited = ["worker-replica-1"]
    end = replica.supervise()
    assert (end["kind"], replica.api.questions) == ("UNPREPARED", 0)
    assert "'A=B' can't be a variable" in end["cause"]


def test_an_environment_that_is_none_ends_it(make_replica: Make) -> None:
    replica = make_replica(gang())
    replica.api.environment = [["A"]]
    end = replica.supervise()
    assert (end["kind"], replica.api.phases()[-1]) == ("UNPREPARED", "READY")
    cause = "the supervisor can't get the program's environment: environment[0] is not"
    assert end["cause"].startswith(cause)


def by_signal(replica: Supervised) -> None:
    replica.process.send_signal(signal.SIGTERM)


def by_answer(replica: Supervised) -> None:
    replica.api.stop_wanted = True


@pytest.mark.parametrize("stop", [by_signal, by_answer])
def test_a_stop_ends_the_wait(make_replica: Make, stop: Callable[[Supervised], None]) -> None:
    replica = make_replica(gang(heartbeat_s=0.2))
    gather(replica, "worker-replica-1")
    stop(replica)
    end = replica.finish()
    assert (end["kind"], end["cause"]) == (
        "STOPPED",
        ("the replica was stopped before its program started"),
    )


def test_an_attempt_that_is_over_ends_the_wait(make_replica: Make) -> None:
    replica = make_replica(gang())
    gather(replica, "worker-replica-1")
    replica.api.script = lambda _: Reply(403)
    assert replica.process.wait(60) == 0
    assert replica.gone == {
        "reason": "the server has no such job, or has ended this attempt to run it",
    }


def test_a_server_that_cannot_tell_ends_the_wait(make_replica: Make) -> None:
    replica = make_replica(gang())
    gather(replica, "worker-replica-1")
    error = {"code": 404, "status": "NOT_FOUND", "message": "there is no such replica"}
    body = json.dumps({"error": error}).encode()
    number = replica.api.requests + 2
    replica.api.script = lambda n: Reply(404, body) if n == number else None
    end = replica.finish()
    assert end["cause"] == (
        "the supervisor can't get the program's environment: there is no such replica"
    )


@pytest.mark.parametrize("body", [b"{}", b"[]", b"nonsense", b'{"awaited": 7, "environment": {}}'])
def test_an_answer_without_sense_is_asked_for_again(make_replica: Make, body: bytes) -> None:
    replica = make_replica(gang("print('on')"))
    gather(replica, "worker-replica-1")
    number = replica.api.requests + 1
    replica.api.script = lambda n: Reply(200, body) if n == number else None
    replica.api.wait_for(lambda: replica.api.requests > number + 1)
    replica.api.awaited = []
    assert replica.finish()["kind"] == "EXITED"


def test_the_next_server_is_found_and_asked(make_replica: Make) -> None:
    replica = make_replica(gang("print('on')"))
    gather(replica, "worker-replica-1")
    replica.api.stop()
    questions = replica.api.questions
    replica.api.start()
    replica.api.wait_for(lambda: replica.api.questions > questions)
    replica.api.awaited = []
    assert replica.finish()["kind"] == "EXITED"
    assert replica.api.lines() == ["on"]


def test_a_supervisor_that_dies_while_it_waits_leaves_nothing(make_replica: Make) -> None:
    word = f"footplate-test-{os.getpid()}-gathering"
    task = gang("import time; time.sleep(600)")
    task["program"]["argv"].append(word)
    replica = make_replica(task)
    gather(replica, "worker-replica-1")
    replica.process.kill()
    replica.process.wait()
    assert replica.sweep() == 0
    assert replica.api.events("SUPERVISOR_LOST")
    assert not find_living(word)


def test_a_bucket_that_disappears_meanwhile_is_left_out_of_its_view(
    make_replica: Make,
) -> None:
    """Others of the project come and go: only a program that needs it fails."""
    replica = make_replica(gang("import os; print(os.listdir('/gcs'))", buckets=["stage"]))
    bucket = replica.directory / "buckets" / "stage"
    bucket.mkdir()
    gather(replica, "worker-replica-1")
    promised = json.loads((replica.home / "promised.json").read_text())
    if promised["faults"]["view"]:
        pytest.skip(promised["faults"]["view"])
    bucket.rmdir()
    replica.api.environment = [["LATE", "1"]]
    replica.api.awaited = []
    end = replica.finish()
    assert end["kind"] == "EXITED"
    assert replica.api.lines() == ["[]"]
