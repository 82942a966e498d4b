from __future__ import annotations

import pytest

from footplate.control.tokens import Tokens
from footplate.domain.errors import PermissionDenied
from footplate.domain.names import AttemptId

tokens = Tokens(b"k" * 32)
ATTEMPT = AttemptId("abc-1")


def test_a_token_speaks_for_one_replica_of_one_attempt() -> None:
    token = tokens.issue(ATTEMPT, "master-replica-0")

    assert tokens.check(token) == (ATTEMPT, "master-replica-0")
    assert token == tokens.issue(ATTEMPT, "master-replica-0")


@pytest.mark.parametrize("text", ["", ".", "..", "abc-1.master-replica-0.", "é.é.é", "a.b.c"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(PermissionDenied):
        tokens.check(text)


def test_a_token_can_not_be_turned_into_anothers() -> None:
    token = tokens.issue(ATTEMPT, "worker-replica-1")

    with pytest.raises(PermissionDenied):
        tokens.check(token.replace("worker-replica-1", "worker-replica-0"))
    with pytest.raises(PermissionDenied):
        Tokens(b"x" * 32).check(token)
