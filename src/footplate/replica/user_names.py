"""Gives a program's user a name and a home, in its variables and in /etc/passwd as it sees that."""

from __future__ import annotations

import os

from footplate.replica.file_io import read_text, write_readable

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping

    from footplate.replica.isolation.users import User

HOME_DIRECTORY = "home"
"""Below a program's temporary directory."""
_PASSWD, _GROUP = "/etc/passwd", "/etc/group"
_NAME = "footplate"
_FIELDS = 7


def name_user(
    user: User | None, tmp: str, host: Mapping[str, str], passwd: str = _PASSWD
) -> dict[str, str]:
    """Returns variables that name the program's user; ``tmp`` is its temporary directory.

    Without a ``user``, the program runs as this process's: it has the home that the service was
    started with, if it can write that.
    """
    home = os.path.join(tmp, HOME_DIRECTORY)
    if user is not None:
        return _name(user.name, home)
    name, known = find_user(_read(passwd), os.geteuid())
    homes = [path for path in (host.get("HOME"), known) if path and os.access(path, os.W_OK)]
    return _name(name or _find_name(host), next(iter(homes), home))


def _name(name: str, home: str) -> dict[str, str]:
    return {"HOME": home, "USER": name, "LOGNAME": name}


def _find_name(host: Mapping[str, str]) -> str:
    """Returns the user's name from the host's variables, or a default.

    No file need have it: images run as any user, and names may come from a directory service.
    """
    return host.get("USER") or host.get("LOGNAME") or _NAME


def make_records(
    user: User | None,
    variables: Mapping[str, str],
    directory: str,
    places: tuple[str, str] = (_PASSWD, _GROUP),
) -> list[tuple[str, str]]:
    """Writes files into ``directory`` that a view has in place of the host's; returns each with the
    host's path.

    ``variables`` name the user. The result is empty if the host knows this process's user. Raises
    OSError.
    """
    uid, gid = (os.geteuid(), os.getegid()) if user is None else (user.uid, user.gid)
    if user is None and find_user(_read(places[0]), uid)[0]:
        return []
    name, home = variables["USER"], variables["HOME"]
    lines = (f"{name}:x:{uid}:{gid}::{home}:/bin/sh", f"{name}:x:{gid}:")
    found = []
    for place, line in zip(places, lines):  # noqa: B905  Python 3.8 has no other
        if os.path.isfile(place):
            path = os.path.join(directory, os.path.basename(place))
            write_readable(path, f"{line}\n{_read(place)}")  # the first one counts
            found.append((path, place))
    return found


def find_user(passwd: str, uid: int) -> tuple[str, str]:
    """Returns name and home of a user in the text of a passwd file; '' if he isn't in it."""
    for line in passwd.splitlines():
        fields = line.split(":")
        if len(fields) == _FIELDS and fields[2] == str(uid):
            return fields[0], fields[5]
    return "", ""


def _read(path: str) -> str:
    """Returns the text of a file; '' if there is none."""
    try:
        return read_text(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""
