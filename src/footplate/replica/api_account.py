"""Files by which Google's gRPC clients in a program call the service, where the program may."""

from __future__ import annotations

import os

from footplate.replica.file_io import write_text
from footplate.replica.tensorflow_storage import MACHINE_ROOTS, TRUSTED, read_roots

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

PROXY = "grpc_proxy"
_ACCOUNT = "GOOGLE_APPLICATION_CREDENTIALS"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_READABLE = 0o644


def make_account(
    task: Mapping[str, Any],
    environment: Mapping[str, str],
    directory: str,
    seen: str = "",
    machine: str = MACHINE_ROOTS,
) -> dict[str, str]:
    """More variables; none where the program isn't led, and none that it has already.

    The files lie in ``directory``, which the program sees as ``seen``. Raises OSError.
    """
    account, authority = str(task.get("account") or ""), str(task.get("authority") or "")
    if not (account and authority and environment.get(PROXY)):
        return {}
    files = {
        _ACCOUNT: ("account.json", account),
        TRUSTED: ("grpc_roots.pem", read_roots(authority, machine)),
    }
    found = {}
    for variable, (name, text) in files.items():
        write_text(os.path.join(directory, name), text, _FLAGS, _READABLE)
        if variable not in environment:
            found[variable] = os.path.join(seen or directory, name)
    return found
