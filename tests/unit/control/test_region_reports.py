"""What is said of regions and of their engines."""

from __future__ import annotations

import threading

import pytest

from footplate.api.footplate_v1.regions import region_json
from footplate.control import region_reports
from footplate.control.region_reports import OTHERS, RegionReports
from footplate.control.regions import Binding, Regions
from footplate.domain.errors import NotFound
from footplate.domain.sites import EngineMachines, Mode
from footplate.ports.engines import EngineReport
from tests.support.backend import FakeBackend
from tests.support.catalogue import built_in
from tests.support.sites import make_engine_site, make_regions, make_site

REGION = "europe-west4"
LIMIT_S = 60


class Engine:
    def __init__(self) -> None:
        self.asked = 0
        self.probed = 0
        self.report: EngineReport | None = EngineReport(
            reachable=True, facts=("queue: 1 job runs, 2 wait",)
        )
        self.free = threading.Event()
        self.free.set()
        self.begun = threading.Event()

    def probe(self) -> EngineReport:
        self.probed += 1
        return EngineReport(True, ("python: 3.11",), ("uv: it is missing",))

    def check(self) -> EngineReport:
        self.asked += 1
        self.begun.set()
        assert self.free.wait(LIMIT_S)
        if self.report is None:
            raise RuntimeError("nobody foresaw this")
        return self.report


class Rig:
    def __init__(self) -> None:
        self.now = 0.0
        self.engine = Engine()
        machines = EngineMachines("Slurm", frozenset({"n1-standard-8"}), frozenset({"NVIDIA_L4"}))
        site = make_engine_site(machines, replicas=8)
        where = "partition gpu"
        engine = self.engine
        binding = Binding(FakeBackend(), site, "slurm", where, engine.check, probe=engine.probe)
        regions = Regions(make_regions().default, {REGION: binding})
        self.reports = RegionReports(regions, built_in(), lambda: self.now)


def test_bound_regions_come_first_and_one_stands_for_all_others() -> None:
    rig = Rig()

    bound, others = rig.reports.list()

    assert (bound.region, bound.backend, bound.where) == (REGION, "slurm", "Slurm, partition gpu")
    assert (bound.machine_types, bound.accelerators) == (("n1-standard-8",), ("NVIDIA_L4",))
    assert (bound.max_replicas, bound.reachable) == (8, True)
    assert bound.facts == ("queue: 1 job runs, 2 wait",)
    assert (others.region, others.backend, others.reachable) == (OTHERS, "local", None)
    assert (others.machine_types, others.accelerators) == (None, None)
    assert rig.reports.engines() == (bound,)


def test_only_who_asks_for_a_region_alone_starts_a_job_there() -> None:
    rig = Rig()
    rig.reports.start()
    assert rig.reports.list()[0].problems == ()
    assert rig.engine.probed == 0

    report = rig.reports.check(REGION)
    assert (report.facts[-1], report.problems) == ("python: 3.11", ("uv: it is missing",))
    rig.reports.check(REGION)
    assert rig.engine.probed == 2

    rig.engine.report = EngineReport(reachable=False, problems=("Slurm does not answer",))
    assert rig.reports.check(REGION).problems == ("Slurm does not answer",)
    assert rig.engine.probed == 2


def test_a_check_shows_no_earlier_answer_as_one_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()
    assert rig.reports.check(REGION).reachable
    monkeypatch.setattr(region_reports, "LONG_S", 0.01)
    rig.engine.free.clear()
    try:
        report = rig.reports.check(REGION)
        assert (report.reachable, report.facts) == (False, ())
        assert report.problems == ("Slurm has not answered yet",)
    finally:
        rig.engine.free.set()


def test_what_the_service_hands_out_itself_has_amounts() -> None:
    site = make_site(Mode.ENFORCE, name="box", vcpus=8, memory_gb=32, gpus=2)
    held = {"box": {"vcpus": 3, "NVIDIA_TESLA_T4": 1}}
    reports = RegionReports(make_regions(site), built_in(), lambda: 0.0, held.__getitem__)

    (report,) = reports.list()

    assert (report.mode, report.used) == ("enforce", held["box"])
    assert report.capacity == {"vcpus": 8, "memory_mb": 32 << 10, "NVIDIA_TESLA_T4": 2}
    answer = region_json(report)
    assert answer["used"] == {"vcpus": 3, "memory_mb": 0, "NVIDIA_TESLA_T4": 1}
    bound, _others = Rig().reports.list()
    assert (bound.capacity, bound.used, bound.mode) == ({}, {}, "")
    assert "capacity" not in region_json(bound)


def test_an_engine_is_asked_again_after_a_while_and_by_a_check_at_once() -> None:
    rig = Rig()
    rig.reports.list()
    rig.reports.list()
    assert rig.engine.asked == 1
    rig.now += region_reports.AGE_S
    rig.reports.list()
    assert rig.engine.asked == 2
    rig.engine.report = EngineReport(reachable=False, problems=("Slurm does not answer",))
    checked = rig.reports.check(REGION)
    assert (rig.engine.asked, checked.reachable) == (3, False)
    assert checked.problems == ("Slurm does not answer",)


def test_an_engine_that_hangs_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region_reports, "SHORT_S", 0.01)
    rig = Rig()
    rig.engine.free.clear()
    try:
        for _ in range(2):
            bound, _others = rig.reports.list()
            assert (bound.reachable, bound.facts) == (False, ())
            assert bound.problems == ("Slurm has not answered yet",)
        assert rig.engine.begun.wait(LIMIT_S)
    finally:
        rig.engine.free.set()
    assert rig.engine.asked == 1


def test_an_engine_whose_check_fails_is_not_reachable() -> None:
    rig = Rig()
    rig.engine.report = None

    assert rig.reports.check(REGION).reachable is False


def test_a_region_of_this_machine_and_one_that_does_not_exist() -> None:
    rig = Rig()

    assert rig.reports.check("us-central1").reachable is None
    with pytest.raises(NotFound, match="did you mean europe-west4"):
        rig.reports.check("europe-west44")
    assert rig.engine.asked == 0


def test_what_is_wrong_is_in_the_log_once_from_the_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    rig.engine.report = EngineReport(reachable=True, problems=("the partition 'gpu' has no nodes",))
    rig.reports.start()
    rig.reports.check(REGION)
    rig.reports.check(REGION)
    said = "region europe-west4: the partition 'gpu' has no nodes"
    assert [record.getMessage() for record in caplog.records] == [
        said,
        "region europe-west4: uv: it is missing",
    ]
