"""What was seen to work here since the machine started: it needn't be tried again."""

from __future__ import annotations

import json
import os

from footplate.replica.isolation.processes import boot_id


class Proofs:
    """Kept in the file ``path``, for all supervisors that share it; empty: in none.

    What can't be read or written is only tried again.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._proved: set[str] = set()
        try:
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
            if kept["boot"] == boot_id():
                self._proved.update(map(str, kept["proved"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass

    def __contains__(self, what: str) -> bool:
        return what in self._proved

    def add(self, what: str) -> None:
        self._proved.add(what)
        if not self._path:
            return
        part = f"{self._path}.{os.getpid()}.part"
        try:
            with open(part, "w", encoding="utf-8") as file:
                json.dump({"boot": boot_id(), "proved": sorted(self._proved)}, file)
            os.replace(part, self._path)
        except OSError:
            pass
