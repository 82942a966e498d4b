"""Name resolution in a network namespace.

A machine's own name often leads to its loopback (127.0.1.1), and programs that tell their peers
what it leads to (PyTorch's gloo) would all be found at themselves: there it leads to the
replica's address. All other names are as on the machine.
"""

from __future__ import annotations

import os
import socket

from footplate.replica.network.loopback import RESOLVERS, find_resolvers, read

HOSTS = "/etc/hosts"


def write_files(directory: str, host: str) -> list[tuple[str, str]]:
    """What a program at ``host`` is to see instead of a file of the machine, and of which.

    Raises OSError.
    """
    path = os.path.join(directory, "hosts")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(compose_hosts(read(HOSTS), host, socket.gethostname()))
    files = [(path, HOSTS), (find_resolvers(read)[0], RESOLVERS)]
    return [(source, place) for source, place in files if source and os.path.exists(place)]


def compose_hosts(text: str, host: str, name: str) -> str:
    """A hosts file as ``text``, in which the machine's ``name`` leads to ``host``.

    Unless it is localhost: programs take that for their loopback.
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
