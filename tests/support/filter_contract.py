"""What every store selects by a filter. Subclass and give it a fixture ``store``."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_order import OrderedBy
from footplate.domain.job_states import State
from footplate.wire.filters.jobs import LONGEST_PART
from tests.support.jobs import CREATED, make_job, make_spec

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.job_order import JobOrder
    from footplate.ports.store import Page, Store

JOBS = "projects/demo/jobs"
PLACE = "projects/demo/locations/us-central1"
HOUR = timedelta(hours=1)

EQUAL, NOT_EQUAL, MATCHES = Comparator.EQUAL, Comparator.NOT_EQUAL, Comparator.MATCHES
LESS, LESS_OR_EQUAL = Comparator.LESS, Comparator.LESS_OR_EQUAL
GREATER, GREATER_OR_EQUAL = Comparator.GREATER, Comparator.GREATER_OR_EQUAL


def display_name(value: str, comparator: Comparator = MATCHES) -> Comparison:
    return Comparison(Field.DISPLAY_NAME, comparator, value)


def job_id(value: str, comparator: Comparator = MATCHES) -> Comparison:
    return Comparison(Field.JOB_ID, comparator, value)


def label(key: str, value: str, comparator: Comparator = EQUAL) -> Comparison:
    return Comparison(Field.LABEL, comparator, value, key)


def state(value: State, comparator: Comparator = EQUAL) -> Comparison:
    return Comparison(Field.STATE, comparator, value)


def created(value: datetime, comparator: Comparator) -> Comparison:
    return Comparison(Field.CREATE_TIME, comparator, value)


def started(value: datetime, comparator: Comparator) -> Comparison:
    return Comparison(Field.START_TIME, comparator, value)


def region(value: str, comparator: Comparator = EQUAL) -> Comparison:
    return Comparison(Field.REGION, comparator, value)


def author(value: str, comparator: Comparator = EQUAL) -> Comparison:
    return Comparison(Field.AUTHOR, comparator, value)


ALL = "dcba"
CASES: list[tuple[Filter, str]] = [
    (state(State.RUNNING), "b"),
    (state(State.RUNNING, NOT_EQUAL), "dca"),
    (display_name("Train 100%", EQUAL), "a"),
    (display_name("train 100%", EQUAL), ""),
    (display_name("Train 100%", NOT_EQUAL), "dcb"),
    (display_name("B", GREATER_OR_EQUAL), "dcba"),
    (display_name("Train 2", GREATER), "dcb"),
    (display_name("a", LESS), "a"),
    (display_name("train 100%"), "a"),
    (display_name("RAIN"), "ba"),
    (display_name("%"), "a"),
    (display_name("_"), "b"),
    (display_name("!"), "b"),
    (display_name("\\"), "c"),
    (display_name("'"), "c"),
    (display_name(""), ALL),
    (display_name("*"), ALL),
    (display_name("t*n"), ""),
    (display_name("T*"), "ba"),
    (display_name("*S*E"), "d"),
    (display_name("STRAßE GRÖSSE"), "d"),
    (display_name("größe"), "d"),
    (display_name("*train_1*"), "b"),
    (display_name("tr*n*1*"), "ba"),
    (display_name("*100"), ""),
    (display_name("line*next"), "c"),
    (job_id("A"), "a"),
    (job_id("b", EQUAL), "b"),
    (job_id("b", LESS_OR_EQUAL), "ba"),
    (label("team", "Vision"), "a"),
    (label("team", "vision"), ""),
    (label("team", "Vision", NOT_EQUAL), "dcb"),
    (label("team", "vis", MATCHES), "a"),
    (label("team", "*", MATCHES), "ba"),
    (label("team", "*X*", MATCHES), "b"),
    (label("Team", "*", MATCHES), ""),
    (label("team", "M", LESS), ""),
    (label("empty", ""), "b"),
    (Not(label("team", "*", MATCHES)), "dc"),
    (created(CREATED + HOUR, LESS), "a"),
    (created(CREATED + HOUR, LESS_OR_EQUAL), "ba"),
    (created(CREATED + HOUR, EQUAL), "b"),
    (created(CREATED + HOUR + timedelta(microseconds=1), GREATER_OR_EQUAL), "dc"),
    (started(CREATED + 5 * HOUR, GREATER_OR_EQUAL), "b"),
    (started(CREATED + 5 * HOUR, EQUAL), "b"),
    (started(CREATED + 9 * HOUR, LESS), "b"),
    (Not(started(CREATED + 9 * HOUR, LESS)), "dca"),
    (started(CREATED + 5 * HOUR, NOT_EQUAL), "dca"),
    (Comparison(Field.END_TIME, LESS, CREATED + 99 * HOUR), ""),
    (And(()), ALL),
    (Or(()), ""),
    (Not(And(())), ""),
    (And((display_name("train"), state(State.RUNNING))), "b"),
    (Or((display_name("größe"), label("team", "Vision"))), "da"),
    (Not(Or((state(State.QUEUED), state(State.RUNNING)))), ""),
    (And((Not(display_name("train")), Or((job_id("c"), job_id("a"))))), "c"),
    (job_id("x/../b", EQUAL), ""),
    (job_id("b", NOT_EQUAL), "dca"),
    (And((label("team", "text"), label("empty", ""))), "b"),
    (And((label("team", "text"), label("empty", "x"))), ""),
    (And((state(State.RUNNING), label("team", "text"))), "b"),
    (And((label("team", "text"), state(State.RUNNING, NOT_EQUAL))), ""),
    (And((label("team", "Vision"), job_id("b", EQUAL))), ""),
    (And((label("team", "Vision"), created(CREATED + HOUR, LESS))), "a"),
    (And((display_name("Train 100%", EQUAL), label("team", "Vision"))), "a"),
    (Or((label("team", "Vision"), label("empty", ""))), "ba"),
    (region("europe-west4"), "ca"),
    (region("europe"), ""),
    (region("europe-west4", NOT_EQUAL), "db"),
    (And((region("us-central1"), state(State.RUNNING))), "b"),
    (And((region("us-central1"), state(State.QUEUED))), "d"),
    (And((region("europe-west4"), display_name("train"))), "a"),
    (And((region("europe-west4"), label("team", "Vision"))), "a"),
    (And((region("europe-west4"), label("team", "*", MATCHES))), "a"),
    (Not(region("us-central1")), "ca"),
    (author("ann"), "c"),
    (author("an"), ""),
    (author("ann", NOT_EQUAL), "dba"),
    (And((author("ann"), state(State.QUEUED))), "c"),
]

NONSENSE: list[Filter] = [
    Comparison(Field.STATE, LESS, State.RUNNING),
    Comparison(Field.STATE, MATCHES, "RUN*"),
    Comparison(Field.CREATE_TIME, MATCHES, CREATED),
    Comparison(Field.CREATE_TIME, LESS, "yesterday"),
    Comparison(Field.START_TIME, LESS, CREATED.replace(tzinfo=None)),
    Comparison(Field.DISPLAY_NAME, EQUAL, State.RUNNING),
    Comparison(Field.LABEL, EQUAL, "Vision"),
    Comparison(Field.REGION, MATCHES, "europe"),
    Comparison(Field.AUTHOR, MATCHES, "ann"),
    Comparison(Field.REGION, EQUAL, State.RUNNING),
    Comparison(Field.REGION, EQUAL, "\0"),
]


ORDERS = [
    ((OrderedBy(Field.DISPLAY_NAME),), "cdab"),
    ((OrderedBy(Field.DISPLAY_NAME, descending=True),), "badc"),
    ((OrderedBy(Field.JOB_ID),), "abcd"),
    ((OrderedBy(Field.CREATE_TIME),), "abcd"),
    ((OrderedBy(Field.CREATE_TIME, descending=True),), "dcba"),
    ((OrderedBy(Field.START_TIME),), "bdca"),
    ((OrderedBy(Field.START_TIME, descending=True),), "bdca"),
    ((OrderedBy(Field.END_TIME),), "dcba"),
    ((OrderedBy(Field.STATE),), "dcab"),
    ((OrderedBy(Field.REGION), OrderedBy(Field.JOB_ID)), "acbd"),
    ((OrderedBy(Field.AUTHOR), OrderedBy(Field.JOB_ID)), "adcb"),
    ((OrderedBy(Field.REGION, descending=True), OrderedBy(Field.JOB_ID)), "bdac"),
]


class FilterContract:
    @pytest.mark.parametrize(("where", "expected"), CASES, ids=str)
    def test_a_filter_selects(self, store: Store, where: Filter, expected: str) -> None:
        _create_four(store)
        assert _found(store, where) == expected

    @pytest.mark.parametrize("limit", [1, 2, 3, 9])
    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (None, ["alone", "tuned", "trained", "other"]),
            (display_name("tra"), ["trained"]),
            (display_name("of"), ["of tuned", "of trained"]),
            (label("team", "ads"), ["trained"]),
            (Not(label("team", "ads")), ["alone", "tuned", "other"]),
        ],
    )
    def test_a_pipeline_in_the_lists_stands_for_the_job_that_runs_its_program(
        self, store: Store, where: Filter | None, expected: list[str], limit: int
    ) -> None:
        """A job whose pipeline isn't in the lists, or was deleted, stays."""
        _create_pipelines(store)
        kinds = ("customJobs", "hyperparameterTuningJobs", "trainingPipelines")
        lists = {f"{PLACE}/{kind}": where for kind in kinds}
        forward = [store.list_several(lists, limit=limit, once=True)]
        while (key := forward[-1].next_key) is not None:
            forward.append(store.list_several(lists, limit=limit, after=key, once=True))
        assert _titles(*forward) == expected
        back = [forward[-1]]
        while (key := back[0].previous_key) is not None:
            back = [store.list_several(lists, limit=limit, before=key, once=True), *back]
        assert _titles(*back) == expected
        newest = (OrderedBy(Field.CREATE_TIME, descending=True),)
        ordered = [store.list_in_order(lists, newest, limit=limit, once=True)]
        while (key := ordered[-1].next_key) is not None:
            page = store.list_in_order(lists, newest, limit=limit, after=key, once=True)
            ordered.append(page)
        assert _titles(*ordered) == expected
        lists.popitem()
        assert "of trained" in _titles(store.list_several(dict.fromkeys(lists), limit=9, once=True))

    @pytest.mark.parametrize("letter", ["a", "%", "\u0390"])
    def test_the_longest_parts_are_looked_for(self, store: Store, letter: str) -> None:
        """The last letter is three, of two bytes each, where its case doesn't count."""
        _create_four(store)
        store.create(make_job(f"{JOBS}/e", display_name=letter * 500), ())
        assert _found(store, display_name(letter * 500)) == "e"
        assert _found(store, display_name(letter * LONGEST_PART)) == ""
        assert _found(store, label("team", letter * LONGEST_PART, MATCHES)) == ""

    @pytest.mark.parametrize("where", NONSENSE, ids=str)
    def test_nonsense_is_refused(self, store: Store, where: Filter) -> None:
        _create_four(store)
        for whole in (where, Not(where), And((display_name("x"), where))):
            with pytest.raises(InvalidArgument):
                store.list(JOBS, where=whole, limit=9, after=None)

    @pytest.mark.parametrize("limit", [1, 2, 9])
    @pytest.mark.parametrize(("order", "expected"), ORDERS, ids=str)
    def test_an_order_holds_over_pages(
        self, store: Store, order: JobOrder, expected: str, limit: int
    ) -> None:
        _create_four(store)
        store.create(make_job("projects/other/jobs/e", display_name="a"), ())
        found, after = "", None
        for _ in range(9):
            page = store.list_in_order({JOBS: None}, order, limit=limit, after=after)
            found += "".join(job.name.job_id for job in page.jobs)
            after = page.next_key
            if after is None:
                break
        assert found == expected

    def test_an_order_is_one_of_several_lists_with_their_filters(self, store: Store) -> None:
        _create_four(store)
        store.create(make_job("projects/other/jobs/e", display_name="s"), ())
        lists = {JOBS: display_name("train"), "projects/other/jobs": None, "projects/no/jobs": None}
        page = store.list_in_order(lists, (OrderedBy(Field.DISPLAY_NAME),), limit=9)
        assert "".join(job.name.job_id for job in page.jobs) == "eab"
        assert store.list_in_order({}, (OrderedBy(Field.STATE),), limit=9).jobs == ()

    @pytest.mark.parametrize("key", ["", "x", "W10", "WyJhIl0", "WzEsMiwiYSJd", "W1tdLDEsImEiXQ"])
    def test_a_key_of_another_order_is_refused(self, store: Store, key: str) -> None:
        with pytest.raises(InvalidArgument):
            store.list_in_order({JOBS: None}, (OrderedBy(Field.STATE),), limit=9, after=key)

    def test_labels_are_found_as_they_were_last_written(self, store: Store) -> None:
        job = make_job(labels=(("a", "1"), ("b", "2")))
        store.create(job, ())
        store.update(replace(job, labels=(("b", "3"), ("c", "4")), version=2), ())
        for key, value, found in ("a", "1", 0), ("b", "2", 0), ("b", "3", 1), ("c", "4", 1):
            page = store.list(JOBS, where=label(key, value), limit=9, after=None)
            assert len(page.jobs) == found

    def test_pages_are_of_what_the_filter_selects(self, store: Store) -> None:
        _create_four(store)
        where = display_name("train")
        first = store.list(JOBS, where=where, limit=1, after=None)
        second = store.list(JOBS, where=where, limit=1, after=first.next_key)
        assert [job.name.job_id for job in first.jobs + second.jobs] == ["b", "a"]
        assert second.next_key is None

    def test_pages_of_a_label_are_newest_first(self, store: Store) -> None:
        """Also after another time was written for one."""
        labels = (("team", "vision"),)
        for index, name in enumerate("abc"):
            job = make_job(f"{JOBS}/{name}", labels=labels)
            store.create(replace(job, create_time=CREATED + index * HOUR), ())
        store.create(make_job("projects/other/jobs/a", labels=labels), ())
        moved = replace(store.get(make_job(f"{JOBS}/a").name), create_time=CREATED + 9 * HOUR)
        store.update(replace(moved, version=2), ())
        where, after = label("team", "vision"), None
        found = ""
        for _ in range(3):
            page = store.list(JOBS, where=where, limit=1, after=after)
            found, after = found + page.jobs[0].name.job_id, page.next_key
        assert (found, after) == ("acb", None)


