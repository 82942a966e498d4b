"""Finds by probing which resource limits work on this machine."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from footplate.domain.resources import VCPUS, say_amount
from footplate.domain.sites import Mode
from footplate.server.isolation_probe import ask_supervisor
from footplate.server.program_users import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.domain.sites import Site
    from footplate.settings import Settings

_RANGE = 2
"""Of the ids that ``resolve`` gives: the first and the last."""
_LIMITED = {"memory": "memory", "CPU": "vCPUs", "processes": "processes"}


def describe_machine(site: Site, settings: Settings) -> tuple[str, ...]:
    """What jobs find here, in one line, and a line for each thing that one should know of it."""
    mode = f"Machine: {site.mode.value}"
    if site.mode is Mode.EMULATE:
        room = "1 replica" if site.replicas == 1 else f"up to {site.replicas} replicas"
        limited = settings.limits == "on"
        limits = (
            describe_limits(_find_limits(settings)) if limited else "no limits on CPU or memory"
        )
        first = f"{mode}, {room} at once, {_describe_gpus(site)}; {limits}."
    else:
        memory = f"{round(site.memory_mb / 1024, 1):g} GB"
        limits = describe_limits(_find_limits(settings))
        vcpus = say_amount(VCPUS, site.vcpus)
        first = f"{mode}, {vcpus}, {memory}, {_describe_gpus(site)}; {limits}."
    return (first, *(f"  {note}" for note in site.notes))


def _describe_gpus(site: Site) -> str:
    if not site.gpus:
        return "no GPUs"
    names = Counter(
        f"{'simulated ' if gpu.simulated else ''}{gpu.accelerator or gpu.model}"
        for gpu in site.gpus
    )
    return ", ".join(f"{count} {name}" for name, count in names.items())


def probe(settings: Settings) -> Mapping[str, object]:
    """The output of the supervisor's ``probe``; empty if it fails."""
    return ask_supervisor(settings, "probe", settings.isolation)


def _find_limits(settings: Settings) -> Mapping[str, object]:
    """The processes of a user id that nobody else has can be limited everywhere."""
    told = probe(settings)
    faults, users = told.get("faults"), resolve(settings.program_users)
    if isinstance(faults, dict) and users is not None and len(users) == _RANGE:
        return {**told, "faults": {**faults, "processes": ""}}
    return told


def describe_limits(told: Mapping[str, object]) -> str:
    """Which of a machine type's limits hold a replica here, and why not the others."""
    faults = told.get("faults")
    if not isinstance(faults, dict) or not told.get("containment_mode"):
        return "counted, and not limited: no isolation can be had"
    held = [name for key, name in _LIMITED.items() if not faults.get(key, "no")]
    listed = f"{', '.join(held[:-1])} and {held[-1]}" if held[1:] else "".join(held)
    missed = [f"{name} ({faults.get(key)})" for key, name in _LIMITED.items() if faults.get(key)]
    reasons = told.get("reasons")
    why = f": {'; '.join(map(str, reasons))}" if isinstance(reasons, list) and reasons else ""
    parts = []
    if held:
        parts.append(f"each replica's {listed} limited by {_describe_means(held)}")
    if missed:
        parts.append(f"counted, and not limited: {', '.join(missed)}{why}")
    return "; ".join(parts)


def _describe_means(held: Sequence[str]) -> str:
    """Processes alone are limited without control groups."""
    return "control groups" if held != [_LIMITED["processes"]] else "their user ids"
