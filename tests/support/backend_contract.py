"""What every backend does: subclass ``BackendContract`` and give it a fixture ``rig``."""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import FailedPrecondition
from footplate.ports.backend import AttemptStart, Presence
from tests.support.backend_rig import (
    WORKERS,
    RecordingListener,
    all_are,
    make_request,
    make_restart,
    see,
    see_restarts,
)

if TYPE_CHECKING:
    from footplate.domain.names import AttemptId
    from tests.support.backend_rig import BackendRig


class BackendContract:
    def expect(self, rig: BackendRig, request: AttemptStart, presence: Presence) -> None:
        rig.settle(lambda: all_are(rig.backend, request, presence))

    def start_live(self, rig: BackendRig, request: AttemptStart) -> None:
        rig.backend.start(request)
        rig.admit()
        self.expect(rig, request, Presence.LIVE)

    def start_gone(self, rig: BackendRig, request: AttemptStart) -> None:
        self.start_live(rig, request)
        for ticket in request.tickets:
            rig.finish(request.attempt_id, ticket.replica)
        self.expect(rig, request, Presence.GONE)

    def test_nothing_is_listed_before_something_was_started(self, rig: BackendRig) -> None:
        assert rig.backend.list() == ()

    def test_a_started_gang_is_listed_at_once_and_says_what_it_waits_for(
        self, rig: BackendRig
    ) -> None:
        request = make_request("u-1", WORKERS)
        rig.hold()
        rig.backend.start(request)
        assert all_are(rig.backend, request, Presence.WAITING)
        assert all(s.reason for s in rig.backend.list())

    def test_a_started_gang_comes_to_life(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        self.start_live(rig, request)
        assert rig.runs(request.attempt_id) == len(WORKERS)

    def test_a_waiting_attempt_is_not_started_again(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        rig.hold()
        for _ in range(3):
            rig.backend.start(request)
        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        assert rig.runs(request.attempt_id) == len(WORKERS)

    def test_a_live_attempt_is_not_started_again(self, rig: BackendRig) -> None:
        request = make_request("u-1")
        self.start_live(rig, request)
        rig.backend.start(request)
        rig.finish(request.attempt_id, WORKERS[0])
        self.expect(rig, request, Presence.GONE)
        assert rig.runs(request.attempt_id) == 1

    def test_a_gone_attempt_is_not_started_again(self, rig: BackendRig) -> None:
        request = make_request("u-1")
        self.start_gone(rig, request)
        rig.backend.start(request)
        assert all_are(rig.backend, request, Presence.GONE)
        assert rig.runs(request.attempt_id) == 1

    def test_a_later_attempt_is_another_one(self, rig: BackendRig) -> None:
        first, second = make_request("u-1"), make_request("u-2")
        self.start_gone(rig, first)
        self.start_live(rig, second)
        assert all_are(rig.backend, first, Presence.GONE)

    @pytest.mark.parametrize("replicas", [(), (WORKERS[0], WORKERS[0])])
    def test_what_is_no_gang_is_refused_for_ever(
        self, rig: BackendRig, replicas: tuple[str, ...]
    ) -> None:
        with pytest.raises(FailedPrecondition):
            rig.backend.start(make_request("u-1", replicas))
        assert rig.backend.list() == ()

    def test_stop_ends_every_live_replica(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        self.start_live(rig, request)
        rig.backend.stop(request.attempt_id)
        self.expect(rig, request, Presence.GONE)

    def test_stop_ends_only_the_replicas_that_it_names(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        self.start_live(rig, request)
        rig.backend.stop(request.attempt_id, dict.fromkeys((*WORKERS[:2], "no-such-replica"), 0))
        expected = [Presence.GONE, Presence.GONE, Presence.LIVE]
        rig.settle(lambda: [s.presence for s in see(rig.backend, request)] == expected)
        rig.backend.stop(request.attempt_id, {})
        assert [s.presence for s in see(rig.backend, request)] == expected
        rig.backend.stop(request.attempt_id)
        self.expect(rig, request, Presence.GONE)

    def test_what_is_stopped_while_it_waits_never_lives(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        rig.hold()
        rig.backend.start(request)
        rig.backend.stop(request.attempt_id)
        rig.admit()
        self.expect(rig, request, Presence.GONE)
        assert rig.runs(request.attempt_id) == 0

    def test_stop_right_after_start_is_not_lost(self, rig: BackendRig) -> None:
        for number in range(5):
            request = make_request(f"u-{number}")
            rig.backend.start(request)
            rig.backend.stop(request.attempt_id)
            self.expect(rig, request, Presence.GONE)

    def test_stop_leaves_other_attempts_alone(self, rig: BackendRig) -> None:
        first, second = make_request("u-1"), make_request("v-1")
        self.start_live(rig, first)
        self.start_live(rig, second)
        rig.backend.stop(first.attempt_id)
        self.expect(rig, first, Presence.GONE)
        assert all_are(rig.backend, second, Presence.LIVE)

    def test_stop_may_be_repeated_at_any_time(self, rig: BackendRig) -> None:
        request = make_request("u-1")
        rig.backend.stop(request.attempt_id)
        self.start_live(rig, request)
        rig.backend.stop(request.attempt_id)
        rig.backend.stop(request.attempt_id)
        self.expect(rig, request, Presence.GONE)
        rig.backend.stop(request.attempt_id)
        rig.backend.forget(request.attempt_id)
        rig.backend.stop(request.attempt_id)
        assert rig.backend.list() == ()

    def test_replicas_come_to_their_end_one_by_one(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        self.start_live(rig, request)
        rig.finish(request.attempt_id, WORKERS[1])
        expected = [Presence.LIVE, Presence.GONE, Presence.LIVE]
        rig.settle(lambda: [s.presence for s in see(rig.backend, request)] == expected)
        assert see(rig.backend, request)[1].reason

    def test_a_lost_supervisor_is_cleared_up_after(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS[:2])
        self.start_live(rig, request)
        rig.kill(request.attempt_id, WORKERS[0])
        expected = [Presence.GONE, Presence.LIVE]
        rig.settle(lambda: [s.presence for s in see(rig.backend, request)] == expected)
        assert rig.runs(request.attempt_id) == 2

    def test_a_replica_that_is_gone_starts_again_beside_the_others(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS[:2])
        chief, worker = WORKERS[:2]
        self.start_live(rig, request)
        rig.kill(request.attempt_id, worker)
        rig.settle(lambda: see_restarts(rig.backend, request)[worker] == (0, Presence.GONE))
        rig.hold()
        rig.backend.start(make_restart(request, worker))
        seen = see_restarts(rig.backend, request)
        assert seen == {chief: (0, Presence.LIVE), worker: (1, Presence.WAITING)}

        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        rig.finish(request.attempt_id, worker)
        rig.settle(lambda: see_restarts(rig.backend, request)[worker] == (1, Presence.GONE))
        rig.backend.stop(request.attempt_id)
        self.expect(rig, request, Presence.GONE)
        rig.backend.forget(request.attempt_id)
        assert rig.backend.list() == ()

    def test_a_restart_is_asked_for_as_often_as_one_likes(self, rig: BackendRig) -> None:
        request = make_request("u-1")
        [worker] = WORKERS[:1]
        self.start_gone(rig, request)
        again = make_restart(request, worker)
        for _ in range(3):
            rig.backend.start(again)
        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        for late in (again, request):
            rig.backend.start(late)
            assert see_restarts(rig.backend, request) == {worker: (1, Presence.LIVE)}

        rig.finish(request.attempt_id, worker)
        self.expect(rig, request, Presence.GONE)
        rig.backend.start(again)
        assert see_restarts(rig.backend, request) == {worker: (1, Presence.GONE)}
        rig.backend.start(make_restart(request, worker, 2))
        self.expect(rig, request, Presence.LIVE)

    def test_nothing_starts_again_before_it_is_gone(self, rig: BackendRig) -> None:
        request = make_request("u-1")
        self.start_live(rig, request)
        rig.backend.start(make_restart(request, WORKERS[0]))
        assert see_restarts(rig.backend, request) == {WORKERS[0]: (0, Presence.LIVE)}

    def test_a_replica_that_was_stopped_may_start_again(self, rig: BackendRig) -> None:
        request = make_request("u-1")
        self.start_live(rig, request)
        rig.backend.stop(request.attempt_id, dict.fromkeys(WORKERS[:1], 0))
        self.expect(rig, request, Presence.GONE)
        rig.backend.start(make_restart(request, WORKERS[0]))
        rig.admit()
        self.expect(rig, request, Presence.LIVE)

    def test_a_stop_of_an_earlier_start_leaves_the_later_one(self, rig: BackendRig) -> None:
        """It may come from a server that isn't responsible any more."""
        request = make_request("u-1")
        self.start_live(rig, request)
        earlier = dict.fromkeys(WORKERS[:1], 0)
        rig.backend.stop(request.attempt_id, earlier)
        self.expect(rig, request, Presence.GONE)
        rig.hold()
        rig.backend.start(make_restart(request, WORKERS[0]))
        rig.backend.stop(request.attempt_id, earlier)
        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        rig.backend.stop(request.attempt_id, earlier)
        assert see_restarts(rig.backend, request) == {WORKERS[0]: (1, Presence.LIVE)}

    def test_a_restart_outlives_the_server(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS[:2])
        self.start_live(rig, request)
        rig.finish(request.attempt_id, WORKERS[1])
        rig.settle(lambda: see_restarts(rig.backend, request)[WORKERS[1]][1] is Presence.GONE)
        rig.hold()
        rig.backend.start(make_restart(request, WORKERS[1], 3))
        rig.reopen()
        rig.backend.watch(RecordingListener())
        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        assert see_restarts(rig.backend, request)[WORKERS[1]] == (3, Presence.LIVE)

    def test_the_gone_are_listed_until_they_are_forgotten(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        self.start_gone(rig, request)
        rig.backend.forget(request.attempt_id)
        assert rig.backend.list() == ()
        rig.backend.forget(request.attempt_id)

    def test_what_is_not_gone_is_not_forgotten(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS[:2])
        rig.hold()
        rig.backend.start(request)
        rig.backend.forget(request.attempt_id)
        assert all_are(rig.backend, request, Presence.WAITING)
        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        rig.finish(request.attempt_id, WORKERS[0])
        rig.settle(lambda: see(rig.backend, request)[0].presence is Presence.GONE)
        rig.backend.forget(request.attempt_id)
        assert len(see(rig.backend, request)) == 2

    def test_a_watcher_hears_of_every_change(self, rig: BackendRig) -> None:
        ear, request = RecordingListener(), make_request("u-1")
        rig.backend.watch(ear)
        rig.hold()
        rig.backend.start(request)
        before = ear.times(request)
        rig.admit()
        rig.settle(lambda: ear.times(request) > before)
        self.expect(rig, request, Presence.LIVE)
        lived = ear.times(request)
        rig.finish(request.attempt_id, WORKERS[0])
        rig.settle(lambda: ear.times(request) > lived)
        assert all_are(rig.backend, request, Presence.GONE)

    def test_a_watcher_hears_of_a_lost_supervisor(self, rig: BackendRig) -> None:
        request, gone = make_request("u-1"), threading.Event()
        self.start_live(rig, request)

        def inspect(_: AttemptId) -> None:
            if all_are(rig.backend, request, Presence.GONE):
                gone.set()

        rig.backend.watch(inspect)
        rig.kill(request.attempt_id, WORKERS[0])
        rig.settle(gone.is_set)

    def test_every_watcher_is_told(self, rig: BackendRig) -> None:
        ears, request = (RecordingListener(), RecordingListener()), make_request("u-1")
        for ear in ears:
            rig.backend.watch(ear)
        self.start_gone(rig, request)
        rig.settle(lambda: all(ear.times(request) for ear in ears))

    def test_what_was_started_outlives_the_server(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS)
        self.start_live(rig, request)
        rig.reopen()
        assert all_are(rig.backend, request, Presence.LIVE)
        rig.backend.start(request)
        assert rig.runs(request.attempt_id) == len(WORKERS)

    def test_the_next_server_hears_of_what_an_earlier_one_started(self, rig: BackendRig) -> None:
        ear, request = RecordingListener(), make_request("u-1", WORKERS[:2])
        self.start_live(rig, request)
        rig.reopen()
        rig.backend.watch(ear)
        rig.finish(request.attempt_id, WORKERS[0])
        rig.settle(lambda: see(rig.backend, request)[0].presence is Presence.GONE)
        rig.settle(lambda: ear.times(request) > 0)
        rig.kill(request.attempt_id, WORKERS[1])
        self.expect(rig, request, Presence.GONE)

    def test_what_ended_while_no_server_was_there_is_gone(self, rig: BackendRig) -> None:
        ended, lost = make_request("u-1"), make_request("v-1")
        self.start_live(rig, ended)
        self.start_live(rig, lost)
        rig.backend.close()
        rig.finish(ended.attempt_id, WORKERS[0])
        rig.kill(lost.attempt_id, WORKERS[0])
        rig.reopen()
        rig.backend.watch(RecordingListener())
        self.expect(rig, ended, Presence.GONE)
        self.expect(rig, lost, Presence.GONE)

    def test_what_waited_at_the_death_of_the_server_still_comes_up_once(
        self, rig: BackendRig
    ) -> None:
        request = make_request("u-1", WORKERS)
        rig.hold()
        rig.backend.start(request)
        rig.reopen()
        rig.backend.watch(RecordingListener())
        rig.backend.start(request)
        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        assert rig.runs(request.attempt_id) == len(WORKERS)

    def test_the_next_server_can_stop_and_forget_what_an_earlier_one_started(
        self, rig: BackendRig
    ) -> None:
        request = make_request("u-1", WORKERS)
        self.start_live(rig, request)
        rig.reopen()
        rig.backend.stop(request.attempt_id)
        self.expect(rig, request, Presence.GONE)
        rig.backend.forget(request.attempt_id)
        assert rig.backend.list() == ()

    def test_close_may_be_repeated_and_ends_nothing(self, rig: BackendRig) -> None:
        request = make_request("u-1")
        self.start_live(rig, request)
        rig.backend.close()
        rig.backend.close()
        rig.reopen()
        assert all_are(rig.backend, request, Presence.LIVE)

    def test_a_server_that_keeps_dying_changes_nothing(self, rig: BackendRig) -> None:
        request = make_request("u-1", WORKERS[:2])
        rig.backend.start(request)
        for _ in range(4):
            rig.reopen()
            rig.backend.watch(RecordingListener())
        rig.admit()
        self.expect(rig, request, Presence.LIVE)
        assert rig.runs(request.attempt_id) == 2

    def test_many_attempts_at_once_do_not_mix(self, rig: BackendRig) -> None:
        requests = [make_request(f"u{n}-1", WORKERS[: 1 + n % 2]) for n in range(6)]
        for request in requests:
            rig.backend.start(request)
        rig.admit()
        for request, number in zip(requests, count(), strict=False):
            self.expect(rig, request, Presence.LIVE)
            if number % 2:
                rig.backend.stop(request.attempt_id)
        for request, number in zip(requests, count(), strict=False):
            end = Presence.GONE if number % 2 else Presence.LIVE
            self.expect(rig, request, end)
            assert rig.runs(request.attempt_id) == len(request.tickets)
