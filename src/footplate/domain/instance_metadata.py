"""Describes the machine of a program as Google's metadata server does, in its names and forms."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.names import PROJECT_NUMBER

if TYPE_CHECKING:
    from pydantic import JsonValue

    Node = str | int | tuple[str, ...] | dict[str, "Node"]

ACCOUNT = "program@footplate.invalid"
"""Of a job that names no ``serviceAccount``. No host can have this name."""
DEFAULT = "default"
"""Stands for the account in paths."""
TOKEN, IDENTITY = "token", "identity"
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_ACCOUNTS = "instance/service-accounts"
_MADE_FOR_EACH_CALL = (TOKEN, IDENTITY)
_WORD = re.compile(r"-(\w)")


@dataclass(frozen=True)
class Instance:
    """A replica as a machine; ``start`` is a unique id of its start, ``email`` its account."""

    project: str
    region: str
    zone: str
    replica: str
    start: str
    machine_type: str
    email: str = ACCOUNT

    @property
    def number(self) -> int:
        """Returns a number for the start, which is the same for all replicas of one start."""
        return int.from_bytes(hashlib.sha256(self.start.encode()).digest()[:7], "big")

    @property
    def name(self) -> str:
        return f"{self.replica[:50]}-{self.number % 16**8:08x}"


def describe(instance: Instance) -> Node:
    """Returns the instance's metadata as a tree of directories and values, by name."""
    project = f"projects/{PROJECT_NUMBER}"
    account: Node = {
        "aliases": (DEFAULT,),
        "email": instance.email,
        IDENTITY: "",
        "scopes": _SCOPES,
        TOKEN: "",
    }
    return {
        "instance": {
            "attributes": {},
            "hostname": f"{instance.name}.{instance.zone}.c.{instance.project}.internal",
            "id": instance.number,
            "machine-type": f"{project}/machineTypes/{instance.machine_type}",
            "maintenance-event": "NONE",
            "name": instance.name,
            "preempted": "FALSE",
            "region": f"{project}/regions/{instance.region}",
            "scheduling": {
                "automatic-restart": "TRUE",
                "on-host-maintenance": "MIGRATE",
                "preemptible": "FALSE",
            },
            "service-accounts": {DEFAULT: account, instance.email: account},
            "tags": (),
            "zone": f"{project}/zones/{instance.zone}",
        },
        "project": {
            "attributes": {},
            "numeric-project-id": int(PROJECT_NUMBER),
            "project-id": instance.project,
        },
        "universe": {"universe-domain": "googleapis.com"},
    }


def find(node: Node, path: str) -> Node | None:
    """Returns the directory or value at ``path``; None: nothing is there."""
    for part in filter(None, path.split("/")):
        if not isinstance(node, dict) or part not in node:
            return None
        node = node[part]
    return node


def made_for(path: str) -> str:
    """Returns ``token`` or ``identity`` if ``path`` asks for that of an account; else ''."""
    parent, _, last = path.strip("/").rpartition("/")
    is_account = parent.rpartition("/")[0] == _ACCOUNTS
    return last if is_account and last in _MADE_FOR_EACH_CALL else ""


def as_text(node: Node) -> str:
    """Formats a value, or lists the names in a directory; names of directories end with a slash."""
    if isinstance(node, dict):
        names = (f"{name}/" if isinstance(below, dict) else name for name, below in node.items())
        return "".join(f"{name}\n" for name in names)
    return "".join(f"{each}\n" for each in node) if isinstance(node, tuple) else str(node)


def as_json(node: Node) -> JsonValue:
    """Returns everything below ``node`` as JSON, in camel case and without credentials."""
    if isinstance(node, dict):
        kept = {name: below for name, below in node.items() if name not in _MADE_FOR_EACH_CALL}
        return {_to_camel_case(name): as_json(below) for name, below in kept.items()}
    return list(node) if isinstance(node, tuple) else node


def _to_camel_case(name: str) -> str:
    """Converts a name to camel case; names of accounts stay unchanged."""
    return name if "@" in name else _WORD.sub(lambda found: found[1].upper(), name)
