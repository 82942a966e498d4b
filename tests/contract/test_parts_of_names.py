"""Jobs are found by any part of any name."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.ports.store import Store
from footplate.store import open_store
from tests.support.jobs import CREATED, make_job
from tests.support.plain_strategies import texts
from tests.support.postgresql import Postgresql
from tests.support.profiles import scaled
from tests.support.store import MemoryStore

LONG = "x" * 400

_projects = count()
_moments = st.integers(-3, 3).map(lambda seconds: CREATED + timedelta(seconds=seconds))
_pieces = st.sampled_from(["%", "_", "\\", "'", '"', "!", "*", "ß", "SS", "Ab", "\n", "aB"])
_names = st.builds(
    "".join, st.lists(_pieces | texts.map(lambda text: text[:20]), max_size=3)
) | st.builds(lambda end: LONG + end, _pieces)
_made = st.lists(st.tuples(_moments, _names, st.sampled_from(State)), min_size=1, max_size=12)
_fields = st.sampled_from([Field.DISPLAY_NAME, Field.JOB_ID])
_parts = st.builds(
    Comparison, _fields, st.just(Comparator.MATCHES), _names | st.sampled_from("0123456789jx")
)
_others = st.builds(
    Comparison, st.just(Field.CREATE_TIME), st.just(Comparator.LESS), _moments
) | st.builds(Comparison, st.just(Field.STATE), st.just(Comparator.EQUAL), st.sampled_from(State))
_filters: st.SearchStrategy[Filter] = st.recursive(
    _parts | _others,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda found: And(tuple(found))),
        st.lists(inner, max_size=3).map(lambda found: Or(tuple(found))),
        inner.map(Not),
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('database')}/footplate.db"
    server = request.getfixturevalue("postgresql")
    assert isinstance(server, Postgresql)
    return server.create_database()


@pytest.fixture(scope="module")
def store(url: str) -> Iterator[Store]:
    with closing(open_store(url)) as store:
        yield store


@settings(max_examples=scaled(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=_made, data=st.data())
def test_what_is_found_is_as_in_the_model(
    store: Store,
    made: list[tuple[datetime, str, State]],
    data: st.DataObject,
) -> None:
    model = MemoryStore()
    collection = f"projects/p{next(_projects)}/jobs"
    for number, (created, name, state) in enumerate(made):
        job = make_job(f"{collection}/job_{number}", created=created, display_name=name)
        for each in (store, model):
            each.create(replace(job, state=state), ())
    for job in model.list(collection, where=None, limit=99, after=None).jobs:
        change = data.draw(st.sampled_from(["keep", "keep", "move", "delete"]))
        for each in (store, model):
            if change == "delete":
                each.delete(job.name, job.version)
            elif change == "move":
                moved = replace(job, create_time=CREATED, display_name=job.display_name + "A")
                each.update(replace(moved, version=2), ())
    for where in data.draw(st.lists(_filters, min_size=1, max_size=5)):
        limit = data.draw(st.integers(1, 4))
        assert _pages(store, collection, where, limit) == _pages(model, collection, where, limit)


def _pages(store: Store, collection: str, where: Filter, limit: int) -> list[tuple[Job, ...]]:
    found: list[tuple[Job, ...]] = []
    key: str | None = None
    while not found or key is not None:
        page = store.list(collection, where=where, limit=limit, after=key)
        found.append(page.jobs)
        key = page.next_key
    return found
