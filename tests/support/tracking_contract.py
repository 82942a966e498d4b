"""What every store of tracked resources does: give it the fixture ``tracking``, empty."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.errors import Aborted, AlreadyExists, InvalidArgument, NotFound
from footplate.domain.filters import And, Comparator, Not
from footplate.domain.tracking.filters import Equals, LinkedTo
from footplate.domain.tracking.points import Extent, Point
from footplate.domain.tracking.resources import EVENTS, Link, LinkKind, change_fields
from tests.support.jobs import CREATED
from tests.support.tracking import BOARD, STORE, make_resource, name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.tracking.resources import Resource
    from footplate.ports.tracking import TrackingStore

RUN = f"{BOARD}/experiments/e/runs/r"
SERIES = f"{RUN}/timeSeries/s"
LATER = CREATED + timedelta(seconds=1)


def create(store: TrackingStore, *texts: str, **fields: object) -> list[Resource]:
    made = [make_resource(text, **fields) for text in texts]  # type: ignore[arg-type]  # fields
    store.create(made)
    return made


def create_series(store: TrackingStore, *more: str) -> None:
    create(store, BOARD, f"{BOARD}/experiments/e", RUN, SERIES, *more)


def ids(resources: Sequence[Resource]) -> list[str]:
    return [resource.name.id for resource in resources]


class TrackingContract:
    """Resources within each other, their links and their points."""

    def test_a_resource_comes_back_as_it_was(self, tracking: TrackingStore) -> None:
        fields: dict[str, Any] = {
            "displayName": "ä\0\ud800",
            "metadata": {"a": [1, 2.5, None, {"b": True}]},
        }
        made = create(tracking, STORE)[0]
        context = make_resource(f"{STORE}/contexts/c", **fields)
        tracking.create([context])
        assert tracking.get(context.name) == context
        changed = change_fields(context, {"description": "d"}, ("description",), LATER)
        tracking.write(changed)
        assert tracking.find((changed.name, made.name, name(f"{STORE}/contexts/no"))) == (
            made,
            changed,
        )

    def test_a_name_is_used_once_and_needs_what_it_is_in(self, tracking: TrackingStore) -> None:
        with pytest.raises(NotFound, match="metadataStores/default does not exist"):
            create(tracking, f"{STORE}/contexts/c")
        create(tracking, STORE, f"{STORE}/contexts/c")
        with pytest.raises(AlreadyExists, match="contexts/c already exists"):
            create(tracking, f"{STORE}/contexts/d", f"{STORE}/contexts/c")
        with pytest.raises(NotFound):
            tracking.get(name(f"{STORE}/contexts/d"))
        with pytest.raises(NotFound):
            tracking.get(name(f"{STORE}/contexts/\0"))

    def test_writes_are_guarded_and_happen_together(self, tracking: TrackingStore) -> None:
        first, second = create(tracking, STORE, f"{STORE}/contexts/c")
        newer = change_fields(first, {"description": "1"}, ("description",), LATER)
        with pytest.raises(Aborted):
            tracking.write(newer, replace(second, version=5))
        assert tracking.get(first.name) == first
        tracking.write(newer)
        with pytest.raises(Aborted):
            tracking.write(newer)
        with pytest.raises(NotFound):
            tracking.write(replace(make_resource(f"{STORE}/contexts/x"), version=2))
        with pytest.raises(Aborted):
            tracking.create([make_resource(f"{STORE}/contexts/x")], [newer])
        with pytest.raises(NotFound):
            tracking.get(name(f"{STORE}/contexts/x"))

    def test_display_names_of_runs_are_unique(self, tracking: TrackingStore) -> None:
        create(tracking, BOARD, f"{BOARD}/experiments/e", f"{BOARD}/experiments/f")
        runs = [f"{BOARD}/experiments/{path}" for path in ("e/runs/1", "e/runs/2", "f/runs/1")]
        one, two, other = (
            make_resource(run, displayName=called)
            for run, called in zip(runs, ("a", "b", "a"), strict=True)
        )
        tracking.create([one, two, other])
        with pytest.raises(AlreadyExists):
            tracking.write(change_fields(two, {"displayName": "a"}, ("displayName",), LATER))
        with pytest.raises(AlreadyExists, match="has the same key 'a'"):
            create(tracking, f"{BOARD}/experiments/e/runs/3", displayName="a")
        create(tracking, f"{STORE.replace('default', 'x')}")

    def test_one_default_takes_the_place_of_another(self, tracking: TrackingStore) -> None:
        first = create(tracking, BOARD, isDefault=True)[0]
        second = make_resource(BOARD.replace("/1", "/2"), isDefault=True)
        with pytest.raises(AlreadyExists):
            tracking.create([second])
        tracking.create([second], [change_fields(first, {}, ("isDefault",), LATER)])
        assert tracking.get(second.name) == second
        assert not tracking.get(first.name).fields

    def test_deleting_takes_along_what_is_within(self, tracking: TrackingStore) -> None:
        create_series(tracking)
        tracking.append({name(SERIES): [Point(1, CREATED, 1.0)]})
        with pytest.raises(Aborted):
            tracking.delete(name(BOARD), version=7)
        tracking.delete(name(BOARD), version=1)
        for text in (BOARD, RUN, SERIES):
            with pytest.raises(NotFound):
                tracking.get(name(text))
        create_series(tracking)
        assert tracking.points(name(SERIES), limit=9) == ()
        tracking.delete(name(RUN))
        assert tracking.get(name(BOARD)).name == name(BOARD)
        for text in (RUN, f"{BOARD}/experiments/\0"):
            with pytest.raises(NotFound):
                tracking.delete(name(text))

    def test_lists_come_in_pages_in_both_orders(self, tracking: TrackingStore) -> None:
        create(tracking, STORE)
        contexts = [
            make_resource(f"{STORE}/contexts/c{n}", CREATED + timedelta(seconds=n // 2))
            for n in range(5)
        ]
        assert tracking.collections() == (STORE.rpartition("/")[0],)
        tracking.create(contexts)
        assert tracking.collections() == (STORE.rpartition("/")[0],), "contexts are in a store"
        collection = f"{STORE}/contexts"
        for oldest_first in (False, True):
            first = tracking.list(
                collection, where=None, limit=3, after=None, oldest_first=oldest_first
            )
            rest = tracking.list(
                collection, where=None, limit=3, after=first.next_key, oldest_first=oldest_first
            )
            found = ids((*first.items, *rest.items))
            assert found == sorted(ids(contexts), reverse=not oldest_first)
            assert rest.next_key is None
        assert tracking.list(f"{STORE}/artifacts", where=None, limit=3, after=None).items == ()
        with pytest.raises(InvalidArgument):
            tracking.list(collection, where=None, limit=3, after="nonsense")

    def test_lists_longer_than_a_batch_are_filtered(self, tracking: TrackingStore) -> None:
        create(tracking, STORE)
        contexts = [
            make_resource(
                f"{STORE}/contexts/c{n:03}", CREATED + timedelta(seconds=n), metadata={"n": n}
            )
            for n in range(450)
        ]
        tracking.create(contexts)
        where = Equals(("metadata", "n"), Comparator.LESS, 2.0)
        page = tracking.list(f"{STORE}/contexts", where=where, limit=9, after=None)
        assert (ids(page.items), page.next_key) == (["c001", "c000"], None)

    def test_links_are_found_from_both_ends(self, tracking: TrackingStore) -> None:
        texts = [f"{STORE}/{path}" for path in ("contexts/p", "contexts/c", "artifacts/a")]
        create(tracking, STORE, *texts, f"{STORE}/executions/e")
        p, c, a, e = (name(text) for text in (*texts, f"{STORE}/executions/e"))
        child = Link(p, LinkKind.CHILD, c, CREATED)
        member = Link(c, LinkKind.MEMBER, a, CREATED)
        event = Link(e, LinkKind.INPUT, a, LATER, (("role", "ä"),))
        tracking.link([child, member, event])
        tracking.link([replace(event, kind=LinkKind.OUTPUT, time=CREATED)])  # is there: skipped
        assert tracking.links((e, c), EVENTS) == (event,)
        assert tracking.links((a,), tuple(LinkKind), upwards=True) == (member, event)
        contexts, artifacts = f"{STORE}/contexts", f"{STORE}/artifacts"
        for collection, where, found in (
            (contexts, LinkedTo(str(p)), ["c"]),
            (contexts, LinkedTo(str(c), downwards=True), ["p"]),
            (contexts, Not(LinkedTo(str(p))), ["p"]),
            (artifacts, And((LinkedTo(str(c)), LinkedTo(str(e)))), ["a"]),
            (artifacts, And((LinkedTo(str(c)), LinkedTo(str(p)))), []),
        ):
            assert ids(tracking.list(collection, where=where, limit=9, after=None).items) == found
        tracking.unlink(p, [c, a])
        assert tracking.links((p,), tuple(LinkKind)) == ()
        with pytest.raises(NotFound, match="artifacts/no does not exist"):
            tracking.link([child, replace(member, target=name(f"{STORE}/artifacts/no"))])
        assert tracking.links((p,), tuple(LinkKind)) == ()
        tracking.delete(a)
        assert tracking.links((c, e), tuple(LinkKind)) == ()

    def test_points_are_read_by_their_steps(self, tracking: TrackingStore) -> None:
        create_series(tracking, f"{RUN}/timeSeries/t")
        series, other = name(SERIES), name(f"{RUN}/timeSeries/t")
        points = [Point(step, CREATED, float(step)) for step in (3, 1, 2)]
        tracking.append({series: points, other: [Point(0, LATER, '{"value":"AA=="}')]})
        tracking.append({series: [Point(2, LATER, inf), Point(2**62, LATER, nan)]})
        found = tracking.points(series, limit=9)
        assert found[:3] == (points[1], Point(2, LATER, inf), points[0])
        assert found[3].step == 2**62
        assert isinstance(found[3].value, float)
        assert isnan(found[3].value)
        assert tracking.points(series, limit=2) == found[:2]
        assert tracking.points(series, limit=1, after=2) == (points[0],)
        assert tracking.points(other, limit=9) == (Point(0, LATER, '{"value":"AA=="}'),)
        assert tracking.extents((series, other)) == {
            series: Extent(2**62, LATER),
            other: Extent(0, LATER),
        }

    def test_points_go_nowhere_or_all_there(self, tracking: TrackingStore) -> None:
        create_series(tracking)
        missing = name(f"{RUN}/timeSeries/no")
        point = Point(1, CREATED, 1.0)
        with pytest.raises(NotFound, match="timeSeries/no does not exist"):
            tracking.append({name(SERIES): [point], missing: [point]})
        assert tracking.points(name(SERIES), limit=9) == ()
        assert tracking.extents((name(SERIES), missing)) == {}
        with pytest.raises(NotFound):
            tracking.points(missing, limit=9)
        with pytest.raises(NotFound):
            tracking.sample(missing, 9)

    @pytest.mark.parametrize(("count", "most"), [(0, 5), (5, 5), (6, 5), (100, 7), (20, 1)])
    def test_a_sample_has_the_last_point(
        self, tracking: TrackingStore, count: int, most: int
    ) -> None:
        create_series(tracking)
        points = [Point(step, CREATED, 0.5) for step in range(count)]
        tracking.append({name(SERIES): points})
        found = tracking.sample(name(SERIES), most)
        assert len(found) == min(count, most)
        assert found[-1:] == tuple(points[-1:])
        steps = [point.step for point in found]
        assert steps == sorted(steps)
        if count > most > 1:
            gaps = {after - before for before, after in pairwise(steps)}
            assert max(gaps) - min(gaps) <= 1
