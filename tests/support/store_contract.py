"""What every store does: subclass these classes and give them a fixture ``store``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import (
    Aborted,
    AlreadyExists,
    Code,
    InvalidArgument,
    NotFound,
)
from footplate.domain.filters import Comparator, Comparison, Field
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import (
    ContainerProgram,
    Ending,
    Exit,
    ExitKind,
    Job,
    JobEvent,
    Replica,
    Scheduling,
)
from footplate.domain.names import JobUid, TrainingJobName
from tests.support.concurrent_calls import together
from tests.support.jobs import CREATED, make_custom_name, make_job, make_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.store import Store

JOBS = "projects/demo/jobs"
HOSTILE = "NUL \0, half a pair \ud800, a quote ' and %_\\ \n\t \u202e 🚂"
SECOND = timedelta(seconds=1)


def make_event(message: str, key: str | None = None) -> JobEvent:
    return JobEvent(CREATED, "NOTE", message, 1, "master-replica-0", key)


def next_version(job: Job) -> Job:
    return replace(job, version=job.version + 1)


def make_ended_job() -> Job:
    """A job in which no field is at its default."""
    name = make_custom_name()
    scheduling = Scheduling(
        60.5, 3.25, priority=-7, max_restarts=4, max_retries=2, restarts_together=True
    )
    spec = make_spec(
        name,
        workers=2,
        program=ContainerProgram("gcr.io/p/image:1", None, ("--name", "", "it's")),
        scheduling=scheduling,
    )
    return replace(
        make_job(name, spec=spec, display_name="Größe % _", labels=(("b", "1"), ("a", ""))),
        request='{"displayName": "Größe"}',
        spec=replace(spec, job_dir="gs://b/d", service_account="a@b", web_access=True),
        state=State.FAILED,
        start_time=CREATED + SECOND,
        update_time=CREATED + 2 * SECOND,
        end_time=CREATED + 2 * SECOND,
        attempt=3,
        replicas=(
            Replica("workerpool0-0", Phase.GONE, Exit(ExitKind.SIGNALLED, 9, HOSTILE)),
            Replica("workerpool1-0", Phase.GONE, devices=("0", "GPU-1")),
        ),
        ending=Ending(State.FAILED, Code.INTERNAL, HOSTILE),
        version=17,
        author="ann",
    )


class StoreContract:
    """One transaction each, guarded by versions; nothing kept is ever changed or lost."""

    @pytest.mark.parametrize("job", [make_job(), make_job(make_custom_name()), make_ended_job()])
    def test_a_job_comes_back_as_it_was(self, store: Store, job: Job) -> None:
        store.create(job, ())
        assert store.get(job.name) == job
        assert store.get_by_uid(job.uid) == job
        assert store.list(job.name.collection, where=None, limit=9, after=None).jobs == (job,)

    def test_a_name_is_taken_once(self, store: Store) -> None:
        job = make_job(display_name="first")
        store.create(job, [make_event("first")])
        with pytest.raises(AlreadyExists, match="projects/demo/jobs/job_1"):
            store.create(make_job(uid="other", display_name="second"), [make_event("second")])
        assert store.get(job.name) == job
        assert _messages(store, job) == ["first"]
        with pytest.raises(NotFound):
            store.get_by_uid(JobUid("other"))

    def test_a_uid_is_taken_once(self, store: Store) -> None:
        store.create(make_job("projects/demo/jobs/a", uid="u"), ())
        with pytest.raises(AlreadyExists):
            store.create(make_job("projects/demo/jobs/b", uid="u"), ())

    @pytest.mark.parametrize("job_id", ["nobody", "nul\0", "half\ud800", "'; --"])
    def test_an_unknown_job_is_not_found(self, store: Store, job_id: str) -> None:
        name, uid = TrainingJobName("demo", job_id), JobUid(job_id)
        attempts: list[Callable[[], object]] = [
            lambda: store.get(name),
            lambda: store.get_by_uid(uid),
            lambda: store.append(uid, [make_event("lost")]),
            lambda: store.delete(name, 1),
        ]
        for attempt in attempts:
            with pytest.raises(NotFound):
                attempt()
        assert store.events(uid) == ()

    @pytest.mark.parametrize("text", ["nul \0", "half \ud800"])
    def test_a_text_that_cannot_be_kept_is_refused(self, store: Store, text: str) -> None:
        good = make_job()
        store.create(good, ())
        bad = make_job("projects/demo/jobs/bad")
        for field, job in {
            "displayName": replace(bad, display_name=text),
            "labels": replace(bad, labels=((text, "x"),)),
            "region": replace(bad, spec=replace(bad.spec, region=text)),
            "request": replace(bad, request=text),
        }.items():
            with pytest.raises(InvalidArgument, match=field):
                store.create(job, ())
            with pytest.raises(InvalidArgument, match=field):
                store.update(replace(job, uid=good.uid, name=good.name, version=2), ())
        assert store.active() == (good,)

    def test_an_update_of_an_unknown_job_is_not_found(self, store: Store) -> None:
        with pytest.raises(NotFound):
            store.update(next_version(make_job()), ())

    def test_an_update_writes_job_and_events(self, store: Store) -> None:
        job = make_job(labels=(("a", "1"),))
        store.create(job, [make_event("created")])
        ended = make_ended_job()
        changed = replace(
            ended, uid=job.uid, name=job.name, version=2, labels=(("c", "3"),), note="ä\n*"
        )
        store.update(changed, [make_event("changed")])
        assert store.get(job.name) == changed
        assert _messages(store, job) == ["created", "changed"]

    @pytest.mark.parametrize("version", [0, 1, 2, 4, 5])
    def test_an_update_from_another_version_changes_nothing(
        self, store: Store, version: int
    ) -> None:
        job = replace(make_job(), version=2)
        store.create(job, [make_event("created")])
        with pytest.raises(Aborted):
            store.update(replace(job, version=version, attempt=9), [make_event("lost")])
        assert store.get(job.name) == job
        assert _messages(store, job) == ["created"]

    def test_events_are_numbered_without_gaps(self, store: Store) -> None:
        job = make_job()
        store.create(job, [make_event("1"), make_event("2")])
        store.append(job.uid, [make_event("3")])
        store.append(job.uid, [])
        store.update(next_version(job), [make_event("4"), make_event("5")])
        assert [stored.number for stored in store.events(job.uid)] == [1, 2, 3, 4, 5]
        assert _messages(store, job) == ["1", "2", "3", "4", "5"]
        assert [stored.number for stored in store.events(job.uid, after=3)] == [4, 5]
        assert [stored.number for stored in store.events(job.uid, after=1, limit=2)] == [2, 3]
        assert store.events(job.uid, after=5) == ()

    def test_appending_leaves_the_job_alone(self, store: Store) -> None:
        job = make_job()
        store.create(job, ())
        store.append(job.uid, [make_event("noted")])
        assert store.get(job.name) == job

    def test_a_key_is_taken_once_in_each_job(self, store: Store) -> None:
        first, second = make_job("projects/demo/jobs/a"), make_job("projects/demo/jobs/b")
        store.create(first, [make_event("1", "k"), make_event("again", "k"), make_event("2", "l")])
        store.append(first.uid, [make_event("again", "k"), make_event("3"), make_event("3")])
        changed = next_version(first)
        store.update(changed, [make_event("again", "l"), make_event("4", "m")])
        store.create(second, [make_event("1", "k")])
        assert _messages(store, first) == ["1", "2", "3", "3", "4"]
        assert [stored.number for stored in store.events(first.uid)] == [1, 2, 3, 4, 5]
        assert _messages(store, second) == ["1"]
        assert store.get(first.name) == changed

    def test_thousands_of_events_come_at_once(self, store: Store) -> None:
        job = make_job()
        events = [make_event(str(number), f"1/master-replica-0/{number}") for number in range(2500)]
        store.create(job, events[:1500])
        store.append(job.uid, events)
        assert [s.event for s in store.events(job.uid, limit=9999)] == events
        assert len(store.events(job.uid)) == 1000

    def test_an_event_holds_any_text(self, store: Store) -> None:
        job = make_job()
        zone = timezone(timedelta(hours=-7))
        event = JobEvent(CREATED.astimezone(zone), HOSTILE, HOSTILE, 7, HOSTILE, "7/a-0/1")
        store.create(job, [event])
        assert [stored.event for stored in store.events(job.uid)] == [event]

    def test_a_deleted_job_is_gone_with_its_events(self, store: Store) -> None:
        job = replace(make_job(labels=(("a", "1"),)), version=4)
        store.create(job, [make_event("1", "k")])
        store.delete(job.name, 4)
        with pytest.raises(NotFound):
            store.get(job.name)
        assert store.events(job.uid) == ()
        assert store.active() == ()
        store.create(job, [make_event("new", "k")])
        assert _messages(store, job) == ["new"]

    @pytest.mark.parametrize("version", [3, 5])
    def test_another_version_is_not_deleted(self, store: Store, version: int) -> None:
        job = replace(make_job(), version=4)
        store.create(job, [make_event("1")])
        with pytest.raises(Aborted):
            store.delete(job.name, version)
        assert store.get(job.name) == job
        assert _messages(store, job) == ["1"]

    def test_active_jobs_are_counted_and_chosen_by_state(self, store: Store) -> None:
        jobs = [make_job(f"projects/p/jobs/job_{n}", uid=f"job{n}") for n in range(4)]
        states = (State.QUEUED, State.QUEUED, State.RUNNING, State.FAILED)
        for job, state in zip(jobs, states, strict=True):
            store.create(replace(job, state=state), ())

        assert store.counts() == {State.QUEUED: 2, State.RUNNING: 1}
        assert [job.uid for job in store.active({State.RUNNING})] == ["job2"]
        assert store.active(()) == ()

    def test_active_jobs_come_oldest_first(self, store: Store) -> None:
        for index, state in enumerate(State):
            name = f"projects/p{index % 2}/jobs/{state.value}"
            store.create(make_job(name, created=CREATED - index * SECOND, state=state), ())
        expected = ["CANCELLING", "RUNNING", "PREPARING", "QUEUED"]
        assert [job.name.job_id for job in store.active()] == expected

    def test_times_keep_their_microseconds(self, store: Store) -> None:
        times = [
            datetime(1900, 1, 1, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
            datetime(2026, 3, 29, 1, 30, 0, 1, tzinfo=timezone(timedelta(hours=5, minutes=45))),
            datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        ]
        for index, time in enumerate(times):
            store.create(make_job(f"projects/demo/jobs/j{index}", created=time), ())
        found = store.list(JOBS, where=None, limit=9, after=None).jobs
        assert [job.create_time for job in found] == list(reversed(times))


class PagingContract:
    """Lists, newest first, in pages that nothing shifts."""

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
    def test_pages_hold_each_job_once_newest_first(self, store: Store, limit: int) -> None:
        names = _create_seven(store)
        store.create(make_job("projects/other/jobs/a"), ())
        pages = _walk(store, limit)
        assert [name for page in pages for name in page] == names
        assert all(len(page) == limit for page in pages[:-1])
        assert pages[-1]

    def test_an_empty_collection_has_one_empty_page(self, store: Store) -> None:
        for collection in (JOBS, "projects/nul\0/jobs"):
            page = store.list(collection, where=None, limit=9, after=None)
            assert (page.jobs, page.next_key) == ((), None)

    def test_jobs_made_or_removed_meanwhile_dont_shift_pages(self, store: Store) -> None:
        names = _create_seven(store)
        first = store.list(JOBS, where=None, limit=3, after=None)
        store.create(make_job("projects/demo/jobs/new", created=CREATED + SECOND), ())
        store.delete(first.jobs[-1].name, 1)
        second = store.list(JOBS, where=None, limit=9, after=first.next_key)
        assert [job.name.job_id for job in second.jobs] == names[3:]

    def test_collections_are_those_of_jobs_in_order(self, store: Store) -> None:
        assert store.collections() == ()
        for name in ("projects/b/jobs/x", "projects/a/jobs/x", "projects/a/jobs/y"):
            store.create(make_job(name), ())
        store.create(make_job(make_custom_name()), ())
        custom = make_custom_name().collection
        assert store.collections() == tuple(sorted([custom, "projects/a/jobs", "projects/b/jobs"]))

    @pytest.mark.parametrize("limit", [1, 2, 7, 9])
    def test_several_collections_are_one_list(self, store: Store, limit: int) -> None:
        _create_seven(store)
        store.create(make_job("projects/other/jobs/b", created=CREATED + SECOND), ())
        store.create(make_job("projects/third/jobs/c", created=CREATED - SECOND), ())
        store.create(make_job("projects/not/jobs/d"), ())
        names = ("projects/third/jobs", JOBS, "", "projects/other/jobs", "projects/none/jobs")
        wanted = dict.fromkeys(names)
        found, after = list[Job](), None
        while not found or after is not None:
            page = store.list_several(wanted, limit=limit, after=after)
            found += page.jobs
            after = page.next_key
        assert len(found) == 9
        assert (found[0].name.job_id, found[-1].name.job_id) == ("b", "c")
        places = [(job.create_time, job.uid) for job in found]
        assert places == sorted(places, reverse=True)
        assert store.list_several({}, limit=9).jobs == ()

    @pytest.mark.parametrize("limit", [1, 2, 3, 9])
    @pytest.mark.parametrize("part", ["", "job"])
    def test_pages_lead_back_to_the_newest(self, store: Store, limit: int, part: str) -> None:
        _create_seven(store)
        store.create(make_job("projects/other/jobs/job_b", created=CREATED + SECOND), ())
        store.create(make_job("projects/other/jobs/job_c", created=CREATED - SECOND), ())
        where = Comparison(Field.DISPLAY_NAME, Comparator.MATCHES, part) if part else None
        lists = {JOBS: where, "projects/other/jobs": where}
        page = store.list_several(lists, limit=limit)
        forward = [page]
        assert page.previous_key is None
        while page.next_key is not None:
            page = store.list_several(lists, limit=limit, after=page.next_key)
            forward.append(page)
        back = list(page.jobs)
        while page.previous_key is not None:
            page = store.list_several(lists, limit=limit, before=page.previous_key)
            back = [*page.jobs, *back]
            assert page.next_key is not None
        assert back == [job for each in forward for job in each.jobs]

    def test_new_jobs_dont_shift_pages_that_lead_back(self, store: Store) -> None:
        names = _create_seven(store)
        first = store.list_several({JOBS: None}, limit=3)
        second = store.list_several({JOBS: None}, limit=3, after=first.next_key)
        store.create(make_job(f"{JOBS}/new", created=CREATED + SECOND), ())
        page = store.list_several({JOBS: None}, limit=3, before=second.previous_key)
        assert [job.name.job_id for job in page.jobs] == names[:3]
        assert page.previous_key is not None
        page = store.list_several({JOBS: None}, limit=3, before=page.previous_key)
        assert [job.name.job_id for job in page.jobs] == ["new"]
        assert page.previous_key is None

    def test_each_collection_has_a_filter_of_its_own(self, store: Store) -> None:
        for project in "pq":
            for name in "ab":
                store.create(make_job(f"projects/{project}/jobs/{name}"), ())
        b = Comparison(Field.JOB_ID, Comparator.EQUAL, "b")
        page = store.list_several({"projects/p/jobs": None, "projects/q/jobs": b}, limit=9)
        found = {str(job.name) for job in page.jobs}
        assert found == {"projects/p/jobs/a", "projects/p/jobs/b", "projects/q/jobs/b"}

    @pytest.mark.parametrize("key", ["", "x", "MTIz", "2026-01-01/u", "\0", "\ud800", "=", "AAAA"])
    def test_a_made_up_key_is_refused(self, store: Store, key: str) -> None:
        with pytest.raises(InvalidArgument, match="pageToken"):
            store.list(JOBS, where=None, limit=3, after=key)


class ConcurrencyContract:
    """Writers at once, some of them elsewhere: each write happens whole, after or before others.

    The fixture ``elsewhere`` is what another process would open: the same jobs.
    """

    def test_of_many_creators_of_a_name_one_succeeds(self, store: Store, elsewhere: Store) -> None:
        def create(to: Store, uid: str) -> None:
            to.create(make_job(uid=uid), [make_event(uid)])

        creators = [partial(create, to, f"{n}") for n, to in enumerate((store, elsewhere) * 3)]
        errors = together(creators)
        assert [type(error) for error in errors] == [AlreadyExists] * 5
        winner = store.get(make_job().name)
        assert _messages(store, winner) == [winner.uid]
        assert store.active() == (winner,)

    def test_no_update_is_lost(self, store: Store, elsewhere: Store) -> None:
        job = make_job()
        store.create(job, ())

        def count_up(to: Store) -> None:
            written = 0
            while written < 10:
                current = to.get_by_uid(job.uid)
                changed = replace(next_version(current), attempt=current.attempt + 1)
                try:
                    to.update(changed, [make_event(str(changed.version))])
                except Aborted:
                    continue
                written += 1

        assert together([partial(count_up, to) for to in (store, elsewhere) * 2]) == []
        final = store.get_by_uid(job.uid)
        assert (final.version, final.attempt) == (41, 40)
        assert _messages(store, job) == [str(version) for version in range(2, 42)]

    def test_events_appended_at_once_are_all_kept(self, store: Store, elsewhere: Store) -> None:
        job = make_job()
        store.create(job, ())

        def append(to: Store, writer: str) -> None:
            for number in range(10):
                own, shared = make_event(f"{writer}{number}"), make_event("shared", f"{number}")
                to.append(job.uid, [own, shared])

        writers = list(zip((store, elsewhere) * 2, "abcd", strict=True))
        assert together([partial(append, to, writer) for to, writer in writers]) == []
        stored = store.events(job.uid)
        assert [s.number for s in stored] == list(range(1, 51))
        for writer in "abcd":
            own = [s.event.message for s in stored if s.event.message.startswith(writer)]
            assert own == [f"{writer}{number}" for number in range(10)]


def _create_seven(store: Store) -> list[str]:
    """Seven jobs, some of the same microsecond; their ids, newest first."""
    for uid, microseconds in ("a", 2), ("b", 0), ("c", 1), ("d", 1), ("B", 1), ("f", 0), ("g", 2):
        created = CREATED + timedelta(microseconds=microseconds)
        store.create(make_job(f"projects/demo/jobs/{uid}", uid=uid, created=created), ())
    return ["g", "a", "d", "c", "B", "f", "b"]


def _walk(store: Store, limit: int) -> list[list[str]]:
    pages: list[list[str]] = []
    key: str | None = None
    while not pages or key is not None:
        page = store.list(JOBS, where=None, limit=limit, after=key)
        pages.append([job.name.job_id for job in page.jobs])
        key = page.next_key
    return pages


def _messages(store: Store, job: Job) -> list[str]:
    return [stored.event.message for stored in store.events(job.uid)]
