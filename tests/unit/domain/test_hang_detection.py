"""What is told of silent programs and supervisors: values in, events out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.hang_detection import (
    HANG,
    OVER,
    SILENT,
    STOPPED,
    Findings,
    Rules,
    Sign,
    describe_hang,
    examine,
    tell,
    troubles_of,
)
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, Job, JobEvent
from footplate.domain.lifecycle import Admitted, react
from tests.support.jobs import make_job, make_spec

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RULES = Rules(usage_s=10.0, hang_s=600.0, silent_s=90.0)
MASTER = "master-replica-0"
WORKERS = ("worker-replica-0", "worker-replica-1")
ALL = (MASTER, *WORKERS)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def make_gang(phase: Phase = Phase.RUNNING, state: State = State.RUNNING) -> Job:
    job = react(make_job(spec=make_spec(workers=2)), Admitted(NOW)).job
    replicas = tuple(replace(replica, phase=phase) for replica in job.replicas)
    return replace(job, replicas=replicas, state=state)


def make_sign(
    quiet_s: float = 0.0,
    sampled_s: float = 5.0,
    heard_s: float = 5.0,
    printed_s: float | None = None,
    **fields: float,
) -> Sign:
    """Heard and sampled 5 s ago, by a server that has been there for long."""
    return Sign(
        known_at=ago(10_000),
        heard_at=ago(heard_s),
        sampled_at=ago(sampled_s),
        printed_at=None if printed_s is None else ago(printed_s),
        quiet_s=quiet_s,
        cpus=fields.get("cpus", 0.0),
        stopped=int(fields.get("stopped", 0)),
    )


def signs(**by_place: Sign) -> dict[str, Sign]:
    """All others than those given have been silent for 700 s."""
    names = dict(zip(("master", "one", "two"), ALL, strict=True))
    silent = make_sign(quiet_s=700.0)
    return {name: by_place.get(place, silent) for place, name in names.items()}


def find(job: Job | None = None, rules: Rules = RULES, **by_place: Sign) -> Findings:
    return examine(job or make_gang(), signs(**by_place), ALL, NOW, rules)


def test_a_silence_of_all_is_a_hang() -> None:
    findings = find(one=make_sign(quiet_s=650.0, cpus=1.94))
    assert findings.hung_since == ago(655)
    assert findings.troubles[HANG, ""] == (
        "no program has printed, reported or written anything for 655 s, since "
        "2026-01-02T02:53:10Z: "
        "worker-replica-0 is busy (1.9 vCPUs); the others are idle"
    )


def test_silent_workers_beside_a_chief_that_prints_are_none() -> None:
    findings = find(master=make_sign(quiet_s=3.0))
    assert findings.troubles[HANG, ""] is None
    assert findings.hung_since is None


def test_only_a_sample_says_that_nothing_was_written() -> None:
    """Files are looked at when a sample is due, and not before the silence is that long."""
    findings = find(master=make_sign(quiet_s=599.0, sampled_s=9.0))
    assert (findings.hung_since, findings.troubles[HANG, ""]) == (None, None)


def test_lines_that_came_after_the_sample_count() -> None:
    assert find(two=make_sign(quiet_s=700.0, printed_s=1.0)).troubles[HANG, ""] is None


@pytest.mark.parametrize(
    "sign",
    [
        make_sign(quiet_s=700.0, sampled_s=31.0),
        Sign(ago(10_000), heard_at=ago(5)),
        Sign(ago(10_000), heard_at=ago(5), printed_at=ago(900)),
    ],
)
def test_of_whom_no_sample_comes_though_he_is_heard_nothing_is_known(sign: Sign) -> None:
    assert (HANG, "") not in find(master=sign).troubles


def test_a_supervisor_that_is_stopped_does_not_hide_a_hang() -> None:
    stopped = make_sign(quiet_s=0.0, sampled_s=700.0, heard_s=700.0)
    findings = find(two=stopped)
    assert findings.hung_since == ago(700)
    told = findings.troubles[HANG, ""]
    assert told is not None
    assert told.endswith("worker-replica-1 is not heard of; the others are idle")
    assert ("the replica's supervisor has not reported since") in str(
        findings.troubles[SILENT, ALL[2]]
    )
    assert findings.troubles[SILENT, MASTER] is None


def test_a_new_server_listens_before_it_says_that_nothing_is_heard() -> None:
    early, late = Sign(ago(89)), Sign(ago(91))
    findings = examine(make_gang(), {MASTER: early, WORKERS[0]: late}, ALL, NOW, RULES)
    assert set(findings.troubles) == {(SILENT, WORKERS[0])}
    assert findings.hung_since is None, "nor that of whom nobody knew"


def test_who_is_not_there_any_more_is_not_silent() -> None:
    lost = make_sign(heard_s=700.0, sampled_s=700.0)
    assert (SILENT, MASTER) not in examine(make_gang(), signs(master=lost), (), NOW, RULES).troubles
    for phase in (Phase.EXITED, Phase.GONE):
        assert find(make_gang(phase), master=lost).troubles == {}


def test_a_stop_is_told_after_two_samples() -> None:
    once, twice = make_sign(stopped=1), make_sign(stopped=2)
    findings = find(master=once, one=twice, two=make_sign())
    assert (STOPPED, MASTER) not in findings.troubles
    assert "SIGCONT" in str(findings.troubles[STOPPED, WORKERS[0]])
    assert findings.troubles[STOPPED, WORKERS[1]] is None


@pytest.mark.parametrize(
    ("job", "rules"),
    [
        (make_gang(state=State.PREPARING), RULES),
        (make_gang(Phase.READY), RULES),
        (make_gang(), replace(RULES, hang_s=0.0)),
        (make_gang(), replace(RULES, usage_s=0.0)),
        (replace(make_gang(), ending=Ending(State.CANCELLED)), RULES),
        (make_gang(state=State.SUCCEEDED), RULES),
    ],
)
def test_what_does_not_run_or_is_not_watched_does_not_hang(job: Job, rules: Rules) -> None:
    findings = find(job, rules)
    assert findings.hung_since is None
    assert (HANG, "") not in findings.troubles


def test_replicas_that_have_ended_are_not_waited_for() -> None:
    job = make_gang()
    ended = (job.replicas[0], *(replace(r, phase=Phase.EXITED) for r in job.replicas[1:]))
    findings = find(replace(job, replicas=ended), one=make_sign(), two=make_sign())
    assert findings.hung_since == ago(705)


@pytest.mark.parametrize(
    ("doing", "words"),
    [
        ({"a": "idle"}, "a is idle"),
        ({"a": "idle", "b": "idle"}, "all 2 replicas are idle"),
        ({"a": "idle", "b": "busy (1.0 vCPUs)"}, "a is idle; b is busy (1.0 vCPUs)"),
        (
            {"a": "busy (1.0 vCPUs)", "b": "busy (2.0 vCPUs)", "c": "idle"},
            "c is idle; the others are busy",
        ),
        (
            {"a": "idle", "b": "idle", "c": "idle", "d": "stopped by a signal such as SIGSTOP"},
            "d is stopped by a signal such as SIGSTOP; the others are idle",
        ),
    ],
)
def test_who_does_what(doing: dict[str, str], words: str) -> None:
    assert describe_hang(ago(60), NOW, doing).endswith(
        f"for 60 s, since 2026-01-02T03:03:05Z: {words}"
    )


def told_by(events: list[JobEvent], findings: Findings, at: datetime = NOW) -> list[str]:
    fresh = tell(troubles_of(events), findings, 1, at)
    events.extend(fresh)
    return [event.kind for event in fresh]


def test_it_is_told_once_and_again_after_it_was_over() -> None:
    hang = Findings({(HANG, ""): "silent"}, ago(600))
    over, unknown = Findings({(HANG, ""): None}), Findings({})
    events: list[JobEvent] = []
    kinds = [told_by(events, f) for f in (over, hang, hang, unknown, hang, over, over, hang)]
    assert kinds == [[], [HANG], [], [], [], [OVER[HANG]], [], [HANG]]
    assert len({event.key for event in events}) == 3


def test_a_silence_that_began_after_the_last_telling_is_another_one() -> None:
    events: list[JobEvent] = []
    told_by(events, Findings({(HANG, ""): "first"}, ago(2000)), ago(1400))
    later = Findings({(HANG, ""): "second"}, ago(700))
    assert told_by(events, later) == [OVER[HANG], HANG]
    assert told_by(events, later) == []


def test_each_attempt_and_replica_is_told_of_by_itself() -> None:
    stopped = Findings({(STOPPED, MASTER): "x", (STOPPED, WORKERS[0]): "x"})
    first = tell((), stopped, 1, NOW)
    assert [event.replica for event in first] == [MASTER, WORKERS[0]]
    assert len(tell(first, stopped, 2, NOW)) == 2
    assert tell(first, stopped, 1, NOW) == ()


def test_events_of_programs_and_of_others_are_not_ours() -> None:
    forged = JobEvent(NOW, HANG, "", 1, "", key="1/master-replica-0/7")
    other = JobEvent(NOW, "RUNNING", "", 1)
    assert troubles_of([forged, other]) == ()


places = st.sampled_from([(HANG, ""), (SILENT, MASTER), (STOPPED, MASTER), (STOPPED, WORKERS[0])])
histories = st.lists(st.dictionaries(places, st.none() | st.just("trouble")), max_size=30)


@given(histories, st.sets(st.integers(0, 30)))
def test_whatever_happens_troubles_and_their_ends_take_turns(
    history: list[dict[tuple[str, str], str | None]], repeated: set[int]
) -> None:
    """Also where another server tells it again, knowing only what is stored."""
    stored: dict[str | None, JobEvent] = {}
    for number, troubles in enumerate(history):
        known = troubles_of(stored.values())
        fresh = tell(known, Findings(troubles), 1, NOW)
        again = tell(known, Findings(troubles), 1, NOW) if number in repeated else ()
        for event in (*fresh, *again):
            stored.setdefault(event.key, event)
        now = troubles_of(stored.values())
        for (kind, replica), message in troubles.items():
            ours = [e.kind for e in now if e.replica == replica and e.kind in (kind, OVER[kind])]
            assert (ours[-1:] == [kind]) == (message is not None)
            assert ours == [kind, OVER[kind]] * (len(ours) // 2) + [kind] * (len(ours) % 2)


def test_those_that_wait_for_a_replica_to_come_back_do_not_hang() -> None:
    gang = make_gang()
    *others, last = gang.replicas
    back = replace(last, phase=Phase.PREPARING, restart=1)
    assert find(gang).hung_since is not None

    findings = find(replace(gang, replicas=(*others, back)))
    assert (findings.hung_since, (HANG, "") in findings.troubles) == (None, False)
