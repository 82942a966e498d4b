from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, update

from footplate.domain.errors import DataLoss
from footplate.store import open_store
from footplate.store.tables import jobs
from tests.support.jobs import make_job


def test_a_damaged_record_stops_no_other_job(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"sqlite:///{tmp_path}/footplate.db"
    whole, damaged = (make_job(f"projects/p/jobs/{n}", uid=n) for n in ("whole", "damaged"))
    with closing(open_store(url)) as store:
        store.create(whole, ())
        store.create(damaged, ())
        _damage(url, damaged.uid)

        assert store.active() == (whole,)
        assert "the stored record of job damaged can't be read" in caplog.text
        with pytest.raises(DataLoss):
            store.get_by_uid(damaged.uid)


def _damage(url: str, uid: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(update(jobs).where(jobs.c.uid == uid).values(spec="{}"))
    engine.dispose()
