"""Installs packages into a new environment without running any of their code in this process.

Python runs code of packages by itself: at each start the lines of ``.pth`` files and
``sitecustomize``, and ``setup.py`` when something is built. So nothing here starts the Python of an
environment in which packages lie, but as the user of builds, in the view of builds.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat

from footplate.replica.environment.cache_removal import discard
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.installed_distributions import find_site
from footplate.replica.environment.uv import UvFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Collection, Iterator, Mapping, Sequence

    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.environment.uv import Progress, Uv
    from footplate.replica.isolation.users import User

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LOCK = "--requirement"
_WHEELS = "wheels.txt"
_WITHOUT_WHEEL = re.compile(r"Wheels are required for `([a-z0-9-]+)`")
_NAME = re.compile(r"[A-Za-z0-9._-]+(?===)")
_SEPARATORS = re.compile(r"[._-]+")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def install(
    uv: Uv,
    interpreter: Interpreter,
    path: str,
    arguments: Sequence[str],
    progress: Progress,
    *,
    variables: Mapping[str, str],
    isolated: bool = False,
    files: Mapping[str, str] | None = None,
) -> None:
    """Makes an environment at ``path``, which isn't there yet, by ``uv pip install``.

    Unpacks wheels as this process, which can link them to uv's cache: that runs no code of theirs.
    What has to be built, the user of builds installs; and all, where that can't be told beforehand,
    if ``isolated``, and with an interpreter that was fetched. ``files`` are added where packages
    lie, by name.

    Raises UvFailed, PreparationError.
    """
    words = ["--python", os.path.join(path, "bin", "python"), *arguments]
    make = ["venv", "--quiet", "--no-project", "--python", interpreter.path, path]
    complete = False
    site = find_site(path, interpreter)
    if interpreter.fetched:
        os.mkdir(path)
        with lent(path, uv.build_user):
            uv.writing(path).run(make)
        check_real([site])
    else:
        uv.run(make)
        complete = not isolated and _unpack_wheels(uv, make, words, progress, variables)
    for name, text in (files or {}).items():
        with open(os.path.join(site, name), "w", encoding="utf-8") as file:
            file.write(text)
    with lent(path, uv.build_user):
        builds = uv.writing(path)
        if not complete:
            builds.install(words, progress, variables)
        builds.compile(interpreter.path, site)
    check_real([site, os.path.join(path, "bin")])


def _unpack_wheels(
    uv: Uv, make: list[str], words: list[str], progress: Progress, variables: Mapping[str, str]
) -> bool:
    """Unpacks all packages that have wheels; returns whether that was all.

    After a failure it begins again with an empty environment: uv would count what is there in part
    as installed, and start the Python of an environment in which packages lie.
    """
    path = make[-1]
    unbuilt: set[str] = set()
    while True:
        try:
            uv.unpack(_leave_out(words, unbuilt, path), progress, variables)
        except UvFailed as failure:
            discard(path)
            uv.run(make)
            found = _WITHOUT_WHEEL.search(failure.output)
            if found is None or found.group(1) in unbuilt or _LOCK not in words:
                return False
            unbuilt.add(found.group(1))
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(path, _WHEELS))
            return not unbuilt


def _leave_out(words: list[str], names: Collection[str], path: str) -> list[str]:
    """Returns the words without the locked packages ``names``; the shorter lock is written into
    ``path``.
    """
    if not names:
        return words
    place = words.index(_LOCK) + 1
    rest = os.path.join(path, _WHEELS)
    with open(words[place], encoding="utf-8") as lock, open(rest, "w", encoding="utf-8") as file:
        wanted = True
        for line in lock:
            start = _NAME.match(line)
            if start:
                wanted = _SEPARATORS.sub("-", start.group()).lower() not in names
            if wanted:
                file.write(line)
    return [*words[:place], rest, *words[place + 1 :]]


@contextlib.contextmanager
def lent(path: str, user: User | None) -> Iterator[None]:
    """Makes the user the owner of the path in the block; afterwards all files belong to this
    process again.
    """
    if user is None:
        yield
        return
    _give(path, user.uid, user.gid)
    try:
        yield
    finally:
        _give(path, os.geteuid(), os.getegid())


def check_real(paths: Sequence[str]) -> None:
    """Checks that no directory, nor one above it, was replaced by a link. Raises
    PreparationError.
    """
    for path in paths:
        if os.path.realpath(path) != path:
            raise PreparationError(f"the installation has replaced {path} by a link")


def _give(path: str, uid: int, gid: int) -> None:
    """Gives all files to the owner; follows no links, and skips files that have another name
    elsewhere.
    """
    for _, directories, files, parent in os.fwalk(path):
        os.fchown(parent, uid, gid)
        os.fchmod(parent, os.fstat(parent).st_mode & 0o777 & ~_OTHERS_WRITE)
        for name in (*directories, *files):
            _give_entry(name, parent, uid, gid)


def _give_entry(name: str, parent: int, uid: int, gid: int) -> None:
    try:
        descriptor = os.open(name, _FLAGS, dir_fd=parent)
    except OSError:  # a link
        os.chown(name, uid, gid, dir_fd=parent, follow_symlinks=False)
        return
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and (status.st_nlink == 1 or uid == os.geteuid()):
            os.fchown(descriptor, uid, gid)
            os.fchmod(descriptor, status.st_mode & 0o777 & ~_OTHERS_WRITE)
    finally:
        os.close(descriptor)
