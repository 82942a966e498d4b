"""The command ``stacks``: collects stack traces of the program's Python processes.

py-spy reads that out of their memory while they go on. It could hold them for that, but if it
died in that moment (it may take too long, and is killed then) they would stay stopped. Reading what
changes meanwhile fails now and then; then it is tried again.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from contextlib import suppress

from footplate.protocol.control_requests import ControlResponse
from footplate.protocol.stacks import FrameDump, ProcessDump, ReplicaDump, ThreadDump
from footplate.replica.control_answers import answer, begin
from footplate.replica.isolation.process_tree import find_members
from footplate.replica.workdir import Home

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

    from footplate.replica.isolation.procfs import Process

MOST_PROCESSES = 32
BOUNDS = ((64, 100), (8, 60), (1, 30))
"""Threads of a process, and frames of a thread, the innermost ones: less where it is too much."""
MOST_BYTES = 3 << 20
"""The limit of the answer."""
LIMIT_S = 8.0
"""The limit for all processes together."""
_DUMP_LIMIT_S = 3.0
_ATTEMPTS = 3
_DUMP_LIMIT_BYTES = 8 << 20
_DUMP_MEMORY_BYTES = 256 << 20
"""What py-spy may take. A program with many deep threads and long names would have it take a
gigabyte in these seconds."""
_ERROR = "Error: "
_TEXT_LENGTH = 300
_YAMA = "/proc/sys/kernel/yama/ptrace_scope"
_NO_PYTHON = "the replica's program has no Python process"


class Unreadable(Exception):
    """Error of stacks that can't be read; the message says why, and what to do."""


def main(path: str, control_request: str) -> int:
    begin()
    home = Home(path)
    try:
        response = ControlResponse(text=fit(_collect(home)))
    except Unreadable as error:
        response = ControlResponse(error=str(error))
    return answer(home, control_request, response)


def _collect(home: Home) -> ReplicaDump:
    """Returns the stacks of all processes of a replica. Raises Unreadable."""
    tool = home.read_ticket().py_spy
    if not os.access(tool, os.X_OK):
        raise Unreadable(
            "py-spy, which reads stacks, is not installed with the service: "
            "run `pip install py-spy` with the service's Python, and start the job again"
        )
    members = find_members(home.read_isolation())
    found = [process for process in members if is_python(process.pid)]
    if not found:
        raise Unreadable(_NO_PYTHON)
    end = time.monotonic() + LIMIT_S
    read = [_read(tool, process, members[0], end) for process in found[:MOST_PROCESSES]]
    faults = [each.error for each in read if each.error]
    if len(faults) == len(read):
        raise Unreadable(faults[0])
    return ReplicaDump(tuple(read), max(0, len(found) - MOST_PROCESSES))


def fit(dump: ReplicaDump) -> str:
    """Returns the stacks as JSON, with as many threads and frames as fit into the limit."""
    text = ""
    for threads, frames in BOUNDS:
        processes = tuple(_bound(each, threads, frames) for each in dump.processes)
        text = json.dumps(ReplicaDump(processes, dump.omitted).encode())
        if len(text) <= MOST_BYTES:
            break
    return text


def _bound(process: ProcessDump, threads: int, frames: int) -> ProcessDump:
    kept = (
        ThreadDump(each.name, each.frames[:frames], max(0, len(each.frames) - frames))
        for each in process.threads[:threads]
    )
    return ProcessDump(**{**vars(process), "threads": tuple(kept)})


def is_python(pid: int) -> bool:
    """Returns whether the process runs Python, by the files mapped into it, or else by its command
    line.
    """
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            return any(b"python" in line.rpartition(b"/")[2] for line in file)
    except OSError:  # its name has to do
        return "python" in os.path.basename(_command(pid).partition(" ")[0])


