"""What is told of writes, above all of those that failed: they may have happened nevertheless."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.jobs import JobEvent
from footplate.store import TellingStore
from footplate.testing.jobs import CREATED, make_job
from footplate.testing.store import MemoryStore

if TYPE_CHECKING:
    from footplate.domain.names import JobUid

JOB = make_job()
NOTE = JobEvent(CREATED, "NOTE", "something")


class House:
    def __init__(self) -> None:
        self.kept = MemoryStore()
        self.told: list[tuple[str, JobUid]] = []
        self.store = TellingStore(
            self.kept,
            lambda uid: self.told.append(("changed", uid)),
            lambda uid: self.told.append(("appended", uid)),
        )

    def write(self, method: str) -> None:
        match method:
            case "create":
                self.store.create(JOB, ())
            case "update":
                self.store.update(replace(JOB, version=JOB.version + 1), (NOTE,))
            case "append":
                self.store.append(JOB.uid, (NOTE,))
            case "delete":
                self.store.delete(JOB.name, JOB.version)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("method", ["create", "update", "append", "delete"])
def test_each_write_is_told_after_it_also_if_it_failed(
    method: str,
    fails: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    if method != "create":
        house.kept.create(JOB, ())
    write, order = getattr(house.kept, method), house.told

    def watched(*arguments: object) -> None:
        assert order == [], "told before it was written"
        write(*arguments)
        if fails:
            raise Unavailable("the answer was lost")

    monkeypatch.setattr(house.kept, method, watched)
    if fails:
        with pytest.raises(Unavailable):
            house.write(method)
    else:
        house.write(method)

    assert house.told == [("appended" if method == "append" else "changed", JOB.uid)]
