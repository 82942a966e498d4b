"""Keeps for the next replicas of a node which isolation its programs can have.

To find that out, processes and file systems are made and ended, which takes longer than all else
that a supervisor does before a short program. The answer is kept in the node's folder for replicas,
which is this user's alone, and is believed by the same supervisor under the same conditions, for a
while: a node may get other abilities. Replicas that don't get what the answer promises delete it.
"""

from __future__ import annotations

import json
import os
import time

from footplate.protocol.promised import Promised
from footplate.replica.file_io import read_text, write_text
from footplate.replica.isolation.cgroup_hierarchies import find_hierarchies
from footplate.replica.isolation.procfs import boot_id

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.protocol.ticket import SupervisorTicket

FILE = "isolation.json"
VALID_S = 600.0


def read(ticket: SupervisorTicket, home: str, program: str, *, limited: bool) -> Promised | None:
    """Returns what an earlier replica of the node found out; None if that can't be believed here.

    ``program`` is the path of the supervisor's archive, which has its digest in its name.
    """
    if not ticket.launchers:
        return None
    try:
        kept = json.loads(read_text(_find(ticket)))
        age_s = _now_s() - kept["found_s"]
        conditions = _list_conditions(ticket, home, program, limited=limited)
        if not 0 <= age_s < VALID_S or kept["conditions"] != conditions:
            return None
        return Promised.decode(kept["promised"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # whatever is wrong with it: the isolation is tried again


def write(
    promised: Promised, ticket: SupervisorTicket, home: str, program: str, *, limited: bool
) -> None:
    """Keeps what was found out, as far as that can be done."""
    if not ticket.launchers:
        return
    kept = {
        "found_s": _now_s(),
        "conditions": _list_conditions(ticket, home, program, limited=limited),
        "promised": promised.encode(),
    }
    path = _find(ticket)
    part = f"{path}.{os.urandom(8).hex()}"
    try:
        write_text(part, json.dumps(kept), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.replace(part, path)
    except OSError as error:
        print(f"the isolation of this node can't be kept: {error}")


def forget(ticket: SupervisorTicket) -> None:
    """Deletes what was found out, because a program didn't get it."""
    if ticket.launchers:
        try:
            os.unlink(_find(ticket))
        except OSError:  # there is none
            return


def _find(ticket: SupervisorTicket) -> str:
    return os.path.join(os.path.dirname(ticket.launchers), FILE)


def _now_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _list_conditions(
    ticket: SupervisorTicket, home: str, program: str, *, limited: bool
) -> dict[str, Any]:
    """Returns what the answer depends on, as JSON has it. The groups of an engine's jobs differ by
    numbers only.
    """
    groups = {kind: each.own for kind, each in find_hierarchies().items()}
    found = {
        "boot": boot_id(),
        "user": [os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()],
        "program": program,
        "limited": limited,
        "groups": {kind: _without_digits(own) for kind, own in groups.items()},
        "namespaces": [os.readlink(f"/proc/self/ns/{kind}") for kind in ("mnt", "pid", "user")],
        "disk": os.stat(home).st_dev,
        "wanted": ticket.isolation,
        "users": [ticket.program_users, ticket.build_users],
        "paths": [ticket.cache, ticket.buckets, ticket.tmp_paths, ticket.private],
    }
    normal: dict[str, Any] = json.loads(json.dumps(found))
    return normal


def _without_digits(text: str) -> str:
    return "".join(each for each in text if not each.isdigit())
