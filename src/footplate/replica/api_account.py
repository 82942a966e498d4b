"""Files by which Google's gRPC clients in a program call the service, where the program may."""

from __future__ import annotations

import os

from footplate.replica.file_io import write_readable
from footplate.replica.program_hook import ALL_GRPC, TRUSTED
from footplate.replica.tensorflow_storage import MACHINE_ROOTS, write_roots

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping

    from footplate.protocol.task import Task

_ACCOUNT = "GOOGLE_APPLICATION_CREDENTIALS"


def make_account(
    task: Task,
    environment: Mapping[str, str],
    directory: str,
    seen: str = "",
    machine: str = MACHINE_ROOTS,
) -> dict[str, str]:
    """Returns variables to add for the program; none if the program's calls aren't redirected, and
    none that ``environment`` has already.

    The files that the variables name lie in ``directory``, which the program sees as ``seen``.
    Raises OSError.
    """
    if not (task.account and task.authority and environment.get(ALL_GRPC)):
        return {}
    write_readable(os.path.join(directory, "account.json"), task.account)
    write_roots(os.path.join(directory, "grpc_roots.pem"), task.authority, machine)
    names = {_ACCOUNT: "account.json", TRUSTED: "grpc_roots.pem"}
    return {
        variable: os.path.join(seen or directory, name)
        for variable, name in names.items()
        if variable not in environment
    }
