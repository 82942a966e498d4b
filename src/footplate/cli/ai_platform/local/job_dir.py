"""``--job-dir`` of a local run: a local folder, or a path in a bucket."""

from __future__ import annotations

import os
from pathlib import Path

from footplate.domain.errors import InvalidArgument
from footplate.domain.names import GcsUri

_FIELD = "--job-dir"


def read_job_dir(text: str | None) -> str | GcsUri | None:
    """An absolute path, or the place in a bucket; None: none was given.

    Raises:
        InvalidArgument: it is neither, or a file stands there.
    """
    if not text:
        return None
    if text.startswith("gs://"):
        return GcsUri.parse(text, _FIELD)
    if "://" in text:
        raise InvalidArgument(f"{_FIELD}: {text!r} given; allowed: a folder, or gs://BUCKET/PATH")
    path = Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100  .. are taken out
    if path.exists() and not path.is_dir():
        raise InvalidArgument(f"{_FIELD}: {path} is a file; allowed: a folder, or gs://BUCKET/PATH")
    return str(path)
