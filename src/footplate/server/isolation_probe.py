"""Finds what this machine can limit and isolate, by trying in the supervisor's probe."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock, Thread
from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable
from footplate.domain.resources import VCPUS, say_amount
from footplate.domain.sites import Mode, Site
from footplate.protocol.promised import USER, VIEW, Promised
from footplate.protocol.ticket import ProbeQuestion, SupervisorTicket
from footplate.replica.supervisor_archive import build_archive
from footplate.server.program_users import resolve

if TYPE_CHECKING:
    from footplate.settings import Settings


_TIMEOUT_S = 60


def ask_supervisor(settings: Settings, command: str, subject: str) -> Mapping[str, object]:
    """Runs a command of the supervisor and returns its output; {} if it fails.

    It runs in a separate process, because the command changes its process.
    """
    archive = build_archive(settings.cache)
    argv = [sys.executable, "-I", "-S", str(archive), command, subject]
    try:
        done = subprocess.run(
            argv, capture_output=True, check=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL
        )
        answer: Mapping[str, object] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):  # as said above
        return {}
    return answer


_RANGE = 2
"""The number of ids that ``resolve`` gives for a range: the first and the last."""
_LACKING = {
    USER: "programs run as root",
    VIEW: "programs have no private /tmp, and can see the service's files",
}
_log = logging.getLogger(__name__)
_LIMITED = {"memory": "memory", "CPU": "vCPUs", "processes": "processes"}


def describe_machine(site: Site, settings: Settings) -> tuple[str, ...]:
    """Returns a line on what jobs find on this machine, and further lines with notes."""
    mode = f"Machine: {site.mode.value}"
    if site.mode is Mode.EMULATE:
        room = "1 replica" if site.replicas == 1 else f"up to {site.replicas} replicas"
        limited = settings.limits == "on"
        limits = describe_limits(find_limits(settings)) if limited else "no limits on CPU or memory"
        first = f"{mode}, {room} at once, {_describe_gpus(site)}; {limits}."
    else:
        memory = f"{round(site.memory_mb / 1024, 1):g} GB"
        limits = describe_limits(find_limits(settings))
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
    """Returns the output of the supervisor's ``probe``; empty if it fails."""
    return ask_supervisor(settings, "probe", _facts(settings))


def _facts(settings: Settings) -> str:
    """Returns the facts for the probe. Raises InvalidArgument without users for programs."""
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    data_dir = settings.data_dir.resolve()
    limited = settings.mode is Mode.ENFORCE or settings.limits == "on"
    ticket = SupervisorTicket(
        isolation=settings.isolation,
        program_users=resolve(settings.program_users),
        cache=str(settings.cache.absolute()),
        buckets=str(data_dir / "buckets"),
        private=tuple(str(path) for path in (data_dir, *settings.bound_folders)),
        tmp_paths=tuple(str(path) for path in settings.tmp_paths),
    )
    return json.dumps(ProbeQuestion(ticket, str(data_dir), limited).encode())


class PromisedIsolation:
    """The isolation that programs on this machine get, which is determined once."""

    def __init__(self, settings: Settings) -> None:
        """Reads the settings. Raises InvalidArgument if programs can't have their users."""
        self._settings = settings
        self._facts = _facts(settings)
        self._lock = Lock()
        self._answer: Promised | None = None
        Thread(target=self._find, name="isolation-probe", daemon=True).start()

    def __call__(self) -> Promised:
        """Returns the isolation. Raises Unavailable if it can't be determined now."""
        answer = self._find()
        if answer is None:
            raise Unavailable("the server can't check now how this machine can isolate programs")
        return answer

    def _find(self) -> Promised | None:
        with self._lock:
            # The lock is held during the probe: others wait for its result instead of a second
            # process.
            if self._answer is None:
                found = ask_supervisor(self._settings, "probe", self._facts)
                self._answer = Promised.decode(found) if found else None
                _warn({} if self._answer is None else self._answer.faults)
            return self._answer


def _warn(faults: Mapping[str, str]) -> None:
    """Logs what programs lack here that another machine could provide."""
    for name, words in _LACKING.items():
        if faults.get(name):
            _log.warning("%s: %s", words, faults[name])


def find_limits(settings: Settings) -> Mapping[str, object]:
    """Returns the probe's result. User ids of their own always limit programs' processes."""
    answer = probe(settings)
    faults, users = answer.get("faults"), resolve(settings.program_users)
    if isinstance(faults, dict) and users is not None and len(users) == _RANGE:
        return {**answer, "faults": {**faults, "processes": ""}}
    return answer


def describe_limits(answer: Mapping[str, object]) -> str:
    """Returns which limits of a machine type apply to a replica here, and why the others don't."""
    faults = answer.get("faults")
    if not isinstance(faults, dict) or not answer.get("containment_mode"):
        return (
            "the server can't isolate programs, so it measures what replicas use without "
            "limiting them"
        )
    held = [name for key, name in _LIMITED.items() if not faults.get(key, "no")]
    listed = f"{', '.join(held[:-1])} and {held[-1]}" if held[1:] else "".join(held)
    missed = [f"{name} ({faults.get(key)})" for key, name in _LIMITED.items() if faults.get(key)]
    reasons = answer.get("reasons")
    why = f": {'; '.join(map(str, reasons))}" if isinstance(reasons, list) and reasons else ""
    parts = []
    if held:
        parts.append(f"{_describe_means(held)} limit each replica's {listed}")
    if missed:
        parts.append(
            f"the server measures what replicas use without limiting them: {', '.join(missed)}{why}"
        )
    return "; ".join(parts)


def _describe_means(held: Sequence[str]) -> str:
    """Returns what enforces the limits; user ids suffice for the number of processes."""
    return "control groups" if held != [_LIMITED["processes"]] else "their user ids"
