"""A hostile program gets nothing, on any level of isolation, for services of root and of ordinary
users; or the ``ISOLATION`` event says that it may.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.replica.isolation import levels, mode_selection
from tests.hostile import program, shared_files
from tests.hostile.conftest import NOBODY, USERS, needs_root, skip_if_unprepared
from tests.support.supervisor_process import Supervised, command_task

Attack = Callable[..., tuple[Supervised, dict[str, str]]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="is about Linux")
PROVEN = frozenset(
    (
        *("write_into_system_directories", "be_root", "have_capabilities", "gain_privileges"),
        *("change_groups", "read_the_shadow", "set_the_core_pattern", "write_the_home_of_root"),
    )
)
"""What the program gets wherever it is root: these attempts work."""
NEEDS_VIEW = frozenset(
    (
        *("read_the_secrets", "list_the_service", "write_the_records_of_buckets"),
        *("read_what_all_may_read", "find_shared_memory", "link_to_secrets"),
    )
)
NEEDS_PROCESS_NAMESPACE = frozenset({"see_command_lines"})
NEEDS_OWN_USER = frozenset(
    (
        *("read_environments", "look_through_proc", "use_descriptors_of_others", "read_memory"),
        *("trace_a_process", "signal_a_process"),
    )
)
"""What it gets of other processes of its user, where it sees them."""


@pytest.fixture
def shared() -> Iterator[list[str]]:
    with shared_files.planted() as files:
        yield files


@pytest.fixture
def attack(tmp_path: Path, archive: Path, shared: list[str]) -> Iterator[Attack]:
    """The service's data directory is ``directory``, else one of the test."""
    made: list[Supervised] = []

    def run(
        directory: Path = tmp_path / "service", python: str = sys.executable, **options: Any
    ) -> tuple[Supervised, dict[str, str]]:
        task = command_task(["/bin/true"], metrics=["secret"])
        options = {"private": [str(directory)], "archive": archive, **options}
        replica = Supervised(directory, task, python=python, **options)
        made.append(replica)
        facts = {**make_facts(replica), "shared": shared, "alone": "program_users" in options}
        task["program"]["argv"] = [python, "-c", SOURCE, json.dumps(facts)]
        replica.api.task.update(task)
        end = replica.supervise()
        skip_if_unprepared(end, options)
        assert end["code"] == 0, replica.api.lines("stderr")
        assert not [record for record in replica.api.records if "secret" in record.get("tag", "")]
        assert (directory / "secret").read_text() == SECRET
        return replica, json.loads(replica.api.lines()[0])

    yield run
    for replica in made:
        replica.close()


SECRET = '{"timestamp": 1.0, "trial": "0", "secret": "0.5", "global_step": "1"}\n'
"""It would be a measurement, if a link to it were followed."""
SOURCE = Path(program.__file__).read_text(encoding="utf-8")


def make_facts(replica: Supervised) -> dict[str, Any]:
    data = replica.directory
    hidden = [data / "secret", data / "footplate.db", data / "other" / "work" / "model"]
    for path in hidden:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
    (data / "logs").mkdir()
    (data / "buckets" / ".footplate").mkdir()
    return {
        "data": str(data),
        "secrets": [str(path) for path in (*hidden, replica.home / "ticket.json")],
        "environment": sys.prefix,
        "buckets": str(data / "buckets"),
    }


def check(replica: Supervised, got: dict[str, str], *, alone: bool) -> None:
    """It got nothing but what the events say that it may get."""
    said = " ".join(replica.api.events("ISOLATION"))
    assert "runs as root" not in said
    expected: set[str] = set()
    if levels.HOST_VIEW.missing in said:
        expected |= NEEDS_VIEW
    if "the program sees" in said.replace(levels.SEES_OWN, ""):
        expected |= NEEDS_PROCESS_NAMESPACE if alone else NEEDS_PROCESS_NAMESPACE | NEEDS_OWN_USER
    assert set(got) == set(program.ATTEMPTS)
    assert {name for name, what in got.items() if what} <= expected, (said, got)


@needs_root
@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_a_program_gets_nothing(attack: Attack, containment_mode: str) -> None:
    replica, got = attack(isolation=containment_mode, program_users=USERS)
    said = " ".join(replica.api.events("ISOLATION"))
    assert "the program runs as user" in said
    check(replica, got, alone=True)
    assert replica.api.lines("stderr") == []


@needs_root
def test_a_program_of_a_named_user_gets_nothing(attack: Attack) -> None:
    replica, got = attack(isolation="auto", program_users=[NOBODY, NOBODY, "nobody"])
    assert levels.NAMED_USER.missing in " ".join(replica.api.events("ISOLATION"))
    check(replica, got, alone=False)


@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_a_program_of_an_ordinary_users_service_gets_nothing(
    attack: Attack, ordinary: dict[str, Any], containment_mode: str
) -> None:
    """Of what the service has and other users; but not of what its own user has."""
    replica, got = attack(**ordinary, isolation=containment_mode)
    said = " ".join(replica.api.events("ISOLATION"))
    assert levels.SERVICE_USER.missing in said
    check(replica, got, alone=False)


@needs_root
def test_the_same_program_succeeds_as_root(attack: Attack) -> None:
    """Else the other test would prove nothing."""
    replica, got = attack(allow_root=["p"], program_users=USERS)
    assert "the program runs as root, because the setting allow_root allows it" in " ".join(
        replica.api.events("ISOLATION")
    )
    assert {name for name, what in got.items() if what} >= PROVEN, got
