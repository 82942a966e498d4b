"""The rungs in order, and how one is chosen, and found again after the supervisor's death."""

from __future__ import annotations

import os

from footplate.replica.isolation.cage import Cage, Unavailable, enter_view
from footplate.replica.isolation.cgroup import CgroupCage
from footplate.replica.isolation.group import GroupCage
from footplate.replica.isolation.namespace import NamespaceCage
from footplate.replica.isolation.processes import boot_id
from footplate.replica.isolation.spawn import SpawnFailed, spawn
from footplate.replica.isolation.subreaper import SubreaperCage, sweep_marked

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.isolation.proofs import Proofs
    from footplate.replica.isolation.view import View

RUNGS = ("cgroup", "namespace", "subreaper", "best-effort")


def choose(
    wanted: str, mark: str, *, limited: bool = False, proofs: Proofs | None = None
) -> tuple[Cage, list[str]]:
    """The strongest rung that works, or the one that is wanted; and why stronger ones don't.

    ``limited``: it is to ``limit`` what programs use, if it can. What ``proofs`` has isn't tried.

    Raises:
        Unavailable: the wanted rung doesn't work, or there is none of this name.
    """
    if wanted != "auto" and wanted not in RUNGS:
        allowed = ", ".join(("auto", *RUNGS))
        raise Unavailable(f"isolation {wanted!r} was asked for; allowed: {allowed}")
    reasons: list[str] = []
    for name in RUNGS if wanted == "auto" else (wanted,):
        try:
            return _open(name, mark, limited=limited, proofs=proofs), reasons
        except Unavailable as error:
            reasons.append(f"{name}: {error}")
    raise Unavailable(f"this machine can't isolate programs as asked for: {'; '.join(reasons)}")


def find_fault(view: View) -> str:
    """Why ``view`` can't be had here; empty if it can."""

    def body(ready: int) -> None:
        enter_view(view)
        os.close(ready)
        os._exit(0)

    try:
        os.waitpid(spawn(body), 0)
    except (SpawnFailed, OSError) as error:
        return str(error)
    return ""


def describe(cage: Cage, mark: str) -> dict[str, object]:
    """What ``sweep`` needs, as JSON."""
    return {"rung": cage.name, "mark": mark, "boot": boot_id(), **cage.record()}


def sweep(record: dict[str, Any]) -> bool:
    """Kill what is left of a program whose supervisor is dead; False: some is still there.

    After the machine was started anew there is nothing. On every rung those that bear the
    mark are looked for besides.
    """
    if record["boot"] != boot_id():
        return True
    cage = _reopen(record)
    clean = cage.kill() if cage is not None else True
    clean = sweep_marked(record["mark"]) and clean
    if clean and cage is not None:
        cage.close()
    return clean


def _open(name: str, mark: str, *, limited: bool, proofs: Proofs | None) -> Cage:
    if name == "cgroup":
        return CgroupCage.open(f"footplate-{mark[:16]}", limited=limited, proofs=proofs)
    if name == "namespace":
        return NamespaceCage.open()
    if name == "subreaper":
        return SubreaperCage.open()
    return GroupCage()


def _reopen(record: dict[str, Any]) -> Cage | None:
    """None for the rungs that then have nothing but the mark."""
    if record["rung"] == "cgroup":
        return CgroupCage.reopen(record)
    if record["rung"] == "namespace":
        return NamespaceCage.reopen(record)
    if record["rung"] == "container":
        from footplate.replica.container.cage import ContainerCage  # only those that had one

        return ContainerCage.reopen(record)
    return None
