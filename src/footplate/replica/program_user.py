"""Chooses the user that a replica's program, its builds and its shells run as."""

from __future__ import annotations

import os

from footplate.protocol.promised import USER
from footplate.replica.isolation import levels, users
from footplate.replica.isolation.access_lists import grant
from footplate.replica.isolation.hidden_paths import find_closed
from footplate.replica.isolation.spawn import is_transient
from footplate.replica.isolation.users import User
from footplate.replica.program_spec import TaskError
from footplate.replica.realpath import find_real
from footplate.safe_path import directory

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.protocol.promised import Promised
    from footplate.protocol.ticket import SupervisorTicket
    from footplate.replica.context import Context
    from footplate.replica.workdir import Home

BUILD_TMP = os.path.join("build", "tmp")
"""Below the directory of packages: where builds write temporary files."""
USER_FILE = "user.json"
"""The file in HOME with the user, for builds and shells."""
_EVERY_PROJECT = "*"


def choose(context: Context, promised: Promised) -> str:
    """Sets the user of ``context``; returns a sentence on what that guarantees, and what not.

    The ticket has ``program_users``: ``[first, last]``, or ``[uid, gid, name]``. Raises TaskError,
    OSError if the promised user can't be had.
    """
    setting = context.ticket.program_users
    if not setting or os.geteuid() != 0:
        own = levels.ROOT if os.geteuid() == 0 else levels.SERVICE_USER
        return levels.describe(own.guaranteed, own.missing)
    if is_root_allowed(context):
        words = "the program runs as root, because the setting allow_root allows it"
        return levels.describe(words, levels.ROOT.missing)
    if promised.fault(USER):
        words = (
            "the program runs as root, because this machine can't change users: "
            f"{promised.fault(USER)}"
        )
        return levels.describe(words, levels.ROOT.missing)
    try:
        user = take(setting)
    except users.NoUser as error:
        raise TaskError(str(error)) from error
    try:
        own_directories(context.home, user)
    except BaseException:
        user.release()
        raise
    context.user = user
    context.home.write(USER_FILE, {"user": user.encode()})
    words = f"the program runs as user {user.uid}, without capabilities"
    return levels.describe(words, "" if user.alone else levels.NAMED_USER.missing)


def is_root_allowed(context: Context) -> bool:
    """Returns whether the setting ``allow_root`` names the job's project."""
    project = context.task.job.split("/")[1:2]
    return bool(set(context.ticket.allow_root) & {*project, _EVERY_PROJECT})


def take(setting: Sequence[object]) -> User:
    """Returns a free user, by the setting. Raises NoUser."""
    if len(setting) == 2:  # first and last
        return users.reserve(int(str(setting[0])), int(str(setting[1])))
    uid, gid, name = setting
    return User(int(str(uid)), int(str(gid)), users.find_device_groups(), str(name))


def own_directories(home: Home, user: User) -> None:
    """Makes the user own the directories in HOME that the program writes. Raises TaskError,
    OSError.
    """
    fault = own((home.work, home.tools, home.tmp, home.own), user)
    if fault:
        raise TaskError(f"the program can't run as a user of its own: {fault}")
    for path in (home.work, home.tools, home.own):
        os.chmod(path, 0o700)


def own(paths: Sequence[str], user: User) -> str:
    """Gives these directories to ``user``; returns why that can't be, or ''. Some only seem to.

    Raises OSError: for a reason that may pass, or one can't be opened: a link is in its place, say.
    """
    for path in paths:
        with directory(path) as opened:
            try:
                os.chown(opened, user.uid, user.gid)
            except OSError as error:
                if is_transient(error):
                    raise
                return f"the supervisor can't change the owner of {path}: {error.strerror}"
            if os.fstat(opened).st_uid != user.uid:
                return f"{path} keeps its owner"
    return ""


def read(home: Home) -> User | None:
    """Returns the user recorded in HOME; None without one. Raises ValueError, OSError."""
    stored = (home.read(USER_FILE) or {}).get("user")
    return None if stored is None else User.decode(stored)


def take_for_builds(ticket: SupervisorTicket) -> User | None:
    """Reserves a user for builds without a program, if the ticket has ``build_users``.

    None means that builds run as this process's user, as was promised. Raises OSError if no user is
    free.
    """
    setting = ticket.build_users
    if not setting or os.geteuid() != 0 or ticket.build_promise.fault(USER):
        return None
    try:
        return take(setting)
    except users.NoUser as error:
        raise OSError(str(error)) from error


def open_directories(context: Context, directories: Sequence[str], fault: str) -> None:
    """Lets the user write ``directories`` whose owners can't be mapped, and reports that.

    Raises TaskError, OSError if access lists can't be set.
    """
    if context.user is None or not directories:
        return
    words = f"the kernel can't map the owners of files in {' and '.join(directories)} ({fault})"
    try:
        for directory in directories:
            grant(directory, context.user.gid)
    except OSError as error:
        if is_transient(error):
            raise
        raise TaskError(f"{words}, and the supervisor can't set access lists: {error}") from error
    message = f"{words}: access lists open these directories to the programs of all jobs"
    context.journal.event("ISOLATION", message)


def require_reach(context: Context, paths: Sequence[str]) -> None:
    """Checks that a user without a view of its own reaches all ``paths``. Raises TaskError."""
    closed = find_closed([find_real(path) for path in paths])
    if context.user is not None and closed:
        raise TaskError(
            f"the program can't run as a user of its own, because this user can't enter {closed[0]}"
        )
