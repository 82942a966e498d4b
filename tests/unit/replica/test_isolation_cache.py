"""What replicas of a node keep of its isolation, and when that is believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from footplate.protocol.promised import PROCESS_NAMESPACE, VIEW, Promised
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica import isolation_cache, probe
from footplate.replica.context import Context
from tests.support.replica_context import make_context

FOUND = Promised("cgroup", (), {PROCESS_NAMESPACE: "", VIEW: "no"}, "freezer", {"7": ""})


class Node:
    """A node's folder for replicas. ``tried`` counts how often its isolation was tried."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        (scratch / "launchers").mkdir()
        self.tried = 0

    @property
    def file(self) -> Path:
        return self.scratch / isolation_cache.FILE

    def start(self, program: str = "digest.pyz", **ticket: Any) -> Context:
        """A supervisor of the node."""
        home = self.scratch / "launchers" / f"{self.tried}" / "home~0"
        home.mkdir(parents=True, exist_ok=True)
        where: dict[str, Any] = {
            "launchers": str(self.scratch / "launchers"),
            "private": (str(self.scratch),),
        }
        given = SupervisorTicket(**{**where, **ticket})
        return make_context(home, ticket=given, command=["python", program])

    def find(self, *_: object, **__: object) -> Promised:
        self.tried += 1
        return FOUND


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    node = Node(tmp_path)
    monkeypatch.setattr(probe, "find_promised", node.find)
    return node


def test_the_next_replica_of_a_node_tries_nothing(node: Node) -> None:
    assert node.start().promise() == FOUND
    second = node.start()
    assert second.promise() == FOUND
    assert node.tried == 1
    assert json.loads((Path(second.home.path) / "promised.json").read_text()) == FOUND.encode()
    assert node.file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in node.scratch.iterdir() if path.is_file()] == [node.file.name]


@pytest.mark.parametrize(
    "change",
    [
        lambda node: node.start(program="other.pyz").promise(),
        lambda node: node.start(isolation="namespace").promise(),
        lambda node: node.start(private=("/other",)).promise(),
        lambda node: node.start(cache="/other").promise(),
        lambda node: node.start(program_users=(1, 2)).promise(),
        lambda node: node.start().promise(limited=True),
    ],
)
def test_other_conditions_are_tried(node: Node, change: Callable[[Node], object]) -> None:
    node.start().promise()
    change(node)
    assert node.tried == 2


@pytest.mark.parametrize("change_s", [-1.0, isolation_cache.VALID_S + 1])
def test_an_answer_is_believed_for_a_while(
    node: Node, change_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.start().promise()
    now_s = isolation_cache._now_s()
    monkeypatch.setattr(isolation_cache, "_now_s", lambda: now_s + change_s)
    node.start().promise()
    assert node.tried == 2


@pytest.mark.parametrize("name", ["found_s", "conditions", "promised"])
@pytest.mark.parametrize("value", [None, 7, "text", {}, []])
def test_a_damaged_answer_is_not_believed(node: Node, name: str, value: object) -> None:
    node.start().promise()
    node.file.write_text(json.dumps({**json.loads(node.file.read_text()), name: value}))
    node.start().promise()
    assert node.tried == 2


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "\0"])
def test_a_file_that_is_no_answer_is_not_believed(node: Node, text: str) -> None:
    node.start().promise()
    node.file.write_text(text)
    node.start().promise()
    assert node.tried == 2


def test_an_answer_that_was_deleted_is_found_again(node: Node) -> None:
    context = node.start()
    context.promise()
    isolation_cache.forget(context.ticket)
    isolation_cache.forget(context.ticket)
    node.start().promise()
    assert node.tried == 2
    assert node.file.exists()


def test_on_the_machine_of_the_service_nothing_is_kept(node: Node) -> None:
    node.start(launchers="").promise()
    node.start(launchers="").promise()
    assert node.tried == 2
    assert not node.file.exists()
