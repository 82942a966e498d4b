"""Reports what each region is bound to, and what its engine says of itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from footplate.control.regions import Binding, Regions
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import NotFound
from footplate.domain.machines import unknown_region
from footplate.domain.resources import Amounts
from footplate.ports.engines import EngineReport

OTHERS = "*"
"""Stands for all regions that no table of the settings names."""
AGE_S = 10.0
"""How old an answer of an engine may be where it is shown beside others."""
SHORT_S, LONG_S = 2.0, 60.0
"""How long an engine is waited for: by who wants to see something else, and by who asks for it."""
_NO_PROBE = (
    f"node: the probe job hasn't answered within {LONG_S:g} s, or it failed: the service's log has "
    "the reason"
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RegionReport:
    """The state of a region and its backend.

    ``machine_types`` is None if it has all of the catalogue's. ``reachable`` is None if there is no
    engine. ``capacity`` is what all jobs together can hold, ``used`` what they hold now; both are
    empty for an engine, which knows its machines itself.
    """

    region: str
    backend: str
    where: str
    machine_types: tuple[str, ...] | None = None
    accelerators: tuple[str, ...] | None = None
    max_replicas: int = 0
    reachable: bool | None = None
    facts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    mode: str = ""
    capacity: Amounts = field(default_factory=dict)
    used: Amounts = field(default_factory=dict)


class RegionReports:
    """Reports on regions; asks engines on separate threads, so that a hanging engine delays nobody.

    ``held`` returns the amounts that are held of a site, by its name. ``problems`` has what reports
    the jobs and records of an engine that are left out, by region, and ``facts`` what Footplate
    itself has there.
    """

    def __init__(
        self,
        regions: Regions,
        catalogue: Catalogue,
        monotonic: Callable[[], float],
        held: Callable[[str], Amounts] = lambda _: {},
        problems: Mapping[str, Callable[[], tuple[str, ...]]] = MappingProxyType({}),
        facts: Mapping[str, Callable[[], tuple[str, ...]]] = MappingProxyType({}),
    ) -> None:
        self._regions = regions
        self._catalogue = catalogue
        self._held = held
        self._problems = problems
        self._facts = facts
        self._engines: Mapping[str, _Question] = {
            name: _Question(name, binding.check, monotonic)
            for name, binding in regions.bound.items()
            if binding.check is not None
        }
        self._probes: Mapping[str, _Question] = {
            name: _Question(name, binding.probe, monotonic)
            for name, binding in regions.bound.items()
            if binding.probe is not None
        }

    def start(self) -> None:
        """Asks all engines, without waiting for an answer: their problems appear in the log."""
        for question in self._engines.values():
            question.ask(AGE_S)

    def list(self) -> tuple[RegionReport, ...]:
        """Returns the regions of the settings in order, then one report for all others.

        The state of engines is the last known one.
        """
        self.start()
        bound = self._regions.bound.items()
        return (
            *(self._report(name, binding, SHORT_S) for name, binding in bound),
            self._report(OTHERS, self._regions.default, SHORT_S),
        )

    def engines(self) -> tuple[RegionReport, ...]:
        return tuple(report for report in self.list() if report.reachable is not None)

    def check(self, region: str) -> RegionReport:
        """Reports on the region as it is now, by a short job on a node of its engine, too.

        Raises NotFound: the region isn't in the catalogue.
        """
        if region not in self._catalogue.regions:
            raise NotFound(unknown_region(region, self._catalogue))
        if region in self._engines:
            self._engines[region].ask(0.0)
        binding = self._regions.bound.get(region, self._regions.default)
        return self._add_probe(self._report(region, binding, LONG_S, fresh=True))

    def _add_probe(self, report: RegionReport) -> RegionReport:
        """Returns the report with what a job has found on a node; of a dead engine as it is."""
        question = self._probes.get(report.region)
        if question is None or not report.reachable:
            return report
        question.ask(0.0)
        found = question.answer(LONG_S, fresh=True)
        if found is None:
            return replace(report, problems=(*report.problems, _NO_PROBE))
        facts, problems = (*report.facts, *found.facts), (*report.problems, *found.problems)
        return replace(report, facts=facts, problems=problems)

    def _report(
        self, region: str, binding: Binding, wait_s: float, *, fresh: bool = False
    ) -> RegionReport:
        site, engine = binding.site, binding.site.engine
        question = self._engines.get(region)
        if engine is None or question is None:
            return RegionReport(
                region,
                binding.kind,
                binding.where,
                max_replicas=site.replicas,
                mode=site.mode.value,
                capacity=site.capacity,
                used=self._held(site.name),
            )
        answer = question.answer(wait_s, fresh=fresh)
        unanswered = (f"{engine.title} has not answered yet",)
        problems = unanswered if answer is None else answer.problems
        if region in self._problems:
            problems = (*problems, *self._problems[region]())
        facts = () if answer is None else answer.facts
        if region in self._facts:
            facts = (*facts, *self._facts[region]())
        types = engine.machine_types
        return RegionReport(
            region=region,
            backend=binding.kind,
            where=", ".join(filter(None, (engine.title, binding.where))),
            machine_types=None if types is None else tuple(sorted(types)),
            accelerators=tuple(sorted(engine.accelerators)),
            max_replicas=site.replicas,
            reachable=answer is not None and answer.reachable,
            facts=facts,
            problems=problems,
        )


class _Question:
    """A question to one engine, which one thread asks at a time, however many callers wait."""

    def __init__(
        self, region: str, check: Callable[[], EngineReport], monotonic: Callable[[], float]
    ) -> None:
        self._region = region
        self._check = check
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._answered = threading.Event()
        self._asking = False
        self._last: EngineReport | None = None
        self._asked_s = float("-inf")

    def ask(self, age_s: float) -> None:
        """Asks the engine, unless that is under way or the last answer is at most ``age_s`` old."""
        with self._lock:
            if self._asking or self._monotonic() - self._asked_s < age_s:
                return
            self._asking = True
            self._answered.clear()
            self._asked_s = self._monotonic()
        threading.Thread(target=self._run, name="engine-check", daemon=True).start()

    def answer(self, wait_s: float, *, fresh: bool = False) -> EngineReport | None:
        """Returns the last answer, with ``fresh`` only that to the last question; None: there is
        none.
        """
        answered = self._answered.wait(wait_s)
        with self._lock:
            return self._last if answered or not fresh else None

    def _run(self) -> None:
        found: EngineReport | None = None
        try:
            found = self._check()
            # Before the answer is given: who has it finds in the log what is wrong.
            self._log_new(found.problems)
        except Exception:
            _log.exception("Footplate can't check this engine")
        finally:
            with self._lock:
                self._last, self._asking = found, False
            self._answered.set()

    def _log_new(self, problems: tuple[str, ...]) -> None:
        known = () if self._last is None else self._last.problems
        for problem in problems:
            if problem not in known:
                _log.warning("region %s: %s", self._region, problem)
