"""Heads of requests as TensorFlow sends them."""

from __future__ import annotations

import pytest

from footplate.server.bounded_http import with_one_length


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("A: b|Content-Length: 0|Transfer-Encoding: identity|C: d", "A: b|Content-Length: 0|C: d"),
        ("transfer-encoding: Chunked|content-length: 12", "transfer-encoding: Chunked"),
        ("Content-Length: 12|A: b", "Content-Length: 12|A: b"),
        ("Transfer-Encoding: chunked|A: b", "Transfer-Encoding: chunked|A: b"),
        ("Transfer-Encoding: gzip, chunked|Content-Length: 1", None),
        ("Transfer-Encoding: identity, chunked", None),
        ("X-Transfer-Encoding: identity", None),
    ],
)
def test_the_length_is_said_in_one_way(given: str, kept: str | None) -> None:
    def head(lines: str) -> bytes:
        return f"PUT / HTTP/1.1|{lines}|".replace("|", "\r\n").encode()

    assert with_one_length(head(given)) == head(given if kept is None else kept)
