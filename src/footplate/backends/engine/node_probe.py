"""Reports what jobs find on a node: the program of a probe job.

It imports nothing of ours, and runs on Python 3.8: ``footplate regions check`` sends it as it is.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

TYPE_CHECKING = False  # without the module typing, as the launcher's program
if TYPE_CHECKING:
    from typing import Any

PYTHON = (3, 8)
TIMEOUT_S = 5.0
MIN_FREE_BYTES = 1 << 30
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


class Fault(Exception):
    """Something that jobs need is missing; the message says what to do."""


def report(config: dict[str, Any]) -> None:
    """Prints facts, problems and the output of the other program as JSON."""
    found: dict[str, Any] = {"facts": [], "problems": [], "printed": ""}
    for thing, look in CHECKS:
        try:
            fact = look(config)
        except Fault as error:
            found["problems"].append("%s: %s" % (thing, error))
        else:
            found["facts"] += ["%s: %s" % (thing, fact)] if fact else []
    if config["program"]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(config["program"], "program", "exec"), {"__name__": "__main__"})  # noqa: S102  ours
        found["printed"] = printed.getvalue()
    sys.stdout.write(json.dumps(found) + "\n")


def describe_node(_: dict[str, Any]) -> str:
    return "the probe job ran on %s as user %d" % (os.uname().nodename, os.getuid())


def check_python(_: dict[str, Any]) -> str:
    version = "%d.%d.%d at %s" % (*sys.version_info[:3], sys.executable)
    if sys.version_info < PYTHON:
        raise Fault("%s given; allowed: 3.8 or later. Name one in python" % version)
    return version


def check_scratch(config: dict[str, Any]) -> str:
    path = config["scratch"] or "/tmp/footplate-%d" % os.getuid()  # noqa: S108
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.lstat(path)
        if status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise Fault("%s must be a directory that only this user may use (mode 0700)" % path)
        return "%s is writable, %s" % (path, _try_to_write(path))
    except OSError as error:
        raise Fault(
            "%s can't be used: %s; name another folder in scratch" % (path, error)
        ) from None


def check_shared(config: dict[str, Any]) -> str:
    path = config["shared"]
    if not path:
        return ""
    try:
        os.makedirs(path, exist_ok=True)
        return "%s is writable, %s" % (path, _try_to_write(path))
    except OSError as error:
        raise Fault(
            "%s can't be used: %s; mount it on all nodes, or leave out shared" % (path, error)
        ) from None


def _try_to_write(path: str) -> str:
    """Returns how much space is free. Raises OSError, Fault."""
    with tempfile.NamedTemporaryFile(dir=path, prefix="check-") as file:
        file.write(b"x")
        file.flush()
    free = shutil.disk_usage(path).free
    if free < MIN_FREE_BYTES:
        raise Fault("%s has only %d MB free" % (path, free >> 20))
    return "%.1f GB free" % (free / 1e9)


def check_buckets(config: dict[str, Any]) -> str:
    path = config["buckets"]
    if not path:
        return "nodes copy what jobs name"
    if not os.path.isdir(path):
        raise Fault('%s is not on the node: mount it there, or set files = "copied"' % path)
    return "%s is there" % path


def check_uv(config: dict[str, Any]) -> str:
    own = config["uv"]
    path = own if os.access(own, os.X_OK) else shutil.which("uv")
    if path is None:
        raise Fault(
            "it is neither at %s nor in PATH, and packaged trainers need it; install uv" % own
        )
    return "%s at %s" % (_run(path, "--version"), path)


def check_address(config: dict[str, Any]) -> str:
    url = config["url"]
    if not url:
        return ""
    import http.client
    import ssl
    from urllib.parse import urlsplit

    parts, begun_s = urlsplit(url), time.monotonic()
    context = ssl.create_default_context(cadata=config["authority"] or None)
    connection = http.client.HTTPSConnection(
        str(parts.hostname), parts.port, timeout=TIMEOUT_S, context=context
    )
    try:
        connection.request("GET", "/replica/v1/launcher/archives/0", headers={"Host": "127.0.0.1"})
        connection.getresponse()  # without a token it refuses, and so has answered
    except (OSError, http.client.HTTPException) as error:
        raise Fault(
            "the node doesn't reach %s: %s; set cluster_address to an address that nodes reach, "
            "and let the port through" % (url, error)
        ) from None
    finally:
        connection.close()
    return "%s answers in %d ms" % (url, 1000 * (time.monotonic() - begun_s))


def check_gpus(config: dict[str, Any]) -> str:
    seen = [name for name in VISIBLE if os.environ.get(name, "") not in ("", "void", "NoDevFiles")]
    shown = ", ".join("%s=%s" % (name, os.environ[name]) for name in seen)
    files = [name for name in os.listdir("/dev") if name == "kfd" or name[:6] == "nvidia"]
    if not seen and not files:
        if config["gpu"]:
            raise Fault("a job that asks for one %s sees none on its node" % config["gpu"])
        return "none in a job that asks for none"
    said = _run("nvidia-smi", "-L") if shutil.which("nvidia-smi") else ""
    names = [line.partition(" (UUID")[0] for line in said.splitlines()]
    return "; ".join(filter(None, (shown, ", ".join(names)))) or "device files alone"


def _run(*command: str) -> str:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Fault("%s fails: %s" % (command[0], error)) from None
    return done.stdout.decode(errors="replace").strip()


CHECKS = (
    ("node", describe_node),
    ("python", check_python),
    ("scratch", check_scratch),
    ("shared", check_shared),
    ("buckets", check_buckets),
    ("uv", check_uv),
    ("address", check_address),
    ("gpus", check_gpus),
)
