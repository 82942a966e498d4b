"""The names that a gang may have, where they become names of directories."""

from __future__ import annotations

import re

from footplate.domain.errors import FailedPrecondition
from footplate.ports.backend import AttemptStart

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
"""Names of a backend's own folders begin with a dot."""


def check_gang(request: AttemptStart) -> None:
    """Raises FailedPrecondition unless the gang has replicas with distinct names that can name a
    directory.
    """
    replicas = [ticket.replica for ticket in request.tickets]
    wrong = [name for name in (request.attempt_id, *replicas) if not NAME.fullmatch(name)]
    if wrong:
        raise FailedPrecondition(f"{wrong[0][:200]!r} can't be the name of a directory")
    if not replicas or len(set(replicas)) < len(replicas):
        raise FailedPrecondition(
            "a job needs at least one replica, and each needs a name of its own"
        )
