"""The rendezvous phase: a replica of a gang waits until all others are ready."""

from __future__ import annotations

import os
import socket

from footplate.protocol.task import ContainerTask
from footplate.replica.file_io import read_text
from footplate.replica.phase import Delivering, Phase, fail
from footplate.replica.program_spec import TaskError
from footplate.replica.report_client import HOLD_S
from footplate.replica.starting import Starting

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from typing import Sequence

    from footplate.protocol.task import Address, Start
    from footplate.replica.context import Context
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.program_start import Startable


HOSTS = "/etc/hosts"


def write_hosts(directory: str, host: str) -> list[tuple[str, str]]:
    """Writes a hosts file for a program at ``host``, in place of the machine's; returns the file's
    path with that of the machine's.

    Programs find their own address by the machine's name, and tell it to their peers: PyTorch's
    gloo does. Raises OSError.
    """
    try:
        text = read_text(HOSTS)
    except OSError:  # where there is no such file, nothing can be mounted over it
        return []
    path = os.path.join(directory, "hosts")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(compose_hosts(text, host, socket.gethostname()))
    return [(path, HOSTS)]


def compose_hosts(text: str, host: str, name: str) -> str:
    """Returns the hosts file ``text``, changed so that the machine's ``name`` leads to ``host``.

    A machine called localhost keeps its name: programs take that for their loopback.
    """
    if name.partition(".")[0] == "localhost":
        return text
    own, lines = {name: None}, []
    for line in text.splitlines():
        words, mark, comment = line.partition("#")
        address, *names = words.split() or [""]
        mine = [each for each in names if each.partition(".")[0] == name.partition(".")[0]]
        own.update(dict.fromkeys(mine))
        others = [each for each in names if each not in mine]
        if not mine:
            lines.append(line)
        elif others:
            lines.append(f"{address} {' '.join(others)} {mark}{comment}".rstrip())
    first = sorted(own, key=lambda each: "." not in each)  # the full name is the canonical one
    return "\n".join([f"{host} {' '.join(first)}", *lines, ""])


HOST = "127.0.0.1"
OPEN_PORTS = 1
"""How many ports the program may use besides its own."""
LONGEST_GAP_S = 2 * HOLD_S
"""Between two answers no more than this counts as time in which the others were awaited."""
_NAMED = 3


class Ports:
    """Ports reserved on this machine until ``release``.

    They are held on every address, as programs may listen on every one; nothing listens there.
    """

    def __init__(self, wanted: Sequence[int], host: str = HOST) -> None:
        """Reserves the ports ``wanted``, by number; 0 stands for any free port. ``host`` is the
        address at which other replicas find them.

        Raises:
            OSError: one is taken, or none is free.
        """
        self.host = host
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
        """The port of the program itself."""
        return self.numbers[0]

    @property
    def open_ports(self) -> list[int]:
        return self.numbers[1:]

    def release(self) -> None:
        while self._held:
            self._held.pop().close()


class Rendezvous(Phase):
    """The phase in which the replica has reported its address, and waits until all replicas of its
    gang are ready.

    Only time in which the server answers counts: while the server is away it can't learn that a
    replica is ready, and no replica is to blame.
    """

    def __init__(self, context: Context, program: Startable) -> None:
        """Reserves the program's ports, and reports its address. Raises TaskError, OSError."""
        super().__init__(context)
        program.check(context)
        self._program = program
        self._limit_s = context.task.gathering_s or 0.0
        self._waited_s = 0.0
        self._heard_at = context.monotonic()
        context.keep_record()
        self._ports = reserve_address(context, program.view)
        where = {"host": self._ports.host, "port": self._ports.port}
        context.journal.state("READY", **where, open_ports=self._ports.open_ports)
        context.report_client.ask_to_start()

    def advance(self) -> Phase:
        report_client = self.context.report_client
        if report_client.fault:
            return self._fail(
                f"the supervisor can't get the program's environment: {report_client.fault}"
            )
        answer, report_client.answer = report_client.answer, None
        if answer is not None and answer.environment is not None:
            return self._start(answer, answer.environment)
        if answer is not None and self._count() >= self._limit_s:
            names = enumerate_names(answer.awaited or ())
            return self._fail(f"waited {self._limit_s:g} s for {names}")
        return self

    def stop(self) -> Phase:
        self._ports.release()
        return Delivering(
            self.context, "STOPPED", 0, "the replica was stopped before its program started"
        )

    def _count(self) -> float:
        """Returns the seconds waited so far, now that the server has answered again."""
        now = self.context.monotonic()
        self._waited_s += min(now - self._heard_at, LONGEST_GAP_S)
        self._heard_at = now
        return self._waited_s

    def _start(self, answer: Start, environment: tuple[tuple[str, str], ...]) -> Phase:
        context, program = self.context, self.context.task.program
        context.task.environment = environment
        if isinstance(program, ContainerTask) and answer.program is not None:
            # Its arguments name what is known only now.
            program.command, program.args = answer.program.command, answer.program.args

        def start() -> Phase:
            context.home.write("task.json", context.task.encode())
            # Released as late as possible: from here on any process of the machine can take the
            # ports before the program does.
            self._ports.release()
            return self._program.start(context)

        return Starting(context, start)

    def _fail(self, cause: str) -> Phase:
        self._ports.release()
        return fail(self.context, cause)


def take_ports(address: Address | None, host: str = HOST) -> Ports:
    """Reserves free ports; after a restart, the ports of the ``address`` that the peers know.

    Raises:
        TaskError: somebody else has one of them now.
        OSError: there are none.
    """
    if address is None:
        return Ports([0] * (1 + OPEN_PORTS), host)
    if address.host != host:
        there = f"{address.host}, where other replicas expect it"
        raise TaskError(f"the replica can't return to {there}: its machine is {host} now")
    wanted = [address.port, *address.open_ports]
    try:
        return Ports(wanted, host)
    except OSError as error:
        ports = " or ".join(str(number) for number in wanted)
        message = (
            f"the restarted replica can't use port {ports} again, which other replicas call: "
            f"{error.strerror}"
        )
        raise TaskError(message) from error


def reserve_address(context: Context, view: MountNamespace | None) -> Ports:
    """Reserves the program's ports at the address where its gang reaches it; after a restart the
    same ports.

    On the machine of an engine the machine's name leads the program to that address, too. Raises
    TaskError, OSError.
    """
    host = context.ticket.host or HOST
    if view is not None and host != HOST:
        view.files = [*view.files, *write_hosts(context.home.path, host)]
    return take_ports(context.task.address, host)


def enumerate_names(names: Sequence[str]) -> str:
    """Returns the names of replicas as a phrase: the first few, and the number of others."""
    shown = list(names[:_NAMED])
    rest = len(names) - len(shown)
    if rest:
        shown.append(f"{rest} other{'s' if rest > 1 else ''}")
    words = " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), *shown[-1:]])
    return f"{words or 'the others'} to be ready"
