"""A hostile program gets nothing, on any containment mode of isolation, from a service that
root runs.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from footplate.replica.isolation import mode_selection
from footplate.replica.supervisor_archive import build_archive
from tests.hostile import program
from tests.support.supervisor_process import Supervised, command_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Attack = Callable[..., tuple[Supervised, dict[str, str]]]

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="is about what root starts"
    ),
]
USERS = [1879048192, 2147352575]
PROVEN = frozenset(
    (
        *("write_into_system_directories", "be_root", "have_capabilities", "gain_privileges"),
        *("change_groups", "read_the_shadow", "set_the_core_pattern", "write_the_home_of_root"),
    )
)
"""What the program gets wherever it is root: these attempts work."""
NEEDS_VIEW = frozenset({"read_the_secrets", "list_the_service", "write_the_records_of_buckets"})


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture
def attack(tmp_path: Path, archive: Path) -> Iterator[Attack]:
    made: list[Supervised] = []

    def run(**ticket: Any) -> tuple[Supervised, dict[str, str]]:
        task = command_task(["/bin/true"])
        data = tmp_path / "service"
        ticket = {"private": [str(data)], "program_users": USERS, **ticket}
        replica = Supervised(data, task, archive=archive, **ticket)
        made.append(replica)
        task["program"]["argv"] = [sys.executable, "-c", SOURCE, json.dumps(make_facts(replica))]
        replica.api.task.update(task)
        end = replica.supervise()
        if end["kind"] == "UNPREPARED":
            pytest.skip(end["cause"])
        assert end["code"] == 0, replica.api.lines("stderr")
        return replica, json.loads(replica.api.lines()[0])

    yield run
    for replica in made:
        replica.close()


SOURCE = Path(program.__file__).read_text(encoding="utf-8")


def make_facts(replica: Supervised) -> dict[str, Any]:
    data = replica.directory
    secrets = [data / "secret", data / "footplate.db", data / "other" / "work" / "model"]
    for path in secrets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    (data / "logs").mkdir()
    (data / "buckets" / ".footplate").mkdir()
    return {
        "data": str(data),
        "secrets": [str(path) for path in (*secrets, replica.home / "ticket.json")],
        "environment": sys.prefix,
        "buckets": str(data / "buckets"),
    }


@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_a_program_gets_nothing(attack: Attack, containment_mode: str) -> None:
    replica, got = attack(isolation=containment_mode)
    said = " ".join(replica.api.events("ISOLATION"))
    assert "the program runs as user" in said
    assert "runs as root" not in said
    expected = set() if "aren't hidden" not in said else NEEDS_VIEW
    assert set(got) == set(program.ATTEMPTS)
    assert {name for name, what in got.items() if what} <= expected, got


def test_the_same_program_succeeds_as_root(attack: Attack) -> None:
    """Else the other test would prove nothing."""
    replica, got = attack(allow_root=["p"])
    assert "the program runs as root, as the setting allow_root says" in " ".join(
        replica.api.events("ISOLATION")
    )
    assert {name for name, what in got.items() if what} >= PROVEN, got
