"""Output as no terminal would want it: all of it arrives, and the supervisor stays small."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.supervisor_process import Supervised, python_task

Make = Callable[..., Supervised]

MEMORY_LIMIT_KB = 21 * 1024
"""15 MiB, and a bounded part of what is on its way, as text, as JSON and as a request: most where
each byte is a line of its own."""
PIECE = 65536
FLOODS = {
    "a line of 10 MB": "write(b'x' * 10_000_000 + b'\\n')",
    "lines of 10 MB that are no text": "for _ in range(3): write(b'\\xff' * 10_000_000 + b'\\n')",
    "control characters": "write((bytes(range(32)) * 8 + b'\\n') * 5_000)",
    "characters of four bytes, split anywhere": "write('\\U0001f980'.encode() * 3_000_000)",
    "nothing but ends of lines": "write(b'\\n' * 100_000)",
    "progress bars": "for i in range(100_000): write(b'\\r%d%%|####   | it/s' % i)",
    "hundreds of thousands of lines at once": "write(b'1\\n' * 200_000)",
}
PROGRAM = """
import os, time
def write(data):
    while data:
        data = data[os.write(1, data[:1 << 20]):]
{}
write(b"\\nthe end\\n")
while not os.path.exists("go"): time.sleep(0.01)
"""


def go(replica: Supervised) -> None:
    (replica.home / "work" / "go").touch()


def has_come(replica: Supervised, line: str) -> bool:
    """Whether it is the last that came, but for samples and states."""
    return any(record.get("m") == line for record in replica.api.records[-3:])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("flood", FLOODS)
def test_the_supervisor_stays_small(make_replica: Make, flood: str) -> None:
    replica = make_replica(python_task(PROGRAM.format(FLOODS[flood])))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: has_come(replica, "the end"))
    status = Path(f"/proc/{replica.process.pid}/status").read_text()
    go(replica)
    assert replica.finish()["code"] == 0
    highest_kb = int(status.partition("VmHWM:")[2].split()[0])
    print(f"{flood}: at most {highest_kb} kB")
    assert highest_kb < MEMORY_LIMIT_KB
    assert max(map(len, replica.api.lines())) <= PIECE


def test_a_line_of_10_mb_comes_whole_in_pieces(make_replica: Make) -> None:
    code = "import sys; print('before'); print(''.join(map(str, range(1_800_000)))); print('after')"
    replica = make_replica(python_task(code))
    assert replica.supervise()["code"] == 0
    first, *pieces, last = replica.api.lines()
    assert (first, last) == ("before", "after")
    assert "".join(pieces) == "".join(map(str, range(1_800_000)))
    assert all(len(piece) == PIECE for piece in pieces[:-1])


def test_of_a_progress_bar_the_last_state_arrives_as_it_is(make_replica: Make) -> None:
    bar = "\r".join(f" {percent}%|\x1b[32m#\x1b[0m|" for percent in range(0, 101, 10))
    code = f"import sys; sys.stderr.write({bar!r} + '\\n'); sys.stdout.write('no end of line\\r')"
    replica = make_replica(python_task(code))
    assert replica.supervise()["code"] == 0
    assert replica.api.lines("stderr") == []
    assert set(replica.api.lines("progress")) == {" 100%|\x1b[32m#\x1b[0m|", "no end of line"}


def test_a_bar_is_shown_while_it_moves_and_is_no_cause(make_replica: Make) -> None:
    code = (
        "import os, sys, time\n"
        "print('no data in x', file=sys.stderr)\n"
        "step = 0\n"
        "while not os.path.exists('go'):\n"
        "    step += 1\n"
        "    sys.stderr.write(f'\\r{step}/10000 steps')\n"
        "    time.sleep(0.01)\n"
        "sys.exit(3)"
    )
    replica = make_replica(python_task(code))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: bool(replica.api.lines("progress")))
    go(replica)
    end = replica.finish()
    assert (end["code"], end["cause"]) == (3, "no data in x")
    shown = [int(line.partition("/")[0]) for line in replica.api.lines("progress")]
    assert shown == sorted(set(shown))
    assert len(shown) < 20


def test_a_cause_names_the_place_of_the_program(make_replica: Make) -> None:
    code = "def load(path):\n    open(path)\n\nload('/none/x')"
    end = make_replica(python_task(code)).supervise()
    assert end["cause"].endswith("'/none/x' (at <string>:2 in load)")


ALTERNATING = """
import array, fcntl, os, termios, time
for number in range(50):
    stream = 1 + number % 2
    os.write(stream, b"%d\\n" % number)
    waiting = array.array("i", [1])
    while waiting[0]:
        time.sleep(0.001)
        fcntl.ioctl(stream, termios.FIONREAD, waiting)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks what a pipe holds")