def _create_pipelines(store: Store) -> None:
    def make(kind: str, uid: str, title: str, at: int, **given: Any) -> None:
        name, created = f"{PLACE}/{kind}/{uid}", CREATED + at * HOUR
        store.create(make_job(name, uid=uid, display_name=title, created=created, **given), ())

    ads = (("team", "ads"),)
    make("customJobs", "xp", "other", 0)
    make("trainingPipelines", "b", "trained", 1, labels=ads)
    make("customJobs", "bp", "of trained", 2, labels=ads)
    make("trainingPipelines", "a", "tuned", 3)
    make("hyperparameterTuningJobs", "ap", "of tuned", 4)
    make("customJobs", "c", "alone", 5)


def _titles(*pages: Page) -> list[str]:
    return [job.display_name for page in pages for job in page.jobs]


def _create_four(store: Store) -> None:
    a = make_job(f"{JOBS}/a", display_name="Train 100%", labels=(("team", "Vision"),))
    labels = (("team", "text"), ("empty", ""))
    b = make_job(f"{JOBS}/b", display_name="train_1!", labels=labels, state=State.RUNNING)
    c = make_job(f"{JOBS}/c", display_name="line's \\ end\nnext")
    d = make_job(f"{JOBS}/d", display_name="strasse Größe")
    b = replace(b, start_time=CREATED + 5 * HOUR)
    a, c = (replace(job, spec=make_spec(region="europe-west4")) for job in (a, c))
    b, c = replace(b, author="bob"), replace(c, author="ann")
    for index, job in enumerate((a, b, c, d)):
        store.create(replace(job, create_time=CREATED + index * HOUR), ())


def _found(store: Store, where: Filter) -> str:
    page = store.list(JOBS, where=where, limit=9, after=None)
    return "".join(job.name.job_id for job in page.jobs)
