"""No line is lost, doubled or out of order, whatever becomes of the server."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from tests.support.disks import small_disk
from tests.support.profiles import seeded
from tests.support.replica_api import TOKEN, Reply
from tests.support.supervisor_process import Supervised, python_task, wait_until

Make = Callable[..., Supervised]

MIB = 1024 * 1024

COUNT = """
import sys
for i in range(int(sys.argv[1])):
    print(i, file=sys.stderr if i % 10 == 9 else sys.stdout)
"""


def counted(count: int) -> tuple[list[str], list[str]]:
    stdout = [str(i) for i in range(count) if i % 10 != 9]
    return stdout, [str(i) for i in range(count) if i % 10 == 9]


def check_counted(replica: Supervised, count: int) -> None:
    stdout, stderr = counted(count)
    assert replica.api.lines("stdout") == stdout
    assert replica.api.lines("stderr") == stderr


def has_more_than(replica: Supervised, count: int) -> bool:
    return len(replica.api.records) > count


def test_what_was_used_comes_with_the_exit(make_replica: Make) -> None:
    replica = make_replica(python_task("pass", usage_s=60))
    replica.api.start()
    replica.run()
    replica.finish()

    assert replica.api.reports[-1][-2:] == ["usage", "exit"]


def test_hundreds_of_thousands_of_lines_through_restarts_of_the_server(make_replica: Make) -> None:
    count = 200_000
    replica = make_replica(python_task(COUNT, str(count)))
    replica.api.start()
    replica.run()
    for share in range(1, 6):
        replica.api.wait_for(partial(has_more_than, replica, count * share // 8))
        replica.api.stop()
        replica.api.start()
    replica.finish()
    check_counted(replica, count)


def test_nonsense_is_survived(make_replica: Make) -> None:
    """Away, 500, garbage, half answers, answers that lie, and reports that were heard after all."""
    chosen = seeded(7)
    nonsense = [
        Reply(500),
        Reply(503, b"<html>"),
        Reply(404),
        Reply(413),
        Reply(429),
        Reply(200, b""),
        Reply(200, b"[]"),
        Reply(200, b'{"acknowledged": "7"}'),
        Reply(200, b'{"acknowledged": true}'),
        Reply(200, b'{"acknowledged": -1}'),
        Reply(200, b'{"acknowledged": 999999999}'),
        Reply(200, b"\xff\xfe"),
        Reply(200, b"[" * 5000),
        Reply(raw=b""),
        Reply(raw=b"SSH-2.0-OpenSSH_9\r\n"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        Reply(500, heard=True),
        Reply(raw=b"", heard=True),
        Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le", heard=True),
    ]
    plan = [None, *nonsense, None, None, *nonsense, *(None for _ in range(30))]
    chosen.shuffle(plan)
    count = 50_000
    replica = make_replica(python_task(COUNT, str(count)))
    replica.api.script = lambda number: plan[number] if number < len(plan) else None
    replica.supervise()
    check_counted(replica, count)
    assert replica.api.duplicates > 0


def test_a_chunked_answer_is_understood(make_replica: Make) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    replica = make_replica(python_task("print('x')"))

    def script(number: int) -> Reply | None:
        if number != 1:
            return None
        body = json.dumps(replica.api.task).encode()
        return Reply(raw=chunked % (len(body), body))

    replica.api.script = script
    replica.supervise()
    assert replica.api.lines() == ["x"]


def test_a_server_that_accepts_and_never_answers_is_not_waited_for_to_stop(
    make_replica: Make,
) -> None:
    """Time limits are kept while a request hangs."""
    replica = make_replica(python_task("import time; time.sleep(600)", time_limit_s=0.5))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.phases() == ["PREPARING", "RUNNING"])
    replica.api.stop()
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        replica.api.server_file.write_text(json.dumps({"url": url}))
        wait_until(lambda: b"TIME_LIMIT" in spooled(replica), "the exit in the spool")
    replica.api.start()
    assert replica.finish()["kind"] == "TIME_LIMIT"


def end_while_the_server_is_away(replica: Supervised) -> None:
    """Of a program that waits for ``go``."""
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.api.stop()
    go(replica)
    wait_until(lambda: b'"exit"' in spooled(replica), "the exit in the spool")


def test_a_program_that_ends_while_the_server_is_away_is_reported_later(make_replica: Make) -> None:
    replica = make_replica(python_task(WAIT_FOR_GO + "print('last words'); sys.exit(5)"))
    end_while_the_server_is_away(replica)
    replica.api.start()
    assert replica.finish()["code"] == 5
    assert replica.api.lines() == ["ready", "last words"]


def test_a_stop_after_the_end_changes_nothing(make_replica: Make) -> None:
    replica = make_replica(python_task(WAIT_FOR_GO))
    end_while_the_server_is_away(replica)
    replica.process.send_signal(signal.SIGTERM)
    replica.api.start()
    assert replica.finish()["kind"] == "EXITED"


@pytest.mark.parametrize("program_runs", [True, False])
def test_sigterm_ends_the_program_and_the_supervisor_without_a_server(
    make_replica: Make, *, program_runs: bool
) -> None:
    replica = make_replica(python_task(WAIT_FOR_GO + "print('last words')"))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.api.stop()
    if not program_runs:
        go(replica)
        wait_until(lambda: b'"exit"' in spooled(replica), "the exit in the spool")

    replica.process.send_signal(signal.SIGTERM)

    assert replica.process.wait(60) == 0
    assert "Signal to stop received: the server doesn't answer" in replica.log()
    assert replica.gone is None
    replica.api.start()
    assert replica.sweep() == 0, replica.log()
    assert replica.api.exit is not None
    assert replica.api.exit["kind"] == ("STOPPED" if program_runs else "EXITED")
    assert not replica.api.events("SUPERVISOR_LOST")
    assert not replica.api.faults


def test_a_killed_supervisors_records_are_delivered_by_the_sweep(make_replica: Make) -> None:
    count = 20_000
    replica = make_replica(python_task(WAIT_FOR_GO + COUNT + "time.sleep(600)", str(count)))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.api.stop()
    go(replica)
    last = [f'"{n}"'.encode() for n in (count - 2, count - 1)]  # of stdout, and of stderr
    wait_until(lambda: all(n in spooled(replica) for n in last), "the lines in the spool")
    replica.process.kill()
    replica.process.wait()
    replica.api.start()
    assert replica.sweep() == 0, replica.log()
    stdout, stderr = counted(count)
    assert replica.api.lines() == ["ready", *stdout]
    assert replica.api.lines("stderr") == stderr
    assert replica.api.records[-1]["kind"] == "SUPERVISOR_LOST"
    assert not replica.api.faults


def test_what_a_sweep_tells_counts_the_records_of_that_start_alone(make_replica: Make) -> None:
    replica = make_replica(python_task(WAIT_FOR_GO, restart=2), restart=2)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.process.kill()
    replica.process.wait()
    assert replica.sweep() == 0, replica.log()
    *before, told = replica.api.records
    assert told["kind"] == "SUPERVISOR_LOST"
    assert f"up to record {len(before)}. Later" in told["m"]


@pytest.mark.parametrize("seed", range(5))
def test_a_kill_at_any_moment_loses_only_what_was_not_read_yet(
    make_replica: Make, seed: int
) -> None:
    count = 100_000
    replica = make_replica(python_task(COUNT + "import time; time.sleep(600)", str(count)))
    replica.api.start()
    replica.run()
    some = seeded(seed).randrange(count // 2)
    replica.api.wait_for(lambda: len(replica.api.records) > some)
    replica.process.kill()
    replica.process.wait()
    assert replica.sweep() == 0, replica.log()
    assert not replica.api.faults
    lines = [record for record in replica.api.records if record["k"] == "line"]
    stdout, stderr = counted(count)
    assert [r["m"] for r in lines if r["stream"] == "stdout"] == stdout[: len(replica.api.lines())]
    assert replica.api.lines("stderr") == stderr[: len(replica.api.lines("stderr"))]
    assert replica.api.records[-1]["kind"] == "SUPERVISOR_LOST"


def test_a_sweep_without_a_server_keeps_what_it_has(make_replica: Make) -> None:
    replica = make_replica(python_task(WAIT_FOR_GO), sweep_patience_s=0.2)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.api.stop()
    replica.process.kill()
    replica.process.wait()
    assert replica.sweep() == 1
    assert replica.gone is None
    replica.api.start()
    assert replica.sweep() == 0
    assert replica.gone is not None


def test_a_sweep_of_a_refused_attempt_drops_its_records(make_replica: Make) -> None:
    replica = make_replica(python_task("import time; time.sleep(600)"))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.phases() == ["PREPARING", "RUNNING"])
    replica.process.kill()
    replica.process.wait()
    replica.api.token = "another attempt's"
    assert replica.sweep() == 0
    assert replica.gone is not None


def test_a_home_that_never_began_is_swept(make_replica: Make) -> None:
    replica = make_replica(python_task(""))
    assert replica.sweep() == 0
    assert replica.gone is not None


def test_at_the_bound_the_program_waits_and_the_reason_is_told_once(make_replica: Make) -> None:
    bound = MIB
    count = 60_000
    replica = make_replica(python_task(WAIT_FOR_GO + COUNT, str(count)), spool_limit_bytes=bound)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.api.stop()
    go(replica)
    wait_until(lambda: b"OUTPUT_HELD" in spooled(replica), "the bound")
    sizes = set()
    for _ in range(20):
        sizes.add(len(spooled(replica)))
        time.sleep(0.01)
    assert len(sizes) == 1
    assert sizes.pop() < bound + bound // 2
    assert b'"exit"' not in spooled(replica)
    replica.api.start()
    assert replica.finish()["code"] == 0
    stdout, stderr = counted(count)
    assert replica.api.lines() == ["ready", *stdout]
    assert replica.api.lines("stderr") == stderr
    (event,) = replica.api.events("OUTPUT_HELD")
    assert "bytes" in event


def test_the_disk_is_given_back_at_the_end(make_replica: Make) -> None:
    replica = make_replica(python_task(COUNT, "50000"), spool_limit_bytes=MIB)
    replica.supervise()
    check_counted(replica, 50_000)
    assert not spooled(replica)


@contextmanager
def disk_of(replica: Supervised) -> Iterator[None]:
    """A file system of one MiB in place of its home, with what is in that."""
    content = {path.name: path.read_bytes() for path in replica.home.iterdir()}
    with small_disk(replica.home, "1m"):
        for name, data in content.items():
            (replica.home / name).write_bytes(data)
        yield


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root")
def test_on_a_full_disk_the_program_waits_and_the_reason_is_told(make_replica: Make) -> None:
    count = 30_000
    replica = make_replica(python_task(WAIT_FOR_GO + COUNT, str(count)))
    with disk_of(replica):
        replica.api.start()
        replica.run()
        replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
        replica.api.stop()
        go(replica)
        wait_until(lambda: b"OUTPUT_HELD" in spooled(replica), "the full disk")
        assert b'"exit"' not in spooled(replica)
        replica.api.start()
        assert replica.finish()["code"] == 0
    stdout, stderr = counted(count)
    assert replica.api.lines() == ["ready", *stdout]
    assert replica.api.lines("stderr") == stderr
    (event,) = replica.api.events("OUTPUT_HELD")
    assert "No space left on device" in event


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root")
def test_on_a_full_disk_no_program_is_begun(make_replica: Make) -> None:
    replica = make_replica(python_task("print('hello')"))
    with disk_of(replica):
        ballast = replica.home / "ballast"
        ballast.write_bytes(bytes(MIB - (200 << 10)))
        replica.api.start()
        replica.run()
        replica.api.wait_for(lambda: replica.api.events("DISK_FULL") != [])
        ballast.unlink()
        assert replica.finish()["code"] == 0
    assert replica.api.lines() == ["hello"]
    told = replica.api.events("DISK_FULL")
    assert told[0] == "the disk is full: the program starts when there is space"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root")
def test_space_that_is_gone_before_the_start_is_waited_for(make_replica: Make) -> None:
    """The disk has enough for the look at it, and too little for the task."""
    replica = make_replica(python_task("print('hello')", account="x" * (600 << 10)))
    with disk_of(replica):
        ballast = replica.home / "ballast"
        ballast.write_bytes(bytes(400 << 10))
        replica.api.start()
        replica.run()
        replica.api.wait_for(lambda: replica.api.events("DISK_FULL") != [])
        assert not (replica.home / "task.json").exists()
        ballast.unlink()
        assert replica.finish()["code"] == 0
    assert replica.api.lines() == ["hello"]


def test_endless_output_without_a_newline_comes_in_pieces(make_replica: Make) -> None:
    megabytes = 200 if os.environ.get("CI") == "true" else 50
    code = f"import sys\nfor _ in range({megabytes * 16}): sys.stdout.write('x' * 65536)"
    replica = make_replica(python_task(code), spool_limit_bytes=4 * MIB)
    end = replica.supervise()
    assert end["code"] == 0
    pieces = replica.api.lines()
    assert {len(piece) for piece in pieces} == {65536}
    assert len(pieces) == megabytes * 16


def test_binary_output_is_text_with_replacements(make_replica: Make) -> None:
    code = (
        "import sys; sys.stdout.buffer.write(bytes({*range(256)} - {13}) * 100 + b'\\n\\xff\\0end')"
    )
    replica = make_replica(python_task(code))
    assert replica.supervise()["code"] == 0
    expected = bytes({*range(256)} - {13}) * 100 + b"\n\xff\0end"
    assert replica.api.lines() == expected.decode("utf-8", "replace").split("\n")


def test_a_program_may_close_its_output(make_replica: Make) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.2); os._exit(4)"
    assert make_replica(python_task(code)).supervise()["code"] == 4


def test_heartbeats_are_sent_when_nothing_else_is(make_replica: Make) -> None:
    replica = make_replica(python_task(WAIT_FOR_GO, heartbeat_s=0.05))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.heartbeats > 3)
    go(replica)
    replica.finish()


WAIT_FOR_GO = """
import os, sys, time
print("ready", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
"""


def go(replica: Supervised) -> None:
    (replica.home / "work" / "go").touch()


def spooled(replica: Supervised) -> bytes:
    content = b""
    for path in sorted((replica.home / "spool").glob("*.jsonl")):
        try:
            content += path.read_bytes()
        except FileNotFoundError:
            continue
    return content


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ticket.json", "{}"),
        ("ticket.json", "torn"),
        ("ticket.json", None),
        ("isolation.json", ""),
        ("isolation.json", "{}"),
        ("spool/others.jsonl", "x"),
    ],
)
def test_a_home_whose_files_were_spoilt_is_given_up_by_the_sweep(
    make_replica: Make, name: str, content: str | None
) -> None:
    replica = make_replica(python_task("import time; time.sleep(600)"))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.phases() == ["PREPARING", "RUNNING"])
    record = (replica.home / "isolation.json").read_text()
    replica.process.kill()
    replica.process.wait()
    if content is None:
        (replica.home / name).unlink()
    else:
        (replica.home / name).write_text(content)

    assert replica.sweep() == 0, replica.log()
    assert replica.gone is not None
    (replica.home / "gone").unlink()
    (replica.home / "isolation.json").write_text(record)  # what the program is ended by


def test_a_server_of_others_at_the_port_of_a_dead_one_ends_nothing(make_replica: Make) -> None:
    """The file still names the dead server, whose port somebody else's server has got."""
    replica = make_replica(python_task(WAIT_FOR_GO, heartbeat_s=0.1))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.api.stop()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    replica.api.pid, replica.api.token = dead.pid, "of others"
    replica.api.start()
    go(replica)
    replica.api.wait_for(lambda: len(replica.api.faults) > 2)
    replica.api.stop()
    replica.api.pid, replica.api.token = os.getpid(), TOKEN
    replica.api.faults.clear()
    replica.api.start()

    assert replica.finish()["kind"] == "EXITED"
