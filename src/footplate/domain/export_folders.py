"""Names the folder that an export makes for its files. Pure."""

from __future__ import annotations

import re
from datetime import datetime

_STRANGE = re.compile(r"[^A-Za-z0-9_.-]+")


def export_folder(prefix: str, begin: str, name: str, at: datetime) -> str:
    """Returns a new folder below ``prefix`` for each export: ``BEGIN-NAME-TIME/``.

    Source: the references of ExportModelRequest and ExportDataConfig.
    """
    time = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{prefix.rstrip('/')}/{begin}-{_STRANGE.sub('-', name)}-{time}/"
