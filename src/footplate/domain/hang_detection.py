"""Rules that detect hanging programs and silent supervisors, and their messages. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from footplate.domain.formatting import listed
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import exit_analysis, replica_losses

HANG = "HANG"
STOPPED = "STOPPED_BY_SIGNAL"
SILENT = "SILENT"
OVER = {HANG: "HANG_OVER", STOPPED: "CONTINUED", SILENT: "HEARD_AGAIN"}
"""By what is told of a trouble: what is told when it is over."""
_TROUBLE = {over: trouble for trouble, over in OVER.items()}

BUSY_CPUS = 0.1
"""A program that uses less of its vCPUs idles."""
STOPPED_SAMPLES = 2
"""So many samples in a row must find a program stopped: some stop themselves for a moment."""
FRESH_SAMPLES = 3
"""A replica that is heard of, but not by a sample for so many of their periods, isn't judged."""


@dataclass(frozen=True)
class Rules:
    """The times after which silence counts as trouble, in seconds; 0 turns a rule off."""

    usage_s: float
    """From one sample to the next."""
    hang_s: float
    """A silence of all programs that is to be told."""
    silent_s: float
    """How long nothing may be heard of a supervisor."""


@dataclass(frozen=True)
class Sign:
    """The signs of life received about one start of a replica; None: none of that kind yet."""

    known_at: datetime
    """When it began to listen for it."""
    heard_at: datetime | None = None
    printed_at: datetime | None = None
    sampled_at: datetime | None = None
    quiet_s: float = 0.0
    """As the last sample says; files were asked where it is as long as ``hang_s``."""
    cpus: float = 0.0
    """vCPUs in use between the last two samples."""
    stopped: int = 0
    """How many samples in a row found all its processes stopped by a signal."""

    @property
    def last_report_time(self) -> datetime:
        return self.known_at if self.heard_at is None else max(self.known_at, self.heard_at)

    @property
    def active_at(self) -> datetime | None:
        """Returns when the program last showed a sign of life; None: never."""
        if self.sampled_at is None:
            return self.printed_at
        active = self.sampled_at - timedelta(seconds=self.quiet_s)
        return active if self.printed_at is None else max(active, self.printed_at)


_IDLE = "idle"
_GATHERING = (Phase.WAITING, Phase.PREPARING, Phase.READY)

Place = tuple[str, str]
"""A trouble and the replica that has it, empty for the whole job."""


@dataclass(frozen=True)
class Findings:
    """The present troubles: by kind and replica a sentence on the trouble, None if there is none.

    Unknown conditions count as no trouble. ``hung_since``: if the job hangs, since when all
    programs have been silent. ``stuck_since``: if another replica has failed, since when all
    remaining programs have been silent and idle; evaluators don't count, as their activity is no
    sign that the job goes on.
    """

    troubles: Mapping[Place, str | None]
    hung_since: datetime | None = None
    stuck_since: datetime | None = None


def examine(
    job: Job, signs: Mapping[str, Sign], live: Collection[str], now: datetime, rules: Rules
) -> Findings:
    """Finds the troubles of a job's replicas.

    ``live`` are the replicas whose supervisors run, according to the backend. Replicas without a
    sign have no findings. While one replica restarts, the silence of those that wait for it is no
    hang.
    """
    if job.ending is not None or job.state.terminal:
        return Findings({})
    troubles: dict[Place, str | None] = {}
    for replica in job.replicas:
        sign = signs.get(replica.name)
        if sign is None or replica.phase in (Phase.EXITED, Phase.GONE):
            continue
        if replica.name in live:
            _add(troubles, (SILENT, replica.name), _silent(sign, now, rules))
        if replica.phase is Phase.RUNNING:
            _add(troubles, (STOPPED, replica.name), _stopped(sign))
    running = [replica.name for replica in job.replicas if replica.phase is Phase.RUNNING]
    watched = rules.usage_s > 0 and rules.hang_s > 0
    gathers = any(replica.phase in _GATHERING for replica in job.replicas)
    if job.state is not State.RUNNING or not watched or gathers:
        return Findings(troubles)
    found = _find_hang(troubles, {name: signs.get(name) for name in running}, now, rules)
    return replace(found, stuck_since=_stuck_since(job, signs, now, rules))


def _stuck_since(
    job: Job, signs: Mapping[str, Sign], now: datetime, rules: Rules
) -> datetime | None:
    failures = exit_analysis.judged_failures(job)
    running = (r for r in job.replicas if r.phase is Phase.RUNNING)
    left = [signs.get(r.name) for r in running if replica_losses.matters(job, r)]
    silences = [
        _silence(sign, now, rules)
        for sign in left
        if sign is not None and _doing(sign, now, rules) == _IDLE
    ]
    moments = [moment for moment in silences if isinstance(moment, datetime)]
    if not failures or not moments or len(moments) < len(left):
        return None
    failed = [r.ended_at for r in failures if r.ended_at is not None]
    since = max(*moments, *failed)
    return since if (now - since).total_seconds() >= rules.hang_s else None


def _find_hang(
    troubles: dict[Place, str | None],
    signs: Mapping[str, Sign | None],
    now: datetime,
    rules: Rules,
) -> Findings:
    """Finds a hang: all running programs are silent. ``signs`` has a sign of each."""
    silences = [None if sign is None else _silence(sign, now, rules) for sign in signs.values()]
    silent = [moment for moment in silences if isinstance(moment, datetime)]
    if not silent or len(silent) < len(silences):
        return Findings({**troubles, (HANG, ""): None} if False in silences else troubles)
    since = max(silent)
    doing = {name: _doing(sign, now, rules) for name, sign in signs.items() if sign is not None}
    return Findings({**troubles, (HANG, ""): describe_hang(since, now, doing)}, since)