def _read(tool: str, process: Process, program: Process, end: float) -> ProcessDump:
    """Returns the threads of one process, or an ``error``."""
    dump = ProcessDump(
        process.pid,
        _command(process.pid)[:_TEXT_LENGTH],
        program=process.pid == program.pid,
        stopped=_is_stopped(process.pid),
    )
    try:
        threads = _dump(tool, process.pid, end)
    except Unreadable as error:
        dump.error = str(error)
    else:
        dump.threads = tuple(map(_shorten, _main_first(threads, process.pid)))
    return dump


def _main_first(threads: list[Any], pid: int) -> list[Mapping[str, Any]]:
    """Returns the threads with the main thread first; without the module threading no thread has a
    name.
    """
    found = [thread for thread in threads if isinstance(thread, dict)]

    def rank(thread: Mapping[str, Any]) -> int:
        if thread.get("thread_name") == "MainThread":
            return 0
        return 1 if thread.get("os_thread_id") == pid else 2

    found.reverse()  # as they were started
    return sorted(found, key=rank)


def _dump(tool: str, pid: int, end: float) -> list[Any]:
    """Returns the threads of a process, as py-spy prints them. Raises Unreadable."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(Unreadable):
            return _dump_once(tool, pid, end)
    return _dump_once(tool, pid, end)


def _dump_once(tool: str, pid: int, end: float) -> list[Any]:
    """Runs py-spy once and returns the threads. Raises Unreadable."""
    limit_s = min(_DUMP_LIMIT_S, end - time.monotonic())
    if limit_s <= 0:
        raise Unreadable(
            f"reading the stacks of the replica's processes took longer than {LIMIT_S:g} s"
        )
    try:
        done = subprocess.run(
            [tool, "dump", "--json", "--nonblocking", "--pid", str(pid)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
            check=False,
            preexec_fn=_limit_memory,
        )
        if done.returncode or len(done.stdout) > _DUMP_LIMIT_BYTES:
            raise Unreadable(explain(done.stderr.decode("utf-8", "replace"), _read_yama()))
        value = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise Unreadable(f"py-spy could not read process {pid} in time") from None
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"py-spy failed: {error}") from error
    if not isinstance(value, list):
        raise Unreadable("py-spy returned something other than threads")
    return value


def _limit_memory() -> None:
    """Limits the memory of py-spy, which keeps all that it reads, and is outside the program's
    limits.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (_DUMP_MEMORY_BYTES, _DUMP_MEMORY_BYTES))


def explain(words: str, yama: int) -> str:
    """Returns py-spy's last words as a sentence, and what to do about the fault."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    first = lines[0] if lines else "it said nothing"
    first = first[len(_ERROR) :] if first.startswith(_ERROR) else first
    if not any(mark in words for mark in ("Permission", "permission", "EPERM")):
        return f"py-spy failed: {first[:_TEXT_LENGTH]}"
    reason = "the system doesn't let the service read the memory of the program"
    if yama:
        return (
            f"{reason}: kernel.yama.ptrace_scope is {yama} on the replica's machine; "
            "run the service with CAP_SYS_PTRACE or as root, or set that to 0 "
            "(sysctl kernel.yama.ptrace_scope=0)"
        )
    return f"{reason}; run the service with CAP_SYS_PTRACE, or as root"


def _shorten(thread: Mapping[str, Any]) -> ThreadDump:
    given = thread.get("frames")
    frames = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    name = str(thread.get("thread_name") or "")[:_TEXT_LENGTH]
    return ThreadDump(name, tuple(map(_shorten_frame, frames)))


def _shorten_frame(frame: Mapping[str, Any]) -> FrameDump:
    function, file, line = frame.get("name"), frame.get("filename"), frame.get("line")
    number = line if type(line) is int else 0
    return FrameDump(str(function)[:_TEXT_LENGTH], str(file)[-_TEXT_LENGTH:], number)


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(4096).replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:  # a name is missing
        return ""


def _is_stopped(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read(4096).rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):  # py-spy reports it
        return False


def _read_yama() -> int:
    """Returns the level of the kernel module Yama; 0 also if there is none."""
    try:
        with open(_YAMA, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):  # py-spy reports it
        return 0
