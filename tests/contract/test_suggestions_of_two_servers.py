"""Two servers of one PostgreSQL that are asked for suggestions at once."""

from __future__ import annotations

import threading
from contextlib import closing

from footplate.control.suggestions import Suggester
from footplate.control.suggestions.model_fitting import Models
from footplate.domain.studies.records import TrialRecord
from footplate.store import SqlStore, open_store
from tests.support.clock import FakeClock
from tests.support.postgresql import Postgresql
from tests.support.study_records import make_study

ASKED = 4


def test_no_trial_is_given_to_two_clients(postgresql: Postgresql) -> None:
    url, study = postgresql.create_database(), make_study()
    given: list[TrialRecord] = []
    start = threading.Barrier(2)

    def ask(store: SqlStore, client: str) -> None:
        suggester = Suggester(store.studies, Models(store.studies), FakeClock())
        start.wait()
        for _ in range(ASKED):
            given.extend(suggester.suggest(study.uid, 2, client).trials)

    with closing(open_store(url)) as one, closing(open_store(url)) as other:
        one.studies.create(study)
        threads = [
            threading.Thread(target=ask, args=(store, name))
            for name, store in (("one", one), ("other", other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kept = one.studies.load(study.uid)
    assert sorted(trial.number for trial in given) == list(range(1, 4 * ASKED + 1))
    assert {trial.number: trial.client_id for trial in given} == {
        trial.number: trial.client_id for trial in kept.trials
    }
    points = [tuple(sorted(trial.point.items())) for trial in kept.trials]
    assert len(set(points)) == len(points)
