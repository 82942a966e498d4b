"""Answers as JSON, there and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import UnknownError, Violation
from footplate.domain.jobs import DiskSpec
from footplate.domain.preview.parity import Parity
from footplate.domain.preview.plan import Plan, PlannedMachine, PlannedPool, PlannedProgram
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.domain.sites import Mode
from footplate.wire.footplate_v1 import verdicts as answers
from footplate.wire.footplate_v1.events import Event
from footplate.wire.footplate_v1.status import Ending, Server, Status
from footplate.wire.json_text import JsonObject
from tests.support.plain_strategies import texts

several = st.lists(texts, max_size=3).map(tuple)
amounts = st.dictionaries(texts, st.integers(0, 2**53), max_size=3)
machines = st.builds(
    PlannedMachine,
    machine_type=texts,
    vcpus=st.none() | st.integers(1, 416),
    memory_gb=st.none() | st.floats(0.5, 4000),
    accelerator=st.just("NVIDIA_TESLA_T4"),
    accelerator_count=st.integers(1, 16),
    disk=st.builds(DiskSpec, texts, st.integers(0, 64_000)),
) | st.builds(
    PlannedMachine, texts, st.none(), st.none(), st.none(), st.just(0), st.just(DiskSpec())
)
programs = st.builds(
    PlannedProgram,
    runtime=texts,
    python=st.none() | texts,
    module=texts,
    packages=several,
    args=several,
) | st.builds(PlannedProgram, image=texts, command=st.none() | several, args=st.none() | several)
pools = st.builds(
    PlannedPool,
    role=texts,
    replicas=several,
    machine=machines,
    program=programs,
    variables=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
)
plans = st.builds(
    Plan,
    region=texts,
    zone=st.none() | texts,
    mode=st.none() | st.sampled_from(Mode),
    pools=st.lists(pools, max_size=3).map(tuple),
    steps=several,
    counts=amounts,
    holds=amounts,
    limits=texts,
)
outlooks = st.just(Outlook(starts_now=True)) | st.builds(
    Outlook, st.just(value=False), st.integers(0, 100_000), texts
)
verdicts = st.builds(
    Verdict,
    violations=st.lists(st.builds(Violation, texts, texts), max_size=3).map(tuple),
    warnings=several,
    parity=st.builds(Parity, st.none() | st.booleans(), several),
    refusal=st.none() | texts,
    plan=st.none() | plans,
    queue=st.none() | outlooks,
)


@given(verdicts)
def test_what_is_written_can_be_read(verdict: Verdict) -> None:
    answer = answers.Verdict.of(verdict)
    written = json.loads(json.dumps(answer.encode()))

    assert answers.Verdict.decode(written) == answer
    assert answers.Verdict.decode(written).encode() == written
    assert (written["verdict"] == "ACCEPTED") is verdict.accepted


def test_a_refused_job_has_neither_plan_nor_place_in_the_queue() -> None:
    verdict = Verdict((Violation("a.b", "required"),), (), Parity(accepted=False, reasons=("x",)))

    assert answers.Verdict.of(verdict).encode() == {
        "verdict": "REJECTED",
        "violations": [{"field": "a.b", "description": "required"}],
        "warnings": [],
        "parity": {"accepted": "NO", "reasons": ["x"]},
    }


@pytest.mark.parametrize("missing", ["verdict", "parity"])
def test_what_is_no_verdict(missing: str) -> None:
    verdict = Verdict((), (), Parity(accepted=True))
    written = answers.Verdict.of(verdict).encode()
    del written[missing]

    with pytest.raises(UnknownError, match=missing):
        answers.Verdict.decode(written)


def test_what_a_newer_server_adds_is_kept() -> None:
    written = answers.Verdict.of(Verdict((), (), Parity(accepted=True))).encode()
    written["parity"] = {"accepted": "YES", "since": "2030"}

    assert answers.Verdict.decode(written).encode() == written


def test_a_status_is_read_as_it_was_written() -> None:
    server = Server("http://127.0.0.1:8470", 7, "1.0", leads=True)
    region: JsonObject = {"name": "europe-west4", "problems": ["does not answer"]}
    status = Status(
        version="1.0",
        url=server.url,
        pid=server.pid,
        data_dir="/data",
        active_jobs={"RUNNING": 2},
        active_trials={},
        servers=(server,),
        trouble="the disk is full",
        regions=(region,),
    )

    assert status.encode() == {
        "version": "1.0",
        "url": "http://127.0.0.1:8470",
        "pid": 7,
        "dataDir": "/data",
        "activeJobs": {"RUNNING": 2},
        "activeTrials": {},
        "servers": [{"url": server.url, "pid": 7, "version": "1.0", "leads": True}],
        "trouble": "the disk is full",
        "regions": [region],
    }
    assert Status.decode(status.encode()) == status


@pytest.mark.parametrize("ending", [Ending(0), Ending(3, ("http://10.0.0.2:8470",))])
def test_an_ending_is_read_as_it_was_written(ending: Ending) -> None:
    assert Ending.decode(ending.encode()) == ending


def test_an_event_is_read_as_it_was_written() -> None:
    event = Event(1, "2026-11-21T08:00:00.000000Z", "RESTART", "lost", 2, "worker-replica-0")

    assert Event.decode(event.encode()) == event
    assert Event.decode({"number": "4", "since": "2030"}).number == 4
