from __future__ import annotations

import pytest

from footplate.control.tokens import Bearer, Tokens
from footplate.domain.errors import PermissionDenied
from footplate.domain.names import AttemptId

tokens = Tokens(b"k" * 32)
WORKER = Bearer(AttemptId("abc-1"), "worker-replica-1", 2)


def test_a_token_speaks_for_one_start_of_one_replica() -> None:
    token = tokens.issue(WORKER)

    assert tokens.check(token) == WORKER
    assert token == tokens.issue(WORKER)


@pytest.mark.parametrize(
    "text", ["", ".", "..", "abc-1.worker-replica-1.2.", "é.é.é", "a.b.c", "a.b.0.c"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(PermissionDenied):
        tokens.check(text)


@pytest.mark.parametrize(
    ("own", "anothers"),
    [("worker-replica-1", "worker-replica-0"), (".2.", ".3."), ("abc-1", "abc-2")],
)
def test_a_token_can_not_be_turned_into_anothers(own: str, anothers: str) -> None:
    token = tokens.issue(WORKER)

    with pytest.raises(PermissionDenied):
        tokens.check(token.replace(own, anothers))
    with pytest.raises(PermissionDenied):
        Tokens(b"x" * 32).check(token)
