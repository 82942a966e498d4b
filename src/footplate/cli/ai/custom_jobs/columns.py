"""The table of custom jobs."""

from __future__ import annotations

COLUMNS = {
    "NAME": "name",
    "DISPLAY_NAME": "displayName",
    "STATE": "state",
    "CREATED": "createTime",
}
