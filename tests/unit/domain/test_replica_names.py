from __future__ import annotations

import pytest

from footplate.domain.errors import NotFound
from footplate.domain.replica_names import choose_replica

VERTEX = ("workerpool0-0", "workerpool1-0", "workerpool1-1", "workerpool3-0")
ML = ("master-replica-0", "worker-replica-0", "worker-replica-1", "ps-replica-0")


@pytest.mark.parametrize(
    ("names", "wanted", "meant"),
    [
        (VERTEX, "", "workerpool0-0"),
        (VERTEX, "workerpool1-1", "workerpool1-1"),
        (VERTEX, "worker-1", "workerpool1-1"),
        (VERTEX, "chief", "workerpool0-0"),
        (VERTEX, "master-0", "workerpool0-0"),
        (VERTEX, "Evaluator", "workerpool3-0"),
        (VERTEX, "workerpool3", "workerpool3-0"),
        (ML, "", "master-replica-0"),
        (ML, "worker-0", "worker-replica-0"),
        (ML, "chief", "master-replica-0"),
        (ML, "primary", "master-replica-0"),
        (ML, "ps", "ps-replica-0"),
        (ML, "worker-replica-1", "worker-replica-1"),
    ],
)
def test_people_name_replicas_in_many_ways(names: tuple[str, ...], wanted: str, meant: str) -> None:
    assert choose_replica(wanted, names) == meant


@pytest.mark.parametrize(
    ("names", "wanted", "message"),
    [
        (VERTEX, "worker", "may be workerpool1-0 and workerpool1-1"),
        (VERTEX, "worker-2", "there are workerpool0-0, workerpool1-0"),
        (VERTEX, "ps", "there are"),
        (ML, "../x", "there are master-replica-0"),
        (ML, "work", "there are"),
    ],
)
def test_what_means_none_or_several_is_refused(
    names: tuple[str, ...], wanted: str, message: str
) -> None:
    with pytest.raises(NotFound, match=message):
        choose_replica(wanted, names)
