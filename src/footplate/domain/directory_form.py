"""The form in which programs get the directories of their job."""

from __future__ import annotations

from enum import Enum


class DirectoryForm(Enum):
    """The form of the directories' names that programs get.

    These are the values of the setting ``directories`` and of the label ``footplate-directories``.
    """

    URIS = "uris"
    """``gs://BUCKET/PATH``, as in Google's services."""
    PATHS = "paths"
    """``/gcs/BUCKET/PATH``, or where that isn't mounted the path of the folder itself."""
