"""The command ``probe``: finds by trying what isolation and limits programs can have here.

What it finds is what programs get: see ``protocol.promised``.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time

from footplate.protocol.promised import IMAGE_USERS, PROCESS_NAMESPACE, USER, VIEW, Promised
from footplate.protocol.ticket import ProbeQuestion
from footplate.replica.isolation import mode_selection, pid_namespace, syscalls
from footplate.replica.isolation.access_lists import grant
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.hidden_paths import HiddenPaths, find_closed, find_hidden
from footplate.replica.isolation.id_maps import open_map
from footplate.replica.isolation.mount_namespace import MountNamespace
from footplate.replica.isolation.resource_limits import Limits
from footplate.replica.isolation.spawn import SpawnFailed, try_in_child
from footplate.replica.isolation.users import CONTAINER_IDS, become, find_container_ids
from footplate.replica.program_user import own, take
from footplate.replica.realpath import find_real
from footplate.safe_path import PLACE, directory

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.isolation.users import User

OK = 0
_TRIED = Limits("none", 1 << 30, 1)
_ATTEMPTS, _PAUSE_S = 5, 0.5
_HOST_TMP = "/tmp"  # noqa: S108  that of the host, named to keep out of it
OVERLAY_RELEASE = (5, 19)
"""The kernel before which Podman copies an image to change the owners of its files."""


def main(facts: str) -> int:
    """Tries the isolation, clears up, and prints what is promised as a JSON object; ``facts`` is a
    JSON object, too.

    Nothing is printed if a fault may be temporary.
    """
    question = ProbeQuestion.decode(json.loads(facts))
    for attempt in range(_ATTEMPTS):
        try:
            answer = find_promised(question.ticket, question.folder, limited=question.limited)
        except (OSError, SpawnFailed) as error:
            print(f"the server can't test the isolation of programs now: {error}", file=sys.stderr)
            time.sleep(_PAUSE_S * attempt)
        else:
            print(json.dumps(answer.encode()))
            return OK
    return 1


def find_promised(ticket: SupervisorTicket, folder: str, *, limited: bool) -> Promised:
    """Returns the isolation that works on this machine. Raises SpawnFailed, OSError for a reason
    that may pass.
    """
    mark = os.urandom(16).hex()
    try:
        containment, reasons = mode_selection.choose(ticket.isolation, mark, limited=limited)
    except Unavailable as error:
        return Promised("", (str(error),), {})
    try:
        faults = containment.limit(_TRIED)
    finally:
        containment.close()
    faults[PROCESS_NAMESPACE] = pid_namespace.find_fault()
    own_folder = os.path.join(folder, f".{mark}.tried")
    os.mkdir(own_folder)
    os.chmod(own_folder, stat.S_IMODE(os.stat(folder).st_mode))
    try:
        disks = _try_programs(ticket, own_folder, faults)
    finally:
        _remove(own_folder)
    kind = getattr(containment, "kind", "")
    return Promised(containment.name, tuple(reasons), faults, kind, disks)


def _remove(folder: str) -> None:
    """Removes the folder without ``shutil``, which would cost each supervisor memory."""
    for place, directories, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(place, name))
        for name in directories:
            os.rmdir(os.path.join(place, name))
    os.rmdir(folder)


def _try_programs(ticket: SupervisorTicket, folder: str, faults: dict[str, str]) -> dict[str, str]:
    """Adds to ``faults`` why programs can't have views and users; returns the faults of disks.
    Raises as above.
    """
    for name in ("root", "tmp", "work"):
        os.mkdir(os.path.join(folder, name))
    faults[VIEW] = _find_view_fault(ticket, folder)
    faults[USER] = faults[IMAGE_USERS] = ""
    setting = ticket.program_users or ticket.build_users
    if not setting or os.geteuid() != 0:
        return {}
    try:
        user = take(setting)
    except OSError as error:  # others have all of them: that passes
        raise SpawnFailed(str(error)) from error
    try:
        faults[USER] = try_in_child(lambda: become(user)) or _find_owner_fault(folder, user)
        disks = {} if faults[VIEW] else _try_disks(ticket, folder, user)
    finally:
        user.release()
    unmapped = faults[VIEW] or disks[str(os.stat(folder).st_dev)]
    faults[IMAGE_USERS] = unmapped or _find_image_users_fault(setting)
    closed = find_closed([os.path.join(find_real(folder), "work", "")]) if faults[VIEW] else []
    if closed and not faults[USER]:
        faults[USER] = (
            f"no other user can enter {closed[0]}, and the service can't hide it: {unmapped}"
        )
    elif unmapped and not faults[USER]:
        faults[USER] = _find_list_fault(folder, user, unmapped)
    return disks


def _find_view_fault(ticket: SupervisorTicket, folder: str) -> str:
    paths = [ticket.cache, *ticket.tmp_paths]
    if _HOST_TMP in [find_real(path) for path in paths if path]:
        return f"the service itself uses {_HOST_TMP}"
    real = find_real(folder)
    root, tmp, work, cover = (os.path.join(real, name) for name in ("root", "tmp", "work", "cover"))
    view = MountNamespace(root, tmp, "", [])
    cache = find_real(paths[0]) if paths[0] else ""
    private = find_hidden(ticket.private)
    view.hidden_paths = HiddenPaths(cover, private, [work], [cache] if cache else [])
    return mode_selection.find_fault(view)


def _find_owner_fault(folder: str, user: User) -> str:
    """Returns why files on the service's disk can't be given to the user. Raises OSError."""
    return own([os.path.join(folder, "work")], user)


def _try_disks(ticket: SupervisorTicket, folder: str, user: User) -> dict[str, str]:
    """Returns why owners can't be mapped on each disk of the service's own directories; '' where
    they can.
    """
    tops = [folder, ticket.buckets, *ticket.private]
    found: dict[str, str] = {}
    for top in filter(os.path.isdir, tops):
        found.setdefault(str(os.stat(top).st_dev), find_map_fault(top, user))
    return found


def find_map_fault(path: str, user: User) -> str:
    """Returns why owners of files in ``path`` can't be mapped. Raises SpawnFailed, OSError."""

    def act() -> None:
        with directory(path, flags=PLACE) as opened:
            os.close(syscalls.clone_mapped(opened, id_map))

    id_map = open_map(user.uid, user.gid)
    try:
        return try_in_child(act)
    finally:
        os.close(id_map)


def _find_list_fault(folder: str, user: User, unmapped: str) -> str:
    """Returns why access lists can't be used where owners aren't mapped."""
    try:
        grant(os.path.join(folder, "work"), user.gid)
    except OSError as error:
        words = f"the kernel can't map the owners of files in buckets ({unmapped})"
        return f"{words}, and the server can't set access lists: {error}"
    return ""


def _find_image_users_fault(setting: Sequence[object]) -> str:
    if not find_container_ids(setting):
        return f"the setting program_users has no {CONTAINER_IDS} user ids for containers"
    words = os.uname().release.partition("-")[0].split(".")
    release = tuple(int(word) for word in words[:2] if word.isdigit())
    return "this needs Linux 5.19" if release < OVERLAY_RELEASE else ""
