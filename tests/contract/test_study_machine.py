"""Any sequence of calls leaves the SQL stores of studies and the one in memory alike."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from footplate.domain.errors import ServiceError
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.records import Report, StudyRecord, TrialRecord
from footplate.ports.studies import StudyStore
from footplate.store.database_setup import bring_up_to_date
from footplate.store.sql_engines import make_engine, parse_url
from footplate.store.studies.studies import SqlStudies
from footplate.store.transactions import Transactions
from tests.support import study_strategies as strategies
from tests.support.jobs import CREATED
from tests.support.postgresql import Postgresql
from tests.support.profiles import scaled
from tests.support.studies import MemoryStudies

LOCATION = "projects/p/locations/l/studies"
MOST = 4

# Few values, so that they meet.
uids = st.sampled_from("uvwx").map(StudyUid)
names = st.builds(StudyName, st.just("p"), st.just("l"), st.sampled_from("123"))
display_names = st.sampled_from(["", "a", "A"])
numbers = st.integers(1, 4)
few_times = st.integers(0, 2).map(lambda micros: CREATED.replace(microsecond=micros))
studies = st.builds(
    replace,
    strategies.study_records,
    uid=uids,
    name=st.none() | names,
    display_name=display_names,
    create_time=few_times,
    version=st.just(1),
)
trials = st.lists(st.builds(replace, strategies.trial_records, number=numbers), max_size=3)
models = st.dictionaries(st.integers(0, 2), st.dictionaries(st.text("ab"), st.integers()))
reports = st.lists(
    st.builds(replace, strategies.reports, key=st.sampled_from("klmnop")), max_size=4
)


class StudyMachine(RuleBasedStateMachine):
    """Each rule does the same to both and compares what they answer, nan and all."""

    real: ClassVar[StudyStore]

    def __init__(self) -> None:
        super().__init__()
        self.model = MemoryStudies(MOST)

    def teardown(self) -> None:
        for uid in "uvwx":
            self.real.delete(StudyUid(uid))

    @rule(study=studies)
    def create(self, study: StudyRecord) -> None:
        self._both(lambda store: store.create(study))

    @rule(
        to=studies,
        told=trials,
        fitted=models,
        dropped=st.lists(numbers, max_size=1),
        stale=st.sampled_from([0, 0, 0, 1, -1]),
    )
    def write(
        self,
        to: StudyRecord,
        told: list[TrialRecord],
        fitted: dict[int, dict[str, object]],
        dropped: list[int],
        stale: int,
    ) -> None:
        """``stale`` 0: from the version that is there. Names stay as they are."""
        try:
            kept = self.model.load(to.uid).study
        except ServiceError:
            kept = to
        changed = replace(
            to,
            name=kept.name,
            display_name=kept.display_name,
            version=kept.version + 1 + stale,
        )
        self._both(lambda store: store.write(changed, told, fitted, dropped))

    @rule(uid=uids, number=numbers, told=reports)
    def report(self, uid: StudyUid, number: int, told: list[Report]) -> None:
        self._both(lambda store: store.report(uid, number, told))

    @rule(uid=uids)
    def delete(self, uid: StudyUid) -> None:
        self._both(lambda store: store.delete(uid))

    @rule(uid=uids, name=names, display_name=display_names, finished=st.integers(0, 2))
    def read(self, uid: StudyUid, name: StudyName, display_name: str, finished: int) -> None:
        self._both(lambda store: store.load(uid))
        self._both(lambda store: store.find(name))
        self._both(lambda store: store.lookup(LOCATION, display_name))
        self._both(lambda store: store.model(uid, finished))

    @rule(
        uid=uids,
        number=st.none() | numbers,
        after=st.integers(0, 9),
        limit=st.integers(1, 9),
    )
    def read_reports(self, uid: StudyUid, number: int | None, after: int, limit: int) -> None:
        self._both(lambda store: store.reports(uid, number, after, limit))

    @invariant()
    def same_pages(self) -> None:
        def pages(store: StudyStore) -> list[tuple[StudyRecord, ...]]:
            found: list[tuple[StudyRecord, ...]] = []
            key: str | None = None
            while not found or key is not None:
                page = store.list(LOCATION, limit=2, after=key)
                found.append(page.items)
                key = page.next_key
            return found

        self._both(pages)

    def _both(self, call: Callable[[StudyStore], object]) -> None:
        assert _outcome(self.real, call) == _outcome(self.model, call)


def _outcome(store: StudyStore, call: Callable[[StudyStore], object]) -> str:
    try:
        return repr(call(store))
    except ServiceError as error:
        return type(error).__name__


SETTINGS = settings(
    max_examples=scaled(20),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_sqlite_does_as_the_model(tmp_path: Path) -> None:
    _compare(f"sqlite:///{tmp_path}/footplate.db")


def test_postgresql_does_as_the_model(postgresql: Postgresql) -> None:
    _compare(postgresql.create_database())


def _compare(url: str) -> None:
    engine = make_engine(parse_url(url), 5.0)
    bring_up_to_date(engine)
    with closing(Transactions(engine)) as transactions:
        StudyMachine.real = SqlStudies(transactions, MOST)
        run_state_machine_as_test(StudyMachine, settings=SETTINGS)
