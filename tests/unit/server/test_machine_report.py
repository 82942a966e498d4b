"""What a server says of its machine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from footplate.domain.sites import Mode
from footplate.replica.cache_locks import MARKER
from footplate.server.machine_report import MachineReport, describe_enforcement
from footplate.settings import EVERY_PROJECT, Settings

LIMITED = {"containment_mode": "cgroup", "faults": {"memory": "", "CPU": "no controller"}}
RESOURCES = ("memory", "CPU", "processes", "disk")


def texts(settings: Settings, answer: Mapping[str, object]) -> dict[str, tuple[bool, str]]:
    found = describe_enforcement(settings, None, answer)
    return {each.subject: (each.enforced, each.text) for each in found}


def test_nothing_is_limited_in_emulate_mode(tmp_path: Path) -> None:
    found = texts(Settings(tmp_path), LIMITED)
    assert {subject: found[subject][0] for subject in RESOURCES} == dict.fromkeys(RESOURCES, False)
    assert "setting limits" in found["memory"][1]
    assert found["isolation"][0]
    assert found["isolation"][1].startswith("cgroup: the kernel kills")
    assert found["network"] == (
        False,
        "programs use this machine's network; each replica has its own port",
    )


@pytest.mark.parametrize("settings", [{"mode": Mode.ENFORCE}, {"limits": "on"}])
def test_what_is_limited_and_why_not_the_rest(tmp_path: Path, settings: dict[str, str]) -> None:
    found = texts(Settings(tmp_path, **settings), LIMITED)  # type: ignore[arg-type]  # each is of its own type
    assert found["memory"] == (
        True,
        "control groups hold each replica to the memory of its machine type",
    )
    assert found["CPU"] == (
        False,
        "the server measures this without limiting it: no controller",
    )
    assert found["processes"] == (
        False,
        "the server measures this without limiting it: the check failed",
    )
    assert found["disk"][0]


def test_a_machine_that_could_not_be_tried_enforces_nothing(tmp_path: Path) -> None:
    found = texts(Settings(tmp_path, limits="on"), {})
    assert not any(found[subject][0] for subject in ("memory", "CPU", "processes", "isolation"))


@pytest.mark.parametrize(
    ("users", "root", "expected"),
    [
        (None, (), (False, "programs run as the user of the service")),
        ([5, 9], (), (True, "each start of a replica has its own user id")),
        ([5, 5, "ml"], (), (True, "programs run as the user ml")),
        (
            [5, 5, "ml"],
            ("ads", "x"),
            (
                True,
                (
                    "programs run as the user ml; programs of ads, x run as root (setting "
                    "allow_root)"
                ),
            ),
        ),
        ([5, 9], (EVERY_PROJECT,), (False, "programs run as root (setting allow_root)")),
    ],
)
def test_whom_programs_run_as(
    tmp_path: Path,
    users: list[int | str] | None,
    root: tuple[str, ...],
    expected: tuple[bool, str],
) -> None:
    settings = Settings(tmp_path, allow_root=root)
    found = {each.subject: each for each in describe_enforcement(settings, users, LIMITED)}
    assert (found["users"].enforced, found["users"].text) == expected


def test_the_machine_is_tried_once(tmp_path: Path) -> None:
    asked: list[Settings] = []

    def probe(settings: Settings) -> Mapping[str, object]:
        asked.append(settings)
        return LIMITED

    report = MachineReport(Settings(tmp_path), probe)
    assert report.limits() == report.limits()
    assert len(asked) == 1


def write_environment(cache: Path, name: str, used_at: float, record: dict[str, object]) -> None:
    folder = cache / name
    folder.mkdir(parents=True)
    (folder / MARKER).write_text(json.dumps({"path": str(folder.resolve()), **record}))
    lock = folder.with_name(f"{folder.name}.lock")
    lock.touch()
    os.utime(lock, (used_at, used_at))


def test_environments_are_listed_last_used_first(tmp_path: Path) -> None:
    report = MachineReport(Settings(tmp_path, cache_limit_gb=3))
    assert report.cache().environments == ()
    cache = tmp_path / "cache"
    base = {"runtime": "2.11", "slice": "core", "python": "3.10.4", "bytes": 5_000_000}
    write_environment(cache, f"runtimes/{'a' * 32}", 1000.0, base)
    layer = {"runtime": "2.11", "packages": ["trainer"], "bytes": 7}
    write_environment(cache, f"layers/{'b' * 32}", 2000.0, layer)
    (cache / "layers" / ("c" * 32)).mkdir()  # being built, or given up
    found = report.cache()
    assert (found.path, found.limit_bytes) == (str(cache), 3 * 10**9)
    assert found.free_bytes > 0
    unfinished, packages, runtime = found.environments
    assert (unfinished.complete, unfinished.runtime) == (False, "")
    assert (packages.kind, packages.packages, packages.size_bytes) == ("layers", ("trainer",), 7)
    assert (runtime.slice, runtime.python, runtime.last_use_time.timestamp()) == (
        "core",
        "3.10.4",
        1000.0,
    )
    assert (runtime.in_use, runtime.kept) == (False, False)
