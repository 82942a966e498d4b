"""Whom the users of an image are outside: the reasons why they can't be mapped, and the request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from footplate.containers import engine_api as libpod
from footplate.protocol.promised import IMAGE_USERS
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.container import image_users
from footplate.replica.isolation import users
from footplate.replica.program_spec import TaskError
from footplate.server.program_users import DEFAULT_RANGE
from tests.support.promised import make_promised
from tests.support.replica_context import make_context, make_task

PODMAN = {"engine": "Podman 4.3.1", "user": "trainer"}


def find(image: dict[str, str], setting: Any = DEFAULT_RANGE, **ticket: Any) -> tuple[int, str]:
    promised = make_promised(**{IMAGE_USERS: ticket.pop("unavailable", "")})
    made = SupervisorTicket(program_users=setting, promised=promised, **ticket)
    context = make_context(Path("home"), make_task(job="projects/demo/jobs/1"), made)
    return image_users.find_first_id(context, image, [])


def test_programs_and_images_share_no_id() -> None:
    first, last = DEFAULT_RANGE
    start = users.find_container_ids(DEFAULT_RANGE)
    assert start + users.CONTAINER_IDS - 1 == last
    assert users.find_container_ids([start, last]) == 0
    small = users.find_container_ids([first, first + 2 * users.CONTAINER_IDS - 1])
    assert small == first + users.CONTAINER_IDS
    held = [users.reserve(small - users.CONTAINER_IDS, last) for _ in range(3)]
    for user in held:
        assert first < user.uid < start
        assert user.reservation is not None
        user.reservation.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root maps users")
@pytest.mark.parametrize(
    ("image", "ticket", "reason"),
    [
        (PODMAN, {"allow_root": ["demo"]}, "the setting allow_root allows it"),
        ({**PODMAN, "engine": "Docker 20.10.24"}, {}, "Docker can't map the users of a container"),
        (
            PODMAN,
            {"setting": [1000, 1000, "ada"]},
            ("the setting program_users has no 65536 user ids for containers"),
        ),
        (
            PODMAN,
            {"setting": [5000, 6000]},
            ("the setting program_users has no 65536 user ids for containers"),
        ),
        (PODMAN, {"unavailable": "this needs Linux 5.19"}, "this needs Linux 5.19"),
    ],
)
def test_the_reason_is_named(image: dict[str, str], ticket: Any, reason: str) -> None:
    first, words = find(image, **ticket)
    assert first == 0
    assert words.startswith(reason)
    assert image_users.describe(first, words) == (
        "not guaranteed: users in the image have the ids of this machine's users, also root: "
        + words
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root maps users")
def test_an_image_whose_users_cannot_be_mapped_does_not_start() -> None:
    with pytest.raises(TaskError, match="the image's user id 70000 is above the highest, 65535"):
        find({**PODMAN, "user": "70000:0"})


def test_podman_is_told_of_the_users() -> None:
    host = {
        "Mounts": [{"Type": "bind", "Source": "/a", "Target": "/b", "ReadOnly": True}],
        "NetworkMode": "host",
        "LogConfig": {"Type": "none"},
        "ShmSize": 1,
        "CapDrop": [],
        "OomScoreAdj": 500,
    }
    spec = {"Image": "trainer:1", "Env": [], "Labels": {}, "HostConfig": host}
    body = libpod.translate("footplate-1", spec, first_id=7000, ids=65536)
    ids = [{"container_id": 0, "host_id": 7000, "size": 65536}]
    assert body["idmappings"] == {"UIDMap": ids, "GIDMap": ids}
    assert body["userns"] == {"nsmode": "private"}
    assert [mount["options"] for mount in body["mounts"]] == [["rbind", "ro", "idmap"]]
    assert not {"userns", "idmappings"} & libpod.translate("footplate-1", spec).keys()
