"""A server at a Unix socket that answers each request with given bytes."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_LIMIT_S = 60


@contextmanager
def answering(path: Path, *pieces: bytes) -> Iterator[list[bytes]]:
    """One connection, which gets ``pieces`` and is closed; yields what was asked."""
    with answering_each(path, pieces) as asked:
        yield asked


@contextmanager
def answering_each(path: Path, *answers: Sequence[bytes]) -> Iterator[list[bytes]]:
    """A connection for each of the answers, which are pieces; yields what was asked."""
    asked: list[bytes] = []

    def serve() -> None:
        for pieces in answers:
            connection, _ = listener.accept()
            with connection:
                asked.append(connection.recv(65536))
                for piece in pieces:
                    connection.sendall(piece)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.settimeout(_LIMIT_S)  # where fewer requests come than there are answers
        listener.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        yield asked
        thread.join()
