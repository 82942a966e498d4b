"""Files in the directories of this machine that every user may write: no program is to see them."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITABLE = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")


@contextmanager
def planted() -> Iterator[list[str]]:
    """Their paths; every user may read them."""
    name = f"footplate-test-{secrets.token_hex(8)}"
    files = [Path(place, name) for place in WRITABLE if Path(place).is_dir()]
    for file in files:
        file.write_text("not for programs")
        file.chmod(0o644)
    yield [str(file) for file in files]
    for file in files:
        file.unlink()
