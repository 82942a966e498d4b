"""Which user a replica's program, its builds and its shells run as."""

from __future__ import annotations

import os

from footplate.replica.isolation import levels, users
from footplate.replica.isolation.access_lists import grant
from footplate.replica.isolation.hidden_paths import find_closed
from footplate.replica.isolation.spawn import try_in_child
from footplate.replica.isolation.users import User
from footplate.replica.program_spec import TaskError
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from footplate.replica.context import Context
    from footplate.replica.workdir import Home

BUILD_TMP = os.path.join("build", "tmp")
"""Below the directory of packages: where builds of another user write temporary files."""
USER_FILE = "user.json"
"""In HOME: the user, for builds and shells."""
_CHANGES = "programs can run as other users"
_EVERY_PROJECT = "*"
_HOME_DIRECTORY = "home"


def choose(context: Context) -> str:
    """Set the user of ``context``; returns what that guarantees, and what not.

    The ticket has ``program_users``: ``[first, last]``, or ``[uid, gid, name]``.

    Raises TaskError: no user is free.
    """
    setting = context.ticket.get("program_users")
    if not setting or os.geteuid() != 0:
        own = levels.ROOT if os.geteuid() == 0 else levels.SERVICE_USER
        return levels.describe(own.guaranteed, own.missing)
    if is_root_allowed(context):
        words = "the program runs as root, as the setting allow_root says"
        return levels.describe(words, levels.ROOT.missing)
    try:
        user = _take(setting)
    except users.NoUser as error:
        raise TaskError(str(error)) from error
    fault = "" if _CHANGES in context.capability_cache else _find_fault(user)
    fault = fault or own_directories(context.home, user)
    if fault:
        if user.reservation is not None:
            user.reservation.close()
        words = f"the program runs as root, which can't be changed here: {fault}"
        return levels.describe(words, levels.ROOT.missing)
    context.capability_cache.add(_CHANGES)
    context.user = user
    context.home.write(USER_FILE, {"user": user.encode()})
    words = f"the program runs as user {user.uid}, without capabilities"
    return levels.describe(words, "" if user.alone else levels.NAMED_USER.missing)


def is_root_allowed(context: Context) -> bool:
    """Whether the setting ``allow_root`` names the job's project."""
    project = str(context.task.get("job") or "").split("/")[1:2]
    return bool(set(context.ticket.get("allow_root") or ()) & {*project, _EVERY_PROJECT})


def _take(setting: Sequence[object]) -> User:
    """Raises NoUser."""
    if len(setting) == 2:  # first and last
        return users.reserve(int(str(setting[0])), int(str(setting[1])))
    uid, gid, name = setting
    return User(int(str(uid)), int(str(gid)), users.find_device_groups(), str(name))


def _find_fault(user: User) -> str:
    """Why no program can run as ``user`` here; empty if one can."""
    return try_in_child(lambda: users.become(user))


def own_directories(home: Home, user: User) -> str:
    """What the program writes in HOME is its user's; why that can't be, else empty."""
    directory = os.path.join(home.tmp, _HOME_DIRECTORY)
    os.makedirs(directory, exist_ok=True)
    fault = own((home.work, home.tools, home.tmp, directory), user)
    if not fault:
        for path in (home.work, home.tools, directory):
            os.chmod(path, 0o700)
    return fault


def own(paths: Sequence[str], user: User) -> str:
    """Give these to ``user``; why the file system can't, else empty. Some only seem to do it."""
    try:
        for path in paths:
            os.chown(path, user.uid, user.gid)
            if os.stat(path).st_uid != user.uid:
                return f"{path} keeps its owner"
    except OSError as error:
        return f"{error.filename} can't have another owner: {error.strerror}"
    return ""


def name_user(user: User | None, tmp: str) -> dict[str, str]:
    """The variables that tell the program of its user; ``tmp``: its temporary directory."""
    if user is None:
        return {}
    home = os.path.join(tmp, _HOME_DIRECTORY)
    return {"HOME": home, "USER": user.name, "LOGNAME": user.name}


def read(home: Home) -> User | None:
    """The one in HOME. Raises ValueError, OSError."""
    stored = (home.read(USER_FILE) or {}).get("user")
    return None if stored is None else User.decode(stored)


def take_for_builds(ticket: Mapping[str, Any]) -> User | None:
    """One for builds without a program, if ``build_users`` in the ticket says so.

    Raises OSError: no user is free.
    """
    setting = ticket.get("build_users")
    if not setting or os.geteuid() != 0:
        return None
    try:
        user = _take(setting)
    except users.NoUser as error:
        raise OSError(str(error)) from error
    return None if _find_fault(user) else user


def open_directories(context: Context, directories: Sequence[str], fault: str) -> None:
    """Let the user write ``directories`` where their owners can't be mapped; says so."""
    if context.user is None:
        return
    words = f"the owners of files in buckets can't be mapped ({fault})"
    try:
        for directory in directories:
            grant(directory, context.user.gid)
    except OSError as error:
        _fall_back(context, f"{words}, and access lists can't be set: {error}")
        return
    message = f"{words}: access lists open these directories to the programs of all jobs"
    context.journal.event("ISOLATION", message)


def require_reach(context: Context, paths: Sequence[str]) -> None:
    """Without a view of its own a user must reach all ``paths``; else the program is root."""
    closed = find_closed([find_real(path) for path in paths])
    if context.user is not None and closed:
        _fall_back(context, f"no other user can pass {closed[0]}")


def _fall_back(context: Context, reason: str) -> None:
    context.user = None
    context.home.write(USER_FILE, {"user": None})
    words = f"the program runs as root after all: {reason}"
    context.journal.event("ISOLATION", levels.describe(words, levels.ROOT.missing))
    if context.user_processes:
        context.user_processes, context.process_limits = 0, None
        context.journal.event("LIMITS", "not limited: processes: root may have as many as it likes")