def test_lines_of_both_streams_keep_their_order(make_replica: Make) -> None:
    """Each stream is a pipe: a line that is read comes before what is written afterwards."""
    replica = make_replica(python_task(ALTERNATING))
    assert replica.supervise()["code"] == 0
    lines = [record["m"] for record in replica.api.records if record["k"] == "line"]
    assert lines == [str(number) for number in range(50)]


TURNED_AWAY = """
import os
os.write(1, b"to the log\\n")
file = os.open("own.txt", os.O_CREAT | os.O_WRONLY)
os.dup2(file, 1)
os.write(1, b"to a file\\n")
os.dup2(1, 2)
with open("/proc/self/fd/0") as nothing:
    assert nothing.read() == ""
os._exit(7)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has /proc")
def test_a_program_may_send_its_output_elsewhere(make_replica: Make, containment_mode: str) -> None:
    replica = make_replica(python_task(TURNED_AWAY), isolation=containment_mode)
    assert replica.supervise()["code"] == 7
    assert replica.api.lines() == ["to the log"]
    assert (replica.home / "work" / "own.txt").read_text() == "to a file\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has /dev/stdout")
def test_output_can_be_opened_by_its_names(make_replica: Make, containment_mode: str) -> None:
    """As shell scripts do it."""
    code = "import os; os.system('echo one > /dev/stdout; echo two > /dev/stderr; echo three >&2')"
    replica = make_replica(python_task(code), isolation=containment_mode)
    assert replica.supervise()["code"] == 0
    assert replica.api.lines() == ["one"]
    assert replica.api.lines("stderr") == ["two", "three"]


ORPHANS = """
import os, sys
for number in range(20):
    if os.fork() == 0:
        os.setsid()
        for line in range(200):
            os.write(1, b"%d %d\\n" % (number, line))
        open(f"done-{number}", "w").close()
        os.execv("/bin/sleep", ["sleep", "600"])
import time
while not all(os.path.exists(f"done-{number}") for number in range(20)):
    time.sleep(0.01)
os._exit(3)
"""


def test_what_orphans_wrote_before_the_end_is_kept(
    make_replica: Make, containment_mode: str
) -> None:
    if containment_mode == "best-effort":
        return  # it lets them live
    replica = make_replica(python_task(ORPHANS), isolation=containment_mode)
    assert replica.supervise()["code"] == 3
    expected = [f"{number} {line}" for number in range(20) for line in range(200)]
    assert sorted(replica.api.lines()) == sorted(expected)


def test_a_program_that_stops_reading_its_own_signals_but_prints_on(make_replica: Make) -> None:
    """Output after SIGTERM, up to the end of the grace period, is kept."""
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"asked\\n"))
os.write(1, b"up\\n")
number = 0
while True:
    time.sleep(0.01)
    os.write(1, b"%d\\n" % number)
    number += 1
"""
    replica = make_replica(python_task(code, stop_grace_s=0.5))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: len(replica.api.lines()) > 5)
    replica.process.terminate()
    assert replica.finish()["kind"] == "STOPPED"
    lines = replica.api.lines()
    lines.remove("asked")
    assert lines == ["up", *map(str, range(len(lines) - 1))]
