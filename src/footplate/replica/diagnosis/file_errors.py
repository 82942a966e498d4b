"""Advice about file errors: full disks, permissions, URIs used as paths."""

from __future__ import annotations

import os
import re

from footplate.replica.lost_files import WAYS_OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_QUOTED = re.compile(r"""['"]([^'"]+)['"]\s*$""")
_FULL = re.compile(r"No space left on device|Disk quota exceeded|\[Errno (?:28|122)\]")
_DENIED = re.compile(r"Permission denied|PermissionError|Read-only file system|\[Errno 30\]")
_LOCAL_SCHEME = re.compile(r"(?:Permission denied|File exists|Not a directory).*'gs:/?'")
"""The error of what would make the folder ``gs:`` in the working directory."""
_SCHEME = re.compile(r"gs:/{1,2}([a-z0-9][\w.-]+)(/[^\s'\"),]*)?")
_NO_FILE = re.compile(
    r"FileNotFoundError|No such file|NotFoundError|scheme 'gs' not implemented|does not exist"
    r"|not implemented \(file|HTTP request|NotADirectoryError|OSError|DefaultCredentialsError"
    r"|PermissionError|Permission denied|Unable to (?:synchronously )?(?:open|create) file"
)
_REMOTE = re.compile(
    r"scheme 'gs' not implemented|not implemented \(file|HTTP request|DefaultCredentialsError"
    r"|errors_impl"
)
"""It took the address for what it is, and couldn't reach the bucket."""
_NO_TOOL = re.compile(
    r"No such file or directory: '(gsutil|gcloud)'|\b(gsutil|gcloud): (?:command )?not found"
    r"|Command '.*\b(gsutil|gcloud)\b.*returned non-zero exit status 127"
)
_TOO_MANY = re.compile(r"Too many open files|\[Errno 24\]")


def advise_on_files(cause: str, facts: ReplicaFacts) -> str:
    tool = _NO_TOOL.search(cause)
    if tool is not None:
        name = next(group for group in tool.groups() if group)
        return (
            f"The command {name} isn't installed on this machine. Open the bucket's files at "
            "/gcs/BUCKET/OBJECT, or use google-cloud-storage. `gcloud storage` and gsutil work "
            "where Google Cloud's command line tools are installed"
        )
    if _FULL.search(cause):
        return _advise_on_full_disk(cause, facts)
    address = _SCHEME.search(cause)
    if address is not None and _NO_FILE.search(cause):
        path = f"/gcs/{address.group(1)}{address.group(2) or ''}"
        if _REMOTE.search(cause):
            return f"Open the file at {path} instead: buckets are folders, here and on Vertex AI"
        return f"Open the file at {path} instead. {WAYS_OUT}"
    if _LOCAL_SCHEME.search(cause):
        return WAYS_OUT
    if _DENIED.search(cause):
        return (
            "Programs are root in Google's images; here they run as the service's user, or as "
            "their own user if the service runs as root. They can write the working directory, "
            "HOME, /tmp, new directories in / and buckets (/gcs/BUCKET), but no files of the "
            "service"
        )
    if _TOO_MANY.search(cause):
        return (
            "The program reached its limit of open files: close files, sockets and data loader "
            "workers. The program has the service's limit: raise it with `ulimit -n` before "
            "`footplate up`"
        )
    return ""


def _advise_on_full_disk(cause: str, facts: ReplicaFacts) -> str:
    named = _QUOTED.search(cause)
    path = named.group(1) if named is not None and named.group(1).startswith("/") else ""
    real = _existing(facts.real_path(path or "/tmp"))  # noqa: S108  as the program sees it
    try:
        disk = os.statvfs(real)
    except (OSError, ValueError):  # an advice without figures
        return "A disk is full: free some space on it, or let the program write less"
    free, size = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    state = f"{_amount(free)} of {_amount(size)} are free now"
    return (
        f"The disk of {path or 'the working directory'} (on the host {real}: {state}) is "
        "full. Free some space there, let the program write less, or start the service with "
        "another --data-dir"
    )


def _existing(path: str) -> str:
    while path != os.path.dirname(path) and not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _amount(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
