"""The stage of a gang's replica that could start, while others can't yet."""

from __future__ import annotations

import socket

from footplate.replica.courier import LONGEST_QUESTION_S
from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.program import TaskError
from footplate.replica.stage import Delivering, Stage, fail

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Sequence

    from footplate.replica.desk import Desk
    from footplate.replica.isolation.view import View
    from footplate.replica.network.place import Place
    from footplate.replica.starting import Startable

HOST = "127.0.0.1"
OPEN_PORTS = 1
"""How many ports the program may use besides its own."""
DEFAULT_LIMIT_S = 600.0
LONGEST_GAP_S = 2 * LONGEST_QUESTION_S
"""Between two answers no more than this counts as time in which the others were awaited."""
_NAMED = 3


class Ports:
    """Ports that nobody else on this machine is given until ``release``.

    They are held on every address, as programs may listen on every one; nothing listens there.
    """

    host = HOST

    def __init__(self, wanted: Sequence[int]) -> None:
        """``wanted``: their numbers; 0 is any that is free.

        Raises:
            OSError: one is taken, or none is free.
        """
        self._held: list[socket.socket] = []
        self.numbers: list[int] = []
        try:
            for number in wanted:
                self._hold(number)
        except OSError:
            self.release()
            raise

    def _hold(self, number: int) -> None:
        held = socket.socket()
        self._held.append(held)
        if number:  # connections of the program that had it before may still linger
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("", number))
        self.numbers.append(held.getsockname()[1])

    @property
    def port(self) -> int:
        """The program's own."""
        return self.numbers[0]

    @property
    def open_ports(self) -> list[int]:
        return self.numbers[1:]

    def release(self) -> None:
        while self._held:
            self._held.pop().close()


class Gathering(Stage):
    """It has said where it will be, and waits until all replicas of its gang have.

    Only time in which the server answers counts: while that is away nobody can get ready in its
    eyes, and nobody is to blame.
    """

    def __init__(self, desk: Desk, program: Startable) -> None:
        """Raises TaskError, OSError."""
        super().__init__(desk)
        program.check(desk)
        self._program = program
        self._limit_s = desk.seconds("gathering_s", DEFAULT_LIMIT_S)
        self._waited_s = 0.0
        self._heard_at = desk.monotonic()
        desk.keep_record()
        self._place = take_place(desk, program.view)
        where = {"host": self._place.host, "port": self._place.port}
        desk.journal.state("READY", **where, open_ports=self._place.open_ports)
        desk.courier.ask_to_start()

    def advance(self) -> Stage:
        courier = self.desk.courier
        if courier.fault:
            return self._fail(f"its environment can't be had: {courier.fault}")
        if courier.environment is not None:
            return self._start(courier.environment)
        awaited, courier.awaited = courier.awaited, None
        if awaited is not None and self._count() >= self._limit_s:
            return self._fail(f"waited {self._limit_s:g} s for {enumerate_names(awaited)}")
        return self

    def stop(self) -> Stage:
        self._place.release()
        return Delivering(self.desk, "STOPPED", 0, "stopped before its program started")

    def _count(self) -> float:
        """The seconds waited so far, now that the server has answered again."""
        now = self.desk.monotonic()
        self._waited_s += min(now - self._heard_at, LONGEST_GAP_S)
        self._heard_at = now
        return self._waited_s

    def _start(self, environment: list[Any]) -> Stage:
        desk = self.desk
        desk.task["environment"] = environment
        if desk.courier.program is not None:  # its arguments name what is known only now
            desk.task["program"] = {**desk.task["program"], **desk.courier.program}
        try:
            desk.home.write("task.json", desk.task)
            self._place.release()
            return self._program.start(desk)
        except (TaskError, SpawnFailed) as error:
            return self._fail(str(error))
        except OSError as error:
            return self._fail(f"the program can't be started: {error}")

    def _fail(self, cause: str) -> Stage:
        self._place.release()
        return fail(self.desk, cause)


def take_ports(address: dict[str, Any] | None) -> Ports:
    """Any that are free; or, after a restart, those of the ``address`` that its peers know.

    Raises:
        TaskError: somebody else has one of them now.
        OSError: there are none.
    """
    if address is None:
        return Ports([0] * (1 + OPEN_PORTS))
    wanted = [address["port"], *address["open_ports"]]
    try:
        return Ports(wanted)
    except OSError as error:
        ports = " or ".join(str(number) for number in wanted)
        message = f"it can't come back to port {ports}, where its peers know it: {error.strerror}"
        raise TaskError(message) from error


def take_place(desk: Desk, view: View | None) -> Ports | Place:
    """Where the program will be: at ports of its own on this host, or on a host of its own.

    After a restart it is as before, whatever the setting is now.

    Raises TaskError, OSError.
    """
    address = desk.task.get("address")
    shared = desk.ticket.get("network") != "namespaces" or desk.task.get("host_network") is True
    if address["host"] == HOST if address else shared:
        return take_ports(address)
    from footplate.replica.network.names import write_files  # who shares doesn't pay for it
    from footplate.replica.network.place import Place, Unconnected

    try:
        place = desk.place = Place.open(address["host"] if address else None)
    except Unconnected as error:
        raise TaskError(f"it can't have a network namespace of its own: {error}") from error
    desk.keep_record()
    if view is not None:
        view.files = write_files(desk.home.path, place.host)
    desk.journal.event("NETWORK", place.describe(desk.host))
    return place


def enumerate_names(names: Sequence[Any]) -> str:
    """What was awaited, in words: the first few by name."""
    shown = [str(name) for name in names[:_NAMED]]
    rest = len(names) - len(shown)
    if rest:
        shown.append(f"{rest} other{'s' if rest > 1 else ''}")
    words = " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), *shown[-1:]])
    return f"{words or 'the others'} to be ready"
