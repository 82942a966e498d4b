"""The stacks of a running program, with the real py-spy."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from footplate.domain.stacks import Process
from footplate.replica.stacks import explain
from footplate.server.local_backend import find_py_spy
from footplate.wire.stacks import decode_dump
from tests.support.supervisor_process import Supervised, command_task, python_task

Make = Callable[..., Supervised]

PROGRAM = """
import multiprocessing, os, threading, time
def wait_in_a_child():
    time.sleep(600)
def wait_in_a_thread():
    time.sleep(600)
def wait():
    time.sleep(600)
if __name__ == "__main__":
    multiprocessing.get_context("fork").Process(target=wait_in_a_child, daemon=True).start()
    threading.Thread(target=wait_in_a_thread, daemon=True).start()
    print(os.getpid(), flush=True)
    wait()
"""
REFUSAL = "Permission Denied: Try running again with elevated permissions"


def start(make_replica: Make, task: dict[str, Any], lines: int = 1, **ticket: Any) -> Supervised:
    replica = make_replica(task, **{"py_spy": str(find_py_spy()), **ticket})
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: len(replica.api.lines()) == lines)
    return replica


TOO_BUSY = ("could not read process", "took longer than")


def ask(replica: Supervised, name: str = "a1") -> dict[str, str]:
    """The answer: asked for until the machine lets py-spy read all within its few seconds."""
    for number in count():
        asked = f"{name}n{number}"
        replica.api.control_request({"id": asked, "kind": "stacks"})
        replica.api.wait_for(lambda asked=asked: asked in replica.api.answers)  # type: ignore[misc]  # bound on purpose
        answer: dict[str, str] = replica.api.answers[asked]
        if not any(words in text for words in TOO_BUSY for text in answer.values()):
            return answer
    raise AssertionError


def functions(process: Process, thread: int = 0) -> list[str]:
    return [frame.function for frame in process.threads[thread].frames]


def read_settled(replica: Supervised) -> tuple[Process, Process]:
    """PROGRAM and its child, once all of their threads have come to where they stay."""
    for number in count():
        answer = ask(replica, f"settling{number}")
        found = decode_dump(answer["text"]).processes if "text" in answer else ()
        if len(found) == 2 and all(map(waits, found)):
            return found[0], found[1]
    raise AssertionError


def waits(process: Process) -> bool:
    """Whether its first and its last thread have come to where they stay."""
    ends = (process.threads[0], process.threads[-1]) if process.threads else ()
    names = [frame.function for thread in ends for frame in thread.frames[:1]]
    return len(names) == 2 and all(name.startswith("wait") for name in names)


def test_py_spy_takes_only_so_much_memory(make_replica: Make, tmp_path: Path) -> None:
    tool = tmp_path / "hungry"
    tool.write_text(f"#!{sys.executable}\nbytearray(1 << 30)\nprint([])\n")
    tool.chmod(0o755)
    replica = start(make_replica, python_task(PROGRAM), py_spy=str(tool))
    assert ask(replica)["error"].startswith("py-spy failed")


def test_the_program_and_its_children_on_every_containment_mode(
    make_replica: Make, containment_mode: str
) -> None:
    replica = start(make_replica, python_task(PROGRAM), isolation=containment_mode)
    program, child = read_settled(replica)

    assert (program.program, child.program) == (True, False)
    assert functions(program) == ["wait", "<module>"]
    assert functions(program, 1)[0] == "wait_in_a_thread"
    assert functions(child)[0] == "wait_in_a_child"
    assert [(frame.file, frame.line) for frame in program.threads[0].frames] == [
        ("<string>", 8),
        ("<string>", 13),
    ]
    assert not program.stopped


def test_one_that_is_stopped_by_a_signal_is_read_and_stays_stopped(make_replica: Make) -> None:
    replica = start(make_replica, python_task(PROGRAM), isolation="best-effort")
    read_settled(replica)
    os.kill(int(replica.api.lines()[0]), signal.SIGSTOP)
    for name in ("a1", "a2"):
        program, child = decode_dump(ask(replica, name)["text"]).processes
        assert (functions(program), program.stopped) == (["wait", "<module>"], True)
        assert (functions(child)[0], child.stopped) == ("wait_in_a_child", False)


def test_a_program_that_is_not_python_has_no_stacks(make_replica: Make) -> None:
    replica = start(make_replica, command_task(["/bin/sh", "-c", "echo up; sleep 600"]))
    assert ask(replica) == {"error": "the replica's program has no Python process"}


def test_many_threads_and_deep_stacks_are_cut_to_what_can_be_answered(
    make_replica: Make,
) -> None:
    code = """
import threading, time
def very_long_name_of_a_function_that_calls_itself_over_and_over_again(depth):
    if depth:
        very_long_name_of_a_function_that_calls_itself_over_and_over_again(depth - 1)
    time.sleep(600)
for _ in range(70):
    threading.Thread(
        target=very_long_name_of_a_function_that_calls_itself_over_and_over_again,
        args=(300,), daemon=True,
    ).start()
print("up", flush=True)
very_long_name_of_a_function_that_calls_itself_over_and_over_again(300)
"""
    replica = start(make_replica, python_task(code))
    text = ask(replica)["text"]
    (program,) = decode_dump(text).processes
    assert len(text) < 3 << 20
    assert program.threads[0].name == "MainThread"
    assert program.threads[0].frames[0].line == 6
    assert len(program.threads[0].frames) + program.threads[0].omitted == 302


def test_where_it_is_not_permitted_it_says_what_to_do(make_replica: Make, tmp_path: Path) -> None:
    tool = tmp_path / "refused"
    tool.write_text(f"#!/bin/sh\necho '{REFUSAL}' >&2\nexit 1\n")
    tool.chmod(0o755)
    error = ask(start(make_replica, python_task(PROGRAM), py_spy=str(tool)))["error"]
    assert error.startswith("the system doesn't let the service read the memory of the program")
    assert "CAP_SYS_PTRACE" in error


def test_what_the_kernel_setting_forbids_is_named() -> None:
    assert explain(REFUSAL, 1) == (
        "the system doesn't let the service read the memory of the program: "
        "kernel.yama.ptrace_scope is 1 on the replica's machine; run the service with "
        "CAP_SYS_PTRACE or as root, or set that to 0 (sysctl kernel.yama.ptrace_scope=0)"
    )
    assert explain("Error: Failed to find python version\n\nStack backtrace:\n 0: x\n", 1) == (
        "py-spy failed: Failed to find python version"
    )
    assert explain("", 0) == "py-spy failed: it said nothing"


def test_the_tool_is_found_as_a_program() -> None:
    tool = find_py_spy()
    assert tool is not None
    assert os.access(tool, os.X_OK)


def test_a_tool_that_is_killed_leaves_no_program_stopped(
    make_replica: Make, tmp_path: Path
) -> None:
    """The real tool would hold its processes, and its death in that moment leave them so."""
    tool = tmp_path / "killed"
    log = tmp_path / "log"
    tool.write_text(f'#!/bin/sh\necho "$@" >> {log}\nkill -9 $$\n')
    tool.chmod(0o755)
    error = ask(
        start(make_replica, python_task("import time; print(1); time.sleep(600)"), py_spy=str(tool))
    )
    assert error == {"error": "py-spy failed: it said nothing"}
    assert all("--nonblocking" in line for line in log.read_text().splitlines())
