"""A machine whose ``ip``, ``iptables`` and ``nft`` keep in mind what they are told."""

from __future__ import annotations

import itertools

from footplate.replica.network.addresses import BRIDGE
from footplate.replica.network.ip_commands import CommandFailed, NoCommand


class Machine:
    """``tools`` are those that it has; ``broken`` makes commands fail that begin like this."""

    def __init__(self, *tools: str) -> None:
        self.tools = {"ip", *tools}
        self.broken = ""
        self.links: dict[str, int] = {}
        self.ports: set[str] = set()
        self.routes: list[str] = ["default via 192.0.2.1 dev wan0 proto dhcp"]
        self.rules: list[str] = []
        """Of iptables, the first one first."""
        self.tables: list[str] = []
        """Of nft."""
        self.told: list[str] = []
        self._indices = itertools.count(7)

    def run(self, argv: list[str], text: str = "") -> str:
        line = " ".join(argv)
        self.told.append(line)
        if argv[0] not in self.tools:
            raise NoCommand(f"there is no {argv[0]} on this machine")
        if self.broken and line.startswith(self.broken):
            raise CommandFailed(f"{line}: Operation not permitted")
        return {"ip": self._ip, "iptables": self._iptables, "nft": self._nft}[argv[0]](argv, text)

    def lose(self, link: str) -> None:
        """The kernel has removed it, with its namespace."""
        del self.links[link]
        self.ports.discard(link)

    def _ip(self, argv: list[str], _: str) -> str:
        if "route" in argv:
            wanted = argv[argv.index("show") + 1 :]
            if wanted[0] == "default":
                return "".join(f"{r}\n" for r in self.routes if r.startswith("default"))
            return "".join(f"{r}\n" for r in self.routes if not r.startswith("default"))
        match [word for word in argv[1:] if word != "-o"]:
            case ["link", "add", name, *_]:
                if name in self.links:
                    raise CommandFailed("RTNETLINK answers: File exists")
                self.links[name] = next(self._indices)
            case ["link", "set", name, "master", master, "up"]:
                assert master in self.links
                self.ports.add(name)
            case ["link", "set", name, "up"] | ["addr", "replace", _, "dev", name]:
                assert name in self.links
            case ["link", "show", "master", master]:
                self._index(master)
                return "".join(f"{self.links[port]}: {port}@if2: <UP>\n" for port in self.ports)
            case ["link", "show", "dev", name]:
                return f"{self._index(name)}: {name}@if2: <UP>\n"
            case ["link", "delete", name]:
                self._index(name)
                self.lose(name)
            case _:
                raise AssertionError(argv)
        return ""

    def _index(self, name: str) -> int:
        if name not in self.links:
            raise CommandFailed(f'Device "{name}" does not exist.')
        return self.links[name]

    def _iptables(self, argv: list[str], _: str) -> str:
        wait, t, table, action, *rest = argv[1:]
        assert (wait, t) == ("-w", "-t")
        rule = f"{table} {' '.join(rest)}"
        if action == "-I":
            self.rules.insert(0, rule)
        elif rule not in self.rules:
            raise CommandFailed("iptables: Bad rule (does a matching rule exist in that chain?).")
        elif action == "-D":
            self.rules.remove(rule)
        return ""

    def _nft(self, argv: list[str], text: str) -> str:
        if argv[1:] == ["-f", "-"]:
            self.tables = [text.split("delete table ip footplate\n")[1]]
        else:
            assert argv[1:] == ["delete", "table", "ip", "footplate"]
            if not self.tables:
                raise CommandFailed("Error: No such file or directory")
            self.tables = []
        return ""


def is_bare(machine: Machine) -> bool:
    """Whether nothing of ours is there."""
    return not (machine.links or machine.rules or machine.tables or BRIDGE in machine.links)
