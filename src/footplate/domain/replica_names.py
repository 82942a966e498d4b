"""Finds the replica that a user names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from footplate.domain.errors import NotFound
from footplate.domain.formatting import joined, listed, quoted

_POOLS = {
    "chief": "workerpool0",
    "master": "workerpool0",
    "primary": "workerpool0",
    "worker": "workerpool1",
    "ps": "workerpool2",
    "evaluator": "workerpool3",
}
"""What people call the worker pools of Vertex AI."""
_ROLES = {"chief": "master", "primary": "master"}
"""What they call the roles of ml v1, beside their own names."""
_PARTS = re.compile(r"(?P<role>[a-z]+[0-9]?)(?:-replica)?(?:-(?P<index>[0-9]+))?")


def choose_replica(wanted: str, names: Sequence[str]) -> str:
    """Returns the replica among ``names`` that ``wanted`` means; if that is empty, the first.

    Beside the names themselves, roles are accepted, with or without an index: ``worker-0``,
    ``chief``.

    Raises:
        NotFound: ``wanted`` means none of the names, or several.
    """
    if not wanted:
        return names[0]
    if wanted in names:
        return wanted
    meant = [name for name in names if _means(wanted.casefold(), name)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise NotFound(f"replica {quoted(wanted)} may be {joined(meant)}: name one of them")
    raise NotFound(f"there is no replica {quoted(wanted)}; there are {listed(names)}")


def _means(wanted: str, name: str) -> bool:
    given, known = _PARTS.fullmatch(wanted), _PARTS.fullmatch(name)
    if given is None or known is None:
        return False
    role = given["role"]
    if known["role"] not in (role, _POOLS.get(role), _ROLES.get(role)):
        return False
    return given["index"] is None or int(given["index"]) == int(known["index"] or 0)
