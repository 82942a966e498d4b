"""``footplate runtimes``: what is here, building it, removing it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.replica.cache_locks import Leases, open_lock, try_alone
from footplate.testing.service import FOOTPLATE
from tests.cli.runtimes.conftest import Machine
from tests.support.forked_process import ForkedProcess
from tests.support.local_backend import wait_until

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def shape(text: str) -> str:
    """Without what differs from run to run: sizes, paths, keys."""
    words = []
    for word in text.split():
        digits = word.strip(".,;()").replace(".", "")
        words.append("N" if digits.isdigit() else word)
    return " ".join(words)


def test_a_runtime_is_built_once_and_listed(machine: Machine) -> None:
    assert machine.invoke("list", "--built").stderr.startswith("Listed 0 items.\n")
    built = machine.invoke("build", "9.9")
    assert shape(built.stdout) == "Runtime small (Python N is built, N MB."
    assert built.stderr.splitlines()[-1] == "runtime small: 3 of 3 packages"
    again = machine.invoke("build", "tf-cpu.9-9")
    assert again.stdout == built.stdout
    assert again.stderr == ""
    listed = machine.invoke("list", "--built")
    heading, row = listed.stdout.splitlines()
    assert heading.split() == ["RUNTIME", "PYTHON", "SIZE", "LAYERS", "LAST_USE", "BUILT", "IMAGES"]
    assert shape(row) == f"small N N MB - just now whole tf-cpu.9-9.py{PYTHON.replace('.', '')}"
    assert f"{machine.cache} has 1 environment, " in listed.stderr
    assert " of 50.0 GB; " in listed.stderr


def test_a_slice_is_built_where_it_is_asked_for(machine: Machine) -> None:
    machine.invoke("build", "9.9", "--slice=part")
    (row,) = json.loads(machine.invoke("list", "--built", "--format=json").stdout)
    (built,) = row["built"]
    assert (built["slice"], built["inUse"], built["layers"]) == ("part", False, 0)
    assert built["sizeBytes"] > 99_000
    wrong = machine.invoke("build", "9.9", "--slice=huge")
    assert "allowed: full, part, whole" in wrong.stderr


def test_all_runtimes_are_listed_with_their_interpreters(machine: Machine) -> None:
    rows = {row["name"]: row for row in json.loads(machine.invoke("list", "--format=json").stdout)}
    assert rows["small"]["interpreter"] == os.path.realpath(f"{sys.base_prefix}/bin/python3")
    assert rows["ancient"]["interpreter"] is None
    assert {"2.21", "2.11", "1.15"} <= rows.keys()
    table = machine.invoke("list").stdout
    assert "ancient" in table
    assert "2.6 (missing)" in table


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("9.8", "Error: runtime broken can't be installed for Python 3."),
        ("9.7", "Error: Python 2.6, which runtime ancient needs, isn't on this machine"),
        ("7.7", "'7.7' given, which the catalogue doesn't have; allowed: runtime versions "),
        ("tf-cpu.9-1", "which the catalogue doesn't have; allowed: "),
    ],
)
def test_what_cannot_be_built_says_why(machine: Machine, name: str, said: str) -> None:
    result = machine.invoke("build", name)
    assert result.exit_code == 1
    assert said in result.stderr
    assert json.loads(machine.invoke("list", "--built", "--format=json").stdout or "[]") == []


def test_no_gpus_for_what_has_none(machine: Machine) -> None:
    result = machine.invoke("build", "9.9", "--gpu")
    assert result.stderr == "Error: runtime small has no packages for GPUs\n"


def test_prune_removes_what_was_asked_for_and_says_so(machine: Machine) -> None:
    machine.invoke("build", "9.9")
    assert machine.invoke("prune").stdout == "Freed 0 B, 0 environments.\n"
    planned = machine.invoke("prune", "--all", "--dry-run")
    first, last = planned.stdout.splitlines()
    assert first.startswith("runtimes/")
    assert first.endswith("last used just now")
    assert "runtime small" in first
    assert last.startswith("Would free ")
    assert last.endswith(", 1 environment; nothing was removed.")
    assert machine.invoke("prune", "--unused-for=1d").stdout == "Freed 0 B, 0 environments.\n"
    assert machine.invoke("prune", "--keep-below=1GB").stdout == "Freed 0 B, 0 environments.\n"
    assert machine.invoke("prune", "--keep-below=1KB").stdout.splitlines()[0] == first
    assert machine.invoke("prune", "--all").stdout == "Freed 0 B, 0 environments.\n"


def test_prune_keeps_what_is_in_use(machine: Machine) -> None:
    machine.invoke("build", "9.9")
    (marker,) = machine.cache.glob("runtimes/*/complete.json")
    leases = Leases()
    assert leases.take(str(machine.cache), [f"runtimes/{marker.parent.name}"])
    assert machine.invoke("prune", "--all").stdout == "Freed 0 B, 0 environments.\n"
    assert "in use now" in machine.invoke("list", "--built").stdout
    leases.end()
    assert "1 environment" in machine.invoke("prune", "--all").stdout


def test_uv_s_own_cache_is_counted_and_pruned_on_request(machine: Machine) -> None:
    machine.invoke("build", "9.9")
    assert f"{machine.variables['UV_CACHE_DIR']} has " in machine.invoke("list").stderr
    assert "uv's own cache: freed " in machine.invoke("prune", "--uv-cache").stdout


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--unused-for=30", "'30' given; allowed: a number with s, m, h, d or w: 30d"),
        ("--keep-below=20", "'20' given; allowed: a number with B, KB, MB, GB or TB: 20GB"),
    ],
)
def test_amounts_have_units(machine: Machine, option: str, said: str) -> None:
    result = machine.invoke("prune", option)
    assert result.exit_code == 2
    assert said in result.stderr


def start(machine: Machine, *words: str) -> subprocess.Popen[str]:
    return ForkedProcess(
        (*FOOTPLATE, "runtimes", *words),
        env={**os.environ, **machine.variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_several_processes_build_one(machine: Machine) -> None:
    """As two servers do that share a cache."""
    processes = [start(machine, "build", "9.9") for _ in range(4)]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outputs
    assert sum("3 of 3 packages" in errors for _, errors in outputs) == 1
    assert len(list(machine.cache.glob("runtimes/*/complete.json"))) == 1


def test_an_interrupted_build_leaves_nothing(machine: Machine, tmp_path: Path) -> None:
    """uv is a program here that begins, and goes on until it is ended."""
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    fake = tmp_path / "bin" / "uv"
    fake.parent.mkdir()
    fake.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *venv*) for last; do :; done; mkdir "$last"; echo $$ > {begun}; '
        "exec sleep 600;; esac\n"
    )
    fake.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-c", _WITH_UV.format(uv=str(fake))],
        env={**os.environ, **machine.variables},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    building = int(begun.read_text())
    assert len(list(machine.cache.glob("runtimes/*/"))) == 1
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "Interrupted" in errors
    wait_until(lambda: has_ended(building))
    assert [path for path in machine.cache.glob("runtimes/[0-9a-f]*") if path.is_dir()] == []


def has_ended(pid: int) -> bool:
    """Also if nobody has waited for it yet: it is an orphan, which another process reaps."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


_WITH_UV = """
import sys, uv
uv.find_uv_bin = lambda: {uv!r}
from footplate.cli.main import main
main(["runtimes", "build", "9.9"])
"""


def test_the_rest_of_a_build_is_told_from_one_that_goes_on(machine: Machine) -> None:
    half = machine.cache / "runtimes" / ("0" * 32)
    half.mkdir(parents=True)
    (half / "content").write_bytes(bytes(100_000))
    descriptor = open_lock(str(half))
    try:
        assert try_alone(descriptor)
        assert "left over from builds" not in machine.invoke("list").stderr
        assert machine.invoke("prune").stdout == "Freed 0 B, 0 environments.\n"
    finally:
        os.close(descriptor)
    assert "left over from builds" in machine.invoke("list").stderr
    assert "half-built" in machine.invoke("prune").stdout
    assert not half.exists()
