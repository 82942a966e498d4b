"""Runs the administrator's command that makes sure that nothing runs on a node."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

log = logging.getLogger(__name__)

LIMIT_S = 60.0
RETRY_S = 60.0
MAX_AT_ONCE = 8
_END_S = 1.0
"""How long the end of a killed run may take when the server ends."""
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,252}")
"""Names that no program takes for an option or for a path."""
_MAX_SAID_BYTES = 2000


@dataclass
class _Run:
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    began_s: float


class FenceCommand:
    """Runs ``command`` with the name of a node as its last argument, by no shell.

    Exit status 0 means that nothing runs on the node any more. A run that fails, or that takes
    longer than ``LIMIT_S`` and is killed, proves nothing, and is repeated after ``RETRY_S``. No
    method waits for a run.
    """

    def __init__(self, command: Sequence[str], monotonic: Callable[[], float]) -> None:
        self._command = tuple(command)
        self._monotonic = monotonic
        self._runs: dict[str, _Run] = {}
        self._killed: dict[str, subprocess.Popen[bytes]] = {}
        """What was killed and has not ended yet: no second one runs for its node."""
        self._again_s: dict[str, float] = {}
        self._fenced_s: dict[str, float] = {}

    def start(self, node: str) -> None:
        """Starts a run for the node, unless one is going on or failed a moment ago."""
        now_s = self._monotonic()
        if node in self._runs or node in self._killed or now_s < self._again_s.get(node, now_s):
            return
        if len(self._runs) >= MAX_AT_ONCE:
            return
        self._again_s[node] = now_s + RETRY_S
        if _NODE.fullmatch(node) is None:
            log.warning("the node's name %r can't be given to the fence command", node[:100])
            return
        output = tempfile.TemporaryFile()  # noqa: SIM115  closed when the run ends
        try:
            process = subprocess.Popen(
                (*self._command, node),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            log.warning("the fence command %s can't be run: %s", self._command[0], error.strerror)
            return
        log.warning("the fence command runs for node %s, whose launcher is silent", node)
        self._runs[node] = _Run(process, output, now_s)

    def fenced_after(self, node: str, silent_s: float) -> bool:
        """Returns whether a run succeeded that began when the launcher was already silent, which
        it has been for ``silent_s`` until now.
        """
        began_s = self._fenced_s.get(node)
        return began_s is not None and began_s > self._monotonic() - silent_s

    @property
    def is_running(self) -> bool:
        return bool(self._runs)

    def collect(self) -> None:
        """Notes the results of runs that have ended, and kills those that take too long."""
        self._killed = {n: each for n, each in self._killed.items() if each.poll() is None}
        for node, run in tuple(self._runs.items()):
            status = run.process.poll()
            if status is None and self._monotonic() - run.began_s < LIMIT_S:
                continue
            del self._runs[node]
            self._again_s[node] = self._monotonic() + RETRY_S
            if status == 0:
                log.warning("the fence command has fenced node %s", node)
                self._fenced_s[node] = run.began_s
            elif status is None:
                self._kill(node, run)
                log.warning("the fence command for node %s was killed after %.0f s", node, LIMIT_S)
            else:
                said = _read_end(run.output)
                log.warning("the fence command for node %s ended with %d: %s", node, status, said)
            run.output.close()

    def close(self) -> None:
        """Kills the runs that are going on, and waits a moment for their ends."""
        for node, run in self._runs.items():
            self._kill(node, run)
            run.output.close()
        self._runs.clear()
        for process in self._killed.values():
            _send_kill(process)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)

    def _kill(self, node: str, run: _Run) -> None:
        # What waits for a device outlives the signal: nobody may wait for its end.
        _send_kill(run.process)
        self._killed[node] = run.process


def _send_kill(process: subprocess.Popen[bytes]) -> None:
    # What sudo runs isn't this user's to kill.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _read_end(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _MAX_SAID_BYTES))
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")