def _add(troubles: dict[Place, str | None], place: Place, found: str | None) -> None:
    """Records a trouble; ``found`` is empty if there is none, None if that is unknown."""
    if found is not None:
        troubles[place] = found or None


def _is_unheard(sign: Sign, now: datetime, rules: Rules) -> bool:
    return rules.silent_s > 0 and (now - sign.last_report_time).total_seconds() >= rules.silent_s


def _silent(sign: Sign, now: datetime, rules: Rules) -> str | None:
    if not _is_unheard(sign, now, rules):
        return None if sign.heard_at is None else ""
    return (
        f"the replica's supervisor has not reported since {_spell(sign.last_report_time)}: a "
        "signal has stopped it, or its machine is too busy. The server doesn't know what the "
        "program does"
    )


def _stopped(sign: Sign) -> str | None:
    if sign.stopped >= STOPPED_SAMPLES:
        return (
            "a signal such as SIGSTOP has stopped all processes of the program; SIGCONT resumes "
            "them"
        )
    return None if sign.stopped or sign.sampled_at is None else ""


def _silence(sign: Sign, now: datetime, rules: Rules) -> datetime | bool | None:
    """Returns since when the program has been silent for too long; False: it isn't; None: unknown.

    Only a recent sample proves silence, because only then were the program's files examined. A
    replica whose supervisor can't be reached sends no sample; its last sign of life counts.
    """
    active = sign.active_at
    if _is_unheard(sign, now, rules):
        last = active or sign.known_at
        return last if (now - last).total_seconds() >= rules.hang_s else None
    if active is None or sign.sampled_at is None:
        return None
    if (now - sign.sampled_at).total_seconds() > FRESH_SAMPLES * rules.usage_s:
        return None
    return active if (sign.sampled_at - active).total_seconds() >= rules.hang_s else False


def _doing(sign: Sign, now: datetime, rules: Rules) -> str:
    if _is_unheard(sign, now, rules):
        return "not heard of"
    if sign.stopped:
        return "stopped by a signal such as SIGSTOP"
    return f"busy ({sign.cpus:.1f} vCPUs)" if sign.cpus >= BUSY_CPUS else _IDLE


def describe_hang(since: datetime, now: datetime, doing: Mapping[str, str]) -> str:
    """Describes a hang; ``doing`` says what each running replica does."""
    silent_s = (now - since).total_seconds()
    groups = "; ".join(_groups(doing))
    length = f"{silent_s:.0f} s, since {_spell(since)}"
    return f"no program has printed, reported or written anything for {length}: {groups}"


def _groups(doing: Mapping[str, str]) -> Iterator[str]:
    """Yields descriptions of replicas that do the same: small groups by name, the largest last."""
    kinds: dict[str, list[str]] = {}
    for name, what in doing.items():
        kinds.setdefault(what.partition(" (")[0], []).append(name)
    ordered = sorted(kinds.values(), key=len)
    for names in ordered:
        what = doing[names[0]] if len(names) == 1 else doing[names[0]].partition(" (")[0]
        if names is ordered[-1] and len(names) > 1:
            yield f"{'the others' if len(ordered) > 1 else f'all {len(names)} replicas'} are {what}"
        else:
            yield f"{listed(names)} {'is' if len(names) == 1 else 'are'} {what}"


def tell(
    earlier: Sequence[JobEvent], findings: Findings, attempt: int, now: datetime
) -> tuple[JobEvent, ...]:
    """Returns new events for what has changed since ``earlier``, the job's previous events.

    Each trouble is reported once until it ends, whichever server reports it: numbered keys prevent
    duplicates.
    """
    events: list[JobEvent] = []
    for place, message in findings.troubles.items():
        history = [
            event for event in earlier if _place(event) == place and event.attempt == attempt
        ]
        standing = history[-1] if history and history[-1].kind == place[0] else None
        again = standing is not None and _is_another(standing, place, findings)
        count = len(history)
        if standing is not None and (message is None or again):
            events.append(_event(place, OVER[place[0]], "", attempt, now, count))
            count += 1
        if message is not None and (standing is None or again):
            events.append(_event(place, place[0], message, attempt, now, count))
    return tuple(events)


def _is_another(standing: JobEvent, place: Place, findings: Findings) -> bool:
    """Returns whether this is another hang than the last reported one, whose end wasn't noticed."""
    since = findings.hung_since
    return place[0] == HANG and since is not None and since > standing.time


def _event(
    place: Place, kind: str, message: str, attempt: int, now: datetime, number: int
) -> JobEvent:
    trouble, replica = place
    key = f"{trouble}/{attempt}/{replica}/{number}"
    return JobEvent(now, kind, message, attempt, replica, key=key)


def _place(event: JobEvent) -> Place:
    return _TROUBLE.get(event.kind, event.kind), event.replica


def troubles_of(events: Iterable[JobEvent]) -> tuple[JobEvent, ...]:
    """Returns the events that ``tell`` needs. Supervisors of programs can't forge their keys."""
    kinds = OVER.keys() | _TROUBLE.keys()
    return tuple(e for e in events if e.kind in kinds and (e.key or "").startswith(tuple(OVER)))


def _spell(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
