"""Backups of a data directory, made while the service runs, and their restoration."""

from footplate.backup.restoration import UNFINISHED, Restored, check, find_newest, restore
from footplate.backup.snapshot import Made, make_backup, prune

__all__ = [
    "UNFINISHED",
    "Made",
    "Restored",
    "check",
    "find_newest",
    "make_backup",
    "prune",
    "restore",
]
