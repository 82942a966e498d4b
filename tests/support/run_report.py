"""What a whole run of the tests shows: progress, what was slow, skipped, left out, and why."""

from __future__ import annotations

import os
import re
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.support.durations import SHORT_S, load, plain_name, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _pytest.terminal import TerminalReporter

LAST = "last test of the worker"
"""The user property of a test in whose teardown all ends that the worker's tests shared."""
INTERVAL_S = 15.0
SLOWEST = 10
MAX_LOAD = 4
"""By core; what tests take on a machine that is busy with other things says nothing of them."""
_UNMEASURED_S = 0.1
"""About what a test takes that isn't among the committed ones."""


class RunReport:
    """A plugin of the process that collects the results.

    ``shares`` is the sentence on the long tests. Passed tests are counted, not printed.
    """

    def __init__(self, terminal: TerminalReporter, shares: str) -> None:
        self._terminal = terminal
        self._shares = shares
        self._committed = load()
        self._started_s = self._shown_s = time.monotonic()
        self._names: frozenset[str] = frozenset()
        self._weight = self._done_weight = 0.0
        self._done = self._failed = 0
        self._seconds: dict[str, float] = defaultdict(float)
        self._skipped: Counter[str] = Counter()
        self._inputs: dict[str, object] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        if not self._names:
            self._names = frozenset(map(plain_name, ids))
            self._weight = sum(map(self._weigh, self._names))
            self._started_s = self._shown_s = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = plain_name(report.nodeid)
        if report.when != "teardown" or (LAST, True) not in report.user_properties:
            self._seconds[name] += report.duration
        if report.when == "call" and (inputs := dict(report.user_properties).get("inputs")):
            self._inputs[name] = inputs
        if report.skipped and not hasattr(report, "wasxfail"):
            self._skipped[_reason_of(report)] += 1
        if report.failed:
            self._failed += 1
            self._show(f"FAILED {name}")
        if report.when == "teardown":
            self._done += 1
            self._done_weight += self._weigh(name)
            self._show_progress()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter for each test, where thousands run."""
        if not self._names or hasattr(report, "wasxfail"):
            return None
        if report.passed:
            return ("passed" if report.when == "call" else "", "", "")
        if report.skipped:
            return "skipped", "", ""
        return "failed" if report.when == "call" else "error", "", ""

    def pytest_terminal_summary(self) -> None:
        if os.getloadavg()[0] <= MAX_LOAD * (os.cpu_count() or 1):
            record({n: s for n, s in self._seconds.items() if s >= SHORT_S or n in self._committed})
        write = self._terminal.write_line
        slowest = sorted(self._seconds, key=lambda name: -self._seconds[name])[:SLOWEST]
        if self._names:
            write("\nThe slowest:")
            for name in slowest:
                write(f"{self._seconds[name]:7.1f} s  {name}")
        for name, inputs in sorted(self._inputs.items()):
            write(f"{inputs:9} inputs  {name}")
        for line in describe_skips(self._skipped):
            write(line)
        write(self._shares)

    def _show_progress(self) -> None:
        now_s = time.monotonic()
        if not self._names or now_s - self._shown_s < INTERVAL_S:
            return
        self._shown_s = now_s
        self._show(self._describe_progress(now_s - self._started_s))

    def _show(self, line: str) -> None:
        """Print a line where no letters are printed."""
        if self._names:
            self._terminal.ensure_newline()
            self._terminal.write_line(line)

    def _describe_progress(self, elapsed_s: float) -> str:
        line = f"[{_clock(elapsed_s)}] {self._done:,} of {len(self._names):,} tests"
        if self._failed:
            line += f", {self._failed} failed"
        if self._done_weight:
            left_s = elapsed_s * (self._weight - self._done_weight) / self._done_weight
            line += f", about {_clock(left_s)} left"
        return line

    def _weigh(self, name: str) -> float:
        return self._committed.get(name, _UNMEASURED_S)


def describe_skips(skipped: Mapping[str, int]) -> Iterable[str]:
    """Return a line for each cause, the commonest first."""
    for reason, count in sorted(skipped.items(), key=lambda item: (-item[1], item[0])):
        tests = "1 test" if count == 1 else f"{count} tests"
        if reason.startswith("needs "):
            verb = "needs" if count == 1 else "need"
            yield f"Skipped: {tests} {verb} {reason.removeprefix('needs ')}"
        else:
            yield f"Skipped: {tests}: {reason}"


def _reason_of(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return re.sub(r"\s+", " ", text.removeprefix("Skipped: ")).strip()[:200]


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
