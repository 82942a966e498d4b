"""The first program of a launcher: fetches the launcher's archive from the server and runs it.

It is the standard input of a Python on the node (3.8 or later), with its configuration behind it,
so that no token stands in a command line or in an environment. Until it has the archive, it imports
nothing of ours.
"""

from __future__ import annotations

import json
import os
import sys
import time
from _frozen_importlib_external import MAGIC_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    import http.client
    from typing import Any

LOOPBACK = "127.0.0.1"
SCRATCH = "FOOTPLATE_SCRATCH"
"""Where an image of a user's has the folder for replicas, whatever the region has."""
CHUNK_BYTES = 1 << 20
TIMEOUT_S = 30.0
RETRY_S = 1.0
LONGEST_FETCH_S = 600.0
HOME_BYTES = 32
ROOM = " " * HOME_BYTES
"""Stands behind the launcher's directory: the process that becomes the supervisor changes its
command line in place, and needs room there for the path of a HOME.
"""
_PASSED_ON = ("url", "authority", "lease_s", "archive", "supervisor", "bytecode")


def main(config: dict[str, Any]) -> None:
    os.umask(0o022)  # an engine's may be narrower; environments are for all users of programs
    replica = config["replicas"][int(os.environ[config["rank_variable"]])]
    scratch = os.environ.get(SCRATCH) or config["scratch"]
    scratch = scratch or "/tmp/footplate-%d" % os.getuid()  # noqa: S108
    archives = make_private(scratch, "archives")
    own = make_private(scratch, "launchers", replica["directory"])
    facts = {
        **{name: config[name] for name in _PASSED_ON},
        **replica,
        "scratch": scratch,
        "job": os.environ.get(config["job_variable"], ""),
        "node": os.environ.get(config["node_variable"], "") or os.uname().nodename,
    }
    end = time.monotonic() + min(config["lease_s"], LONGEST_FETCH_S)
    launcher = fetch_patiently(facts, config["archive"], archives, end)
    path = os.path.join(own, "launcher.json")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(facts, file)
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    sys.exit(become(launcher, own))


def become(launcher: str, own: str) -> int:
    """Runs the launcher in this interpreter; returns its exit status.

    Starting another one would take longer than all else that is done here. Only the command line,
    by which administrators find launchers, has to be the launcher's: where the engine's leaves no
    room for it, this process executes another interpreter.
    """
    sys.path.insert(0, launcher)
    from footplate.replica.__main__ import main as run  # that of the archive
    from footplate.replica.process_title import ProcessTitle

    words = [sys.executable, "-I", "-S", launcher, "launch", own]
    try:
        title = ProcessTitle.find()
        title.check(words, HOME_BYTES)
    except (
        OSError,
        ValueError,
    ):  # in an interpreter with a command line of its own it can run, too
        os.execv(sys.executable, [*words, ROOM])  # noqa: S606
    title.change(words)
    sys.argv[:] = words[3:]
    return run(words[4:])


def make_private(root: str, *names: str) -> str:
    """Returns a directory below ``root``, created so that only this user can see its contents."""
    os.makedirs(root, mode=0o700, exist_ok=True)
    # Below /tmp another user may have made it before, or a link in its place.
    found = os.lstat(root)
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not os.path.isdir(root):
        sys.exit("%s must be a directory that only this user may use (mode 0700)" % root)
    path = os.path.join(root, *names)
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def fetch_patiently(facts: dict[str, Any], digest: str, archives: str, end: float) -> str:
    while True:
        try:
            return fetch(facts, digest, archives)
        except (OSError, ValueError) as error:
            sys.stderr.write("%s: %s\n" % (facts["url"], error))
            if time.monotonic() > end:
                sys.exit("the server doesn't answer at %s" % facts["url"])
            time.sleep(RETRY_S)


def fetch(facts: dict[str, Any], digest: str, archives: str) -> str:
    """Returns the path of the archive with this SHA-256, from the node's cache or from the server.

    Raises OSError, ValueError.
    """
    path = os.path.join(archives, digest + ".pyz")
    own = locate(digest, facts["bytecode"], archives)
    if os.path.exists(own):
        return own
    if not os.path.exists(path):
        download(facts, digest, path)
    if own != path:
        compile_again(path, own)
    return own


def locate(digest: str, bytecode: str, archives: str) -> str:
    """Returns the path of the archive whose modules are compiled for this Python; ``bytecode`` is
    the version of bytecode, in hexadecimal, that the server's own archive has.
    """
    same = bytecode in ("", MAGIC_NUMBER.hex())
    return os.path.join(archives, digest + ("" if same else "-" + MAGIC_NUMBER.hex()) + ".pyz")


def compile_again(path: str, own: str) -> None:
    """Makes an archive for this Python from one that another has compiled.

    Done once on a node: without it each process would compile for a tenth of a second or more.
    """
    import marshal
    import zipfile

    part = "%s.%s" % (own, os.urandom(8).hex())
    unchecked = (1).to_bytes(4, "little") + bytes(8)  # against the source beside it: PEP 552
    try:
        with zipfile.ZipFile(path) as given, zipfile.ZipFile(part, "w") as made:
            for name in given.namelist():
                if name.endswith(".py"):
                    source = given.read(name)
                    code = compile(source, "supervisor/" + name, "exec", dont_inherit=True)
                    made.writestr(name, source)
                    made.writestr(name + "c", MAGIC_NUMBER + unchecked + marshal.dumps(code))
        os.replace(part, own)
    except zipfile.BadZipFile as error:
        raise ValueError("the archive is damaged: %s" % error) from error
    finally:
        if os.path.exists(part):
            os.unlink(part)


def download(facts: dict[str, Any], digest: str, path: str) -> None:
    # The supervisor's own HTTP client is in the archive that is fetched here. Imported only now: it
    # takes as long as Python's own start, and most nodes have the file.
    import hashlib
    import http.client

    # Of its own: other launchers of this node may fetch the same archive at this moment.
    part = "%s.%s" % (path, os.urandom(8).hex())
    connection = connect(facts["url"], facts["authority"])
    try:
        connection.request(
            "GET",
            "/replica/v1/launcher/archives/" + digest,
            headers={"Authorization": "Bearer " + facts["token"], "Host": LOOPBACK},
        )
        answer = connection.getresponse()
        if answer.status != 200:
            raise ValueError("HTTP %d" % answer.status)
        found = hashlib.sha256()
        with open(part, "wb") as file:
            for chunk in iter(lambda: answer.read(CHUNK_BYTES), b""):
                found.update(chunk)
                file.write(chunk)
        if found.hexdigest() != digest:
            raise ValueError("the archive arrived damaged")
        os.replace(part, path)
    except http.client.HTTPException as error:
        raise ValueError(repr(error)) from error
    finally:
        connection.close()
        if os.path.exists(part):
            os.unlink(part)


def connect(url: str, authority: str) -> http.client.HTTPConnection:
    import http.client  # as in download
    import ssl
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = parts.hostname or LOOPBACK
    if parts.scheme == "https":
        context = ssl.create_default_context(cadata=authority or None)
        return http.client.HTTPSConnection(host, parts.port, timeout=TIMEOUT_S, context=context)
    return http.client.HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
