"""The time for which jobs held machines and accelerators, and what that costs. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from footplate.domain.catalogue import Catalogue
from footplate.domain.jobs import Job, JobSpec, MachineSpec
from footplate.domain.machines import accelerators_of

Machines = tuple[tuple[MachineSpec, int], ...]
"""Machines that are held together, and how many there are of each kind."""

_HOUR_S = 3600.0
_LEAST = 0.01


@dataclass(frozen=True)
class MachineHours:
    """The hours that are held, by machine type and by accelerator type."""

    machines: Mapping[str, float] = field(default_factory=dict)
    accelerators: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Prices:
    """The hourly prices of machine types, without accelerators, and of accelerators."""

    currency: str = ""
    machines: Mapping[str, float] = field(default_factory=dict)
    accelerators: Mapping[str, float] = field(default_factory=dict)

    def cost(self, hours: MachineHours) -> float | None:
        """Returns the cost of the hours; None: the price of some part isn't known."""
        if not self.currency:
            return None
        pairs = ((hours.machines, self.machines), (hours.accelerators, self.accelerators))
        if any(not used.keys() <= prices.keys() for used, prices in pairs):
            return None
        return sum(prices[name] * each for used, prices in pairs for name, each in used.items())


NO_PRICES = Prices()


def hours_of(spec: JobSpec, catalogue: Catalogue, seconds: float = _HOUR_S) -> MachineHours:
    """Returns the machine-hours that all replicas together hold in a number of seconds."""
    return hours_held(machines_of(spec), catalogue, seconds)


def machines_of(spec: JobSpec) -> Machines:
    """Returns the machines of all replicas, in an order that depends on nothing but them."""
    counts: Counter[MachineSpec] = Counter()
    for pool in spec.pools:
        counts[pool.machine] += pool.replica_count
    return tuple(sorted((+counts).items(), key=_place))


def _place(entry: tuple[MachineSpec, int]) -> tuple[str, str, int]:
    machine, _ = entry
    return machine.machine_type, machine.accelerator_type or "", machine.accelerator_count


def hours_held(machines: Machines, catalogue: Catalogue, seconds: float) -> MachineHours:
    """Returns the machine-hours of machines that are held for a number of seconds."""
    types: dict[str, float] = defaultdict(float)
    accelerators: dict[str, float] = defaultdict(float)
    for machine, replicas in machines:
        hours = replicas * seconds / _HOUR_S
        if hours:
            types[machine.machine_type] += hours
            name, count = accelerators_of(machine, catalogue)
            if name is not None and count:
                accelerators[name] += count * hours
    return MachineHours(dict(types), dict(accelerators))


def hours_used(jobs: Iterable[Job], catalogue: Catalogue, now: datetime) -> MachineHours:
    """Returns the hours of jobs from the first start of each to its end, or until now."""
    used = MachineHours()
    for job in jobs:
        if job.start_time is not None and job.spec.runs_itself:
            ran = ((job.end_time or now) - job.start_time).total_seconds()
            used = add(used, hours_of(job.spec, catalogue, max(0.0, ran)))
    return used


def add(first: MachineHours, second: MachineHours, times: float = 1.0) -> MachineHours:
    """Adds two records of hours; the second counts ``times``."""
    return MachineHours(
        _sum(first.machines, second.machines, times),
        _sum(first.accelerators, second.accelerators, times),
    )


def _sum(
    first: Mapping[str, float], second: Mapping[str, float], times: float
) -> Mapping[str, float]:
    return {
        name: first.get(name, 0.0) + times * second.get(name, 0.0)
        for name in dict.fromkeys((*first, *second))
    }


def say_hours(hours: MachineHours) -> str:
    """Formats hours: ``4 machine-hours and 8.5 accelerator-hours``."""
    named = (
        (sum(hours.machines.values()), "machine-hour"),
        (sum(hours.accelerators.values()), "accelerator-hour"),
    )
    told = [_say(number, unit) for number, unit in named if number or unit == "machine-hour"]
    return " and ".join(told)


def say_cost(amount: float, currency: str) -> str:
    return f"{amount:,.2f} {currency}"


def say_amount(number: float) -> str:
    """Formats a number with two decimals at most; a small number isn't shown as 0."""
    if 0 < number < _LEAST:
        return f"< {_LEAST}"
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def _say(number: float, unit: str) -> str:
    shown = say_amount(number)
    return f"{shown} {unit}{'' if shown == '1' else 's'}"
