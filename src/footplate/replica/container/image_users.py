"""Which users of this machine the users of an image are: where the service is root, none it has.

A user namespace of the container maps them to the last ids of ``program_users``. In what is
mounted from outside, id-mapped mounts map them back: files there keep their owners.
"""

from __future__ import annotations

import os

from footplate.replica.container.container_spec import is_podman
from footplate.replica.isolation import levels, users
from footplate.replica.isolation.id_maps import find_fault
from footplate.replica.program_user import is_root_allowed

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from footplate.replica.context import Context

OVERLAY_RELEASE = (5, 19)
"""Of the kernel: before, Podman copies an image to change the owners of its files."""


def find_first_id(
    context: Context, image: Mapping[str, Any], mounts: Sequence[Mapping[str, Any]]
) -> tuple[int, str]:
    """The id of the image's root; 0 and the reason where it is root, or whom the engine says."""
    if os.geteuid() != 0:
        return 0, ""
    setting = context.ticket.get("program_users") or ()
    first = users.find_container_ids(setting)
    user = str(image.get("user") or "").partition(":")[0]
    if is_root_allowed(context):
        return 0, "the setting allow_root says so"
    if not is_podman(str(image.get("engine") or "")):
        return 0, "Docker maps no users of a container that has the machine's network"
    if not first:
        return 0, f"program_users has no {users.CONTAINER_IDS} ids for containers"
    if user.isdigit() and int(user) >= users.CONTAINER_IDS:
        return 0, f"the image's user {user} is above {users.CONTAINER_IDS - 1}"
    if _read_release() < OVERLAY_RELEASE:
        return 0, "this needs Linux 5.19"
    fault = find_fault(first, users.CONTAINER_IDS, [str(mount["Source"]) for mount in mounts])
    return (0, fault) if fault else (first, "")


def describe(first: int, reason: str) -> str:
    """For users: what holds, and what doesn't."""
    last = first + users.CONTAINER_IDS - 1
    if first:
        return f"the image's users are users {first} to {last} of this machine, its root too"
    words = "the image's users have the ids of this machine's users, root among them"
    return levels.describe("", f"{words}: {reason}")


def _read_release() -> tuple[int, ...]:
    words = os.uname().release.partition("-")[0].split(".")
    return tuple(int(word) for word in words[:2] if word.isdigit())
