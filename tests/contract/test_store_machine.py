"""Any sequence of calls leaves the SQL stores and the one in memory alike."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from footplate.domain.errors import ServiceError
from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobName, JobUid, TrainingJobName
from footplate.ports.store import Store
from footplate.store import open_store
from tests.support import strategies
from tests.support.jobs import CREATED
from tests.support.plain_strategies import texts
from tests.support.postgresql import Postgresql
from tests.support.profiles import scaled
from tests.support.store import MemoryStore

names = st.builds(TrainingJobName, st.sampled_from(["p", "q"]), st.sampled_from("abcde"))
uids = st.sampled_from("uvwxyz").map(JobUid)
# Few values, so that they meet.
few_times = st.integers(0, 3).map(lambda micros: CREATED.replace(microsecond=micros))
few_texts = st.sampled_from(["", "a", "A", "b%", "b_", "ab", "aß", "Ass"]) | texts
few_labels = st.dictionaries(st.sampled_from("kl"), few_texts).map(lambda d: tuple(d.items()))
jobs = st.builds(
    replace,
    strategies.jobs,
    uid=uids,
    name=names,
    create_time=few_times,
    display_name=few_texts,
    labels=few_labels,
    start_time=st.none() | few_times,
    tuning_job=st.none() | uids,
    version=st.just(1),
)
events = st.lists(
    st.builds(replace, strategies.events, key=st.none() | st.sampled_from("123")), max_size=4
)
orders = st.sampled_from([c for c in Comparator if c is not Comparator.MATCHES])
comparators = st.sampled_from(Comparator)
patterns = few_texts | st.text("aAb*%_ß", max_size=4)
comparisons = st.one_of(
    st.builds(
        Comparison,
        st.just(Field.STATE),
        st.sampled_from([Comparator.EQUAL, Comparator.NOT_EQUAL]),
        st.sampled_from(State),
    ),
    st.builds(
        Comparison, st.sampled_from([Field.CREATE_TIME, Field.START_TIME]), orders, few_times
    ),
    st.builds(
        Comparison, st.sampled_from([Field.DISPLAY_NAME, Field.JOB_ID]), comparators, patterns
    ),
    st.builds(
        Comparison, st.just(Field.LABEL), comparators, patterns, label=st.sampled_from("klm")
    ),
)
filters: st.SearchStrategy[Filter] = st.recursive(
    comparisons,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(lambda found: And(tuple(found))),
        st.lists(parts, max_size=3).map(lambda found: Or(tuple(found))),
        parts.map(Not),
    ),
    max_leaves=5,
)


class StoreMachine(RuleBasedStateMachine):
    """Each rule does the same to both and compares what they answer."""

    written = Bundle("written")
    real: ClassVar[Store]

    def __init__(self) -> None:
        super().__init__()
        self.model = MemoryStore()

    def teardown(self) -> None:
        for project in "pq":
            collection = f"projects/{project}/jobs"
            for job in self.real.list(collection, where=None, limit=99, after=None).jobs:
                self.real.delete(job.name, job.version)

    @initialize(target=written, job=jobs)
    def begin(self, job: Job) -> Job:
        self._both(lambda store: store.create(job, ()))
        return job

    @rule(target=written, job=jobs, history=events)
    def create(self, job: Job, history: list[JobEvent]) -> Job:
        self._both(lambda store: store.create(job, history))
        return job

    @rule(of=written, to=jobs, history=events, stale=st.integers(-1, 1))
    def update(self, of: Job, to: Job, history: list[JobEvent], stale: int) -> None:
        """``stale`` 0: from the version that is there."""
        current = self._current(of)
        changed = replace(
            to,
            uid=of.uid,
            name=current.name,
            tuning_job=current.tuning_job,
            version=current.version + 1 + stale,
        )
        self._both(lambda store: store.update(changed, history))

    @rule(of=written, history=events)
    def append(self, of: Job, history: list[JobEvent]) -> None:
        self._both(lambda store: store.append(of.uid, history))

    @rule(of=written, stale=st.integers(-1, 1))
    def delete(self, of: Job, stale: int) -> None:
        version = self._current(of).version + stale
        self._both(lambda store: store.delete(of.name, version))

    @rule(name=names, uid=uids)
    def get(self, name: JobName, uid: JobUid) -> None:
        self._both(lambda store: store.get(name))
        self._both(lambda store: store.get_by_uid(uid))

    @rule(uid=uids)
    def read_runs(self, uid: JobUid) -> None:
        self._both(lambda store: store.runs(uid))

    @rule(uid=uids, after=st.integers(0, 5), limit=st.integers(1, 4))
    def read_events(self, uid: JobUid, after: int, limit: int) -> None:
        self._both(lambda store: store.events(uid, after, limit))

    @rule(project=st.sampled_from("pq"), where=st.none() | filters, limit=st.integers(1, 3))
    def walk(self, project: str, where: Filter | None, limit: int) -> None:
        def pages(store: Store) -> list[tuple[Job, ...]]:
            found: list[tuple[Job, ...]] = []
            key: str | None = None
            while not found or key is not None:
                page = store.list(f"projects/{project}/jobs", where=where, limit=limit, after=key)
                found.append(page.jobs)
                key = page.next_key
            return found

        self._both(pages)

    @invariant()
    def same_active_jobs(self) -> None:
        self._both(lambda store: store.active())
        self._both(lambda store: (store.counts(), store.counts(runs=True)))

    def _current(self, job: Job) -> Job:
        try:
            return self.model.get_by_uid(job.uid)
        except ServiceError:
            return job

    def _both(self, call: Callable[[Store], object]) -> None:
        assert _outcome(self.real, call) == _outcome(self.model, call)


def _outcome(store: Store, call: Callable[[Store], object]) -> object:
    try:
        return call(store)
    except ServiceError as error:
        return type(error)


SETTINGS = settings(
    max_examples=scaled(40),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_sqlite_does_as_the_model(tmp_path: Path) -> None:
    _compare(f"sqlite:///{tmp_path}/footplate.db")


def test_postgresql_does_as_the_model(postgresql: Postgresql) -> None:
    _compare(postgresql.create_database())


def _compare(url: str) -> None:
    with closing(open_store(url)) as StoreMachine.real:
        run_state_machine_as_test(StoreMachine, settings=SETTINGS)
