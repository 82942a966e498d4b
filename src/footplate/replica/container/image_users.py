"""The users of this machine that an image's users are: where the service is root, none it has.

A user namespace of the container maps them to the last ids of ``program_users``. In what is
mounted from outside, id-mapped mounts map them back: files there keep their owners.
"""

from __future__ import annotations

import os

from footplate.protocol.promised import IMAGE_USERS
from footplate.replica.container.container_spec import is_podman
from footplate.replica.isolation import levels, users
from footplate.replica.isolation.id_maps import find_fault
from footplate.replica.program_spec import TaskError
from footplate.replica.program_user import is_root_allowed

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from footplate.replica.context import Context


def find_first_id(
    context: Context, image: Mapping[str, Any], mounts: Sequence[Mapping[str, Any]]
) -> tuple[int, str]:
    """Returns the id that the image's root is mapped to; or 0 and the reason why users aren't
    mapped, '' if this process isn't root.

    Raises TaskError, SpawnFailed, OSError if mapped users were promised, and can't be had.
    """
    if os.geteuid() != 0:
        return 0, ""
    setting = context.ticket.program_users or ()
    first = users.find_container_ids(setting)
    user = str(image.get("user") or "").partition(":")[0]
    if is_root_allowed(context):
        return 0, "the setting allow_root allows it"
    if not is_podman(str(image.get("engine") or "")):
        return 0, "Docker can't map the users of a container that shares the machine's network"
    if not first:
        return 0, f"the setting program_users has no {users.CONTAINER_IDS} user ids for containers"
    unavailable = context.promise().fault(IMAGE_USERS)
    if unavailable:
        return 0, unavailable
    if user.isdigit() and int(user) >= users.CONTAINER_IDS:
        fault = f"the image's user id {user} is above the highest, {users.CONTAINER_IDS - 1}"
    else:
        sources = [str(mount["Source"]) for mount in mounts]
        fault = find_fault(first, users.CONTAINER_IDS, sources)
    if fault:
        raise TaskError(f"the engine can't map the image's users to users without rights: {fault}")
    return first, ""


def describe(first: int, reason: str) -> str:
    """Returns a sentence for users: the ids to which the image's users are mapped, or why they have
    this machine's ids.
    """
    last = first + users.CONTAINER_IDS - 1
    if first:
        return (
            f"all users in the image, also root, run as the users {first} to {last} of this "
            "machine, which have no rights"
        )
    words = "users in the image have the ids of this machine's users, also root"
    return levels.describe("", f"{words}: {reason}")
