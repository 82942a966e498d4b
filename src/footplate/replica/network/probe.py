"""The command ``probe-network``: checks whether network namespaces work here."""

from __future__ import annotations

import json
import os
import socket
import sys

from footplate.replica.isolation import syscalls
from footplate.replica.network.addresses import BRIDGE, OWN, PORT
from footplate.replica.network.replica_network import NetworkUnavailable, ReplicaNetwork

OK = 0
_TIMEOUT_S = 5.0
NAMESPACES = "namespaces"


def main(network: str) -> int:
    """Try, clear up, and print a JSON object.

    ``fault``: why they can't be had, empty if they can; ``outside``: why they couldn't reach
    the outside.
    """
    result: dict[str, object] = {"fault": "", "outside": []}
    if network == NAMESPACES:
        try:
            result["outside"] = _try()
        except NetworkUnavailable as error:
            result["fault"] = str(error)
    print(json.dumps(result))
    return OK


def _try() -> list[str]:
    """Connect two replicas, and let one call the other. Raises NetworkUnavailable."""
    if sys.platform != "linux":
        raise NetworkUnavailable(f"network namespaces are Linux's, and this is {sys.platform}")
    from footplate.replica.network.veth import find_conflict

    conflict = find_conflict()
    if conflict:
        raise NetworkUnavailable(conflict)
    first = ReplicaNetwork.open()
    try:
        second = ReplicaNetwork.open()
        try:
            _call(first, second)
        finally:
            second.close()
    finally:
        first.close()
    return first.faults


def _call(called: ReplicaNetwork, calling: ReplicaNetwork) -> None:
    """A socket stays in the namespace in which it was made. Raises NetworkUnavailable."""
    own = os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        syscalls.enter_network(called.descriptor)
        with socket.socket() as server:
            server.bind(("", PORT))
            server.listen(1)
            syscalls.enter_network(calling.descriptor)
            socket.create_connection((called.host, PORT), _TIMEOUT_S).close()
    except OSError as error:
        raise NetworkUnavailable(
            f"what is connected to the bridge {BRIDGE} can't call each other "
            f"({error.strerror or error}); a firewall of this machine may forbid it"
        ) from error
    finally:
        syscalls.enter_network(own)
        os.close(own)
