"""A replica's network namespace and address, held by its supervisor."""

from __future__ import annotations

import json
import os

from footplate.replica.isolation.procfs import boot_id
from footplate.replica.isolation.spawn import SpawnFailed, close_all_but, spawn
from footplate.replica.network.addresses import OPEN_PORTS, PORT, Address, is_link
from footplate.replica.network.loopback import find_lost_proxies, find_resolvers, read

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

    Work = Callable[[], dict[str, Any]]

_MOST_BYTES = 16384


class NetworkUnavailable(Exception):
    """The network namespace is not available; the message says why."""


class ReplicaNetwork:
    """A network namespace, kept by ``descriptor`` until this process ends."""

    def __init__(self, descriptor: int, result: dict[str, Any]) -> None:
        self.descriptor = descriptor
        self.host: str = result["host"]
        self.port = PORT
        self.open_ports = list(OPEN_PORTS)
        self.faults: list[str] = result["faults"]
        """Why programs can't reach the outside; empty: they can, as far as the machine can."""
        self._link: str = result["link"]
        self._index: int = result["index"]

    @classmethod
    def open(cls, host: str | None = None) -> ReplicaNetwork:
        """Have a namespace with the address ``host``, or any.

        Raises:
            NetworkUnavailable: with the reason.
        """
        try:
            wanted = None if host is None else Address.parse(host)
        except ValueError as error:
            raise NetworkUnavailable(str(error)) from error

        def work() -> dict[str, Any]:
            from footplate.replica.network.veth import wire  # in children only: it costs memory

            wired = wire(wanted)
            address = wired.address
            result = {"host": address.host, "link": address.link, "index": wired.index}
            return {**result, "faults": wired.faults, "descriptor": wired.namespace}

        result: list[Any] = []

        def take(pid: int, value: dict[str, Any]) -> None:
            path = f"/proc/{pid}/fd/{value['descriptor']}"
            result[:] = os.open(path, os.O_RDONLY | os.O_CLOEXEC), value

        _run_beside(work, take)
        return cls(*result)

    def describe(self, environment: Mapping[str, str]) -> str:
        """Where it is, and what programs with these proxies can't reach."""
        faults = [*self.faults, find_resolvers(read)[1], *find_lost_proxies(environment)]
        faults = [fault for fault in faults if fault]
        where = f"{self.host} in a network namespace of its own"
        if not faults:
            return f"{where}; the outside is reached through this machine"
        return f"{where}; the outside can't be reached: {'; '.join(faults)}"

    def record(self) -> dict[str, object]:
        """What ``clear`` needs after the death of this process."""
        return {"link": self._link, "index": self._index, "boot": boot_id()}

    def release(self) -> None:
        """Nothing has to be let go before the program starts."""

    def close(self) -> None:
        """Free the address; nothing of the program is left.

        The kernel does so, too, when this process ends, only later.
        """
        os.close(self.descriptor)
        clear(self.record())


def clear(record: dict[str, Any]) -> None:
    """Free the address of a supervisor that is dead.

    Whatever the record says, only a device of this kind is removed.

    Raises KeyError, TypeError: it isn't one.
    """
    link, index = record["link"], record["index"]
    if record["boot"] != boot_id() or not is_link(link):
        return

    def work() -> dict[str, Any]:
        from footplate.replica.network.veth import unwire  # in children only: it costs memory

        unwire(link, index)
        return {}

    try:
        _run_beside(work, lambda *_: None)
    except (OSError, NetworkUnavailable):
        return  # the kernel does


def _run_beside(work: Work, take: Callable[[int, dict[str, Any]], None]) -> None:
    """Do ``work`` in a child; ``take`` what it returns before it ends.

    Raises NetworkUnavailable.
    """
    leash_end, leash = os.pipe()
    reading, writing = os.pipe()

    def body(ready: int) -> None:
        close_all_but({ready, leash_end, writing})
        os.write(writing, json.dumps(work()).encode())
        os.close(writing)
        os.close(ready)
        os.read(leash_end, 1)  # ends when the parent lets go, however that is
        os._exit(0)

    try:
        pid = spawn(body)
        try:
            take(pid, json.loads(os.read(reading, _MOST_BYTES)))
        finally:
            os.close(leash)
            leash = -1
            os.waitpid(pid, 0)
    except (OSError, SpawnFailed, ValueError) as error:
        raise NetworkUnavailable(str(error)) from error
    finally:
        for descriptor in (leash_end, leash, reading, writing):
            if descriptor >= 0:
                os.close(descriptor)
