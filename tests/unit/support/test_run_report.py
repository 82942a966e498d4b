"""What a whole run shows, in runs of pytest of their own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from tests.support import ROOT, run_report
from tests.support.requirements import find_absent, read_packages
from tests.support.run_report import LAST, RunReport, describe_skips

PLUGIN = """
import pytest
from tests.support import run_report

run_report.INTERVAL_S = 0.0
run_report.MAX_LOAD = 1000
run_report.SHORT_S = 0.0
run_report.record = lambda seconds: print("recorded", sorted(seconds))


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        config.pluginmanager.register(run_report.RunReport(terminal, "Long tests: none."))
"""
TESTS = """
import pytest


def test_passes(): pass
def test_fails(): assert False
def test_skips(): pytest.skip("needs Chromium:   apt-get install chromium")
@pytest.mark.xfail(strict=True)
def test_is_known(): assert False
"""


def run(folder: Path, *words: str) -> str:
    (folder / "conftest.py").write_text(PLUGIN)
    (folder / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:footplate", *words),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_a_run_of_several_workers_shows_progress_and_causes(tmp_path: Path) -> None:
    shown = run(tmp_path, "-n", "2")

    assert "of 4 tests" in shown
    assert "4 of 4 tests, 1 failed, about 0:00 left" in shown
    assert shown.index("FAILED test_it.py::test_fails") < shown.index("The slowest:")
    assert "Skipped: 1 test needs Chromium: apt-get install chromium" in shown
    assert "Long tests: none." in shown
    assert "1 failed, 1 passed, 1 skipped, 1 xfailed" in shown
    names = ("test_fails", "test_is_known", "test_passes", "test_skips")
    assert f"recorded {[f'test_it.py::{name}' for name in names]}" in shown


def test_a_run_by_hand_is_shown_as_pytest_shows_it(tmp_path: Path) -> None:
    shown = run(tmp_path)

    assert "test_it.py .Fsx" in shown
    assert "of 4 tests" not in shown


def test_the_commonest_cause_comes_first() -> None:
    lines = list(describe_skips({"is about Linux": 1, "needs Slurm: apt-get install munge": 61}))

    assert lines == [
        "Skipped: 61 tests need Slurm: apt-get install munge",
        "Skipped: 1 test: is about Linux",
    ]


def test_packages_are_found_by_a_command_or_a_path(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    known = {"a": ("no-such-command", "python3"), "b": (f"{tmp_path}/th*",), "c": ("no-such",)}

    assert find_absent(known, ("a", "b", "c")) == ["c"]


def test_each_package_of_the_list_says_how_it_is_found() -> None:
    assert len(read_packages()) > 20
    assert all(read_packages().values())


@pytest.mark.parametrize("package", ["postgresql", "slurm-wlm", "chromium", "podman", "g++"])
def test_the_list_has_what_tests_ask_for(package: str) -> None:
    assert package in read_packages()


def test_the_end_of_what_a_worker_shared_is_no_time_of_its_last_test(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    recorded: dict[str, float] = {}
    monkeypatch.setattr(run_report, "record", recorded.update)
    monkeypatch.setattr(run_report, "MAX_LOAD", 1000)
    terminal = TerminalReporter(request.config, io.StringIO())
    report = RunReport(terminal, "")
    for name, properties in (("test_last", [(LAST, True)]), ("test_other", [])):
        for when, seconds in (("setup", 1.0), ("call", 2.0), ("teardown", 30.0)):
            done = pytest.TestReport(
                f"a.py::{name}",
                ("a.py", 1, name),
                {},
                "passed",
                None,
                when,  # type: ignore[arg-type]  # a word of three
                user_properties=properties,
                duration=seconds,
            )
            report.pytest_runtest_logreport(done)
    report.pytest_terminal_summary()
    assert recorded == {"a.py::test_last": 3.0, "a.py::test_other": 33.0}
