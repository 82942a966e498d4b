"""Binds a bucket to storage outside the data directory, by an entry of its settings file."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from footplate.buckets.bindings import check_folders, read_bindings
from footplate.domain.errors import FailedPrecondition
from footplate.server.remote_buckets import check_packages
from footplate.settings import FILE_NAME

if TYPE_CHECKING:
    from pathlib import Path

_PRIVATE = 0o600


def bind(data_dir: Path, bucket: str, target: str, *, read_only: bool) -> Path:
    """Adds a ``[[buckets]]`` table to the settings file; returns the file.

    The table goes to the end, so that the rest stays unchanged, including comments.

    Raises:
        InvalidArgument: the name or the target is invalid, the bucket exists already, or the
            packages for the store are missing.
        FailedPrecondition: the file can't be changed.
    """
    path = (data_dir / FILE_NAME).resolve()  # of a link, the file that it leads to changes
    before = path.read_text("utf-8") if path.exists() else ""
    lines = [f"name = {json.dumps(bucket)}", f"target = {json.dumps(target)}"]
    if read_only:
        lines.append("read_only = true")
    table = "\n".join(("[[buckets]]", *lines, ""))
    separator = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    after = f"{before}{separator}{table}"
    try:
        bindings = read_bindings(tomllib.loads(after)["buckets"])
    except tomllib.TOMLDecodeError as error:
        raise FailedPrecondition(
            f"the file {path} is not TOML: {error}; correct the file, "
            f"and add this table:\n\n{table}"
        ) from None
    check_folders(bindings, data_dir)
    check_packages(bindings)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.touch(_PRIVATE, exist_ok=False)  # the settings may hold a token
    fresh.write_text(after, "utf-8")
    fresh.chmod(path.stat().st_mode & 0o777 if path.exists() else _PRIVATE)
    fresh.replace(path)
    return path
