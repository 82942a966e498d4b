"""``footplate up`` that counts the transactions of its database, for ``trivial.py``.

It writes them, as JSON, to the file that ``COUNTS`` names, whenever it gets SIGUSR1.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.cli.main import main
from footplate.store.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

COUNTS = "TRANSACTION_COUNTS"
KINDS = ("reading", "snapshot", "writing")


def count() -> None:
    counts: Counter[str] = Counter()
    for kind in KINDS:
        begin = getattr(Transactions, kind)
        setattr(Transactions, kind, _counted(begin, kind, counts))
    file = Path(os.environ[COUNTS])

    def write(*_: object) -> None:
        part = file.with_suffix(".part")
        part.write_text(json.dumps(counts))
        part.replace(file)

    signal.signal(signal.SIGUSR1, write)


def _counted(
    begin: Callable[[Transactions], AbstractContextManager[Connection]],
    kind: str,
    counts: Counter[str],
) -> Callable[[Transactions], AbstractContextManager[Connection]]:
    def counted(transactions: Transactions) -> AbstractContextManager[Connection]:
        counts[kind] += 1
        return begin(transactions)

    return counted


if __name__ == "__main__":
    count()
    main()
