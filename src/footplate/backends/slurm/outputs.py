"""Reads what Slurm's commands print. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.backends.slurm.heterogeneous_jobs import join_components
from footplate.backends.slurm.job_script import WORDS
from footplate.backends.slurm.nodes import SILENT, SlurmNode, expand, split_state
from footplate.domain.formatting import last_line
from footplate.ports.backend import EndCause

SQUEUE_FORMAT = "%i|%T|%r|%N|%S|%e|%j"
NODE_FORMAT = "%N|%T|%c|%m|%G|%f"

_WAITING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD"})
_COMPLETING = "COMPLETING"
_SUSPENDED = ("STOPPED", "SUSPENDED")
_ENDED = {
    "BOOT_FAIL": "a node of the job could not be started",
    "CANCELLED": "cancelled in Slurm",
    "COMPLETED": "the job ended",
    "DEADLINE": "Slurm ended the job at its --deadline",
    "FAILED": "the job failed",
    "NODE_FAIL": "a node of the job failed",
    "OUT_OF_MEMORY": "the job used more memory than Slurm gave it",
    "PREEMPTED": "Slurm gave the nodes of the job to another one",
    "REVOKED": "Slurm moved the job to another cluster",
    "SPECIAL_EXIT": "the job ended",
    "TIMEOUT": "Slurm ended the job at the time limit of --time or of its partition",
}
_CAUSES = {
    "CANCELLED": EndCause.CANCELLED,
    "DEADLINE": EndCause.TIME_LIMIT,
    "OUT_OF_MEMORY": EndCause.OUT_OF_MEMORY,
    "PREEMPTED": EndCause.PREEMPTED,
    "TIMEOUT": EndCause.TIME_LIMIT,
}
_REASONS = {
    "None": "waits for Slurm's scheduler",
    "Resources": "waits for nodes that other jobs use now",
    "Priority": "waits behind jobs with a higher priority",
    "Dependency": "waits for another job of Slurm",
    "BeginTime": "waits for its begin time in Slurm",
    "ReqNodeNotAvail": "waits for nodes that are down, drained or reserved",
    "Reservation": "waits for its reservation",
    "NodeDown": "waits for nodes that are down",
    "PartitionDown": "waits for its partition, which is down",
    "PartitionInactive": "waits for its partition, which is inactive",
    "PartitionNodeLimit": "asks for more nodes than its partition allows",
    "PartitionTimeLimit": "asks for more time than its partition allows",
    "BadConstraints": "asks for resources that no node has",
    "JobHeldAdmin": "an administrator of Slurm holds the job",
    "JobHeldUser": "a user holds the job (scontrol hold)",
    "Licenses": "waits for licenses",
    "InvalidAccount": "the job's account is not valid in Slurm",
    "InvalidQOS": "the job's QOS is not valid in Slurm",
    "AccountNotAllowed": "the job's account may not use the partition",
    "QOSNotAllowed": "the job's QOS may not use the partition",
    "Cleaning": "waits until Slurm has cleaned its nodes up",
}
_REFUSED = frozenset(
    {
        *("BadConstraints", "InvalidAccount", "InvalidQOS", "PartitionNodeLimit"),
        *("PartitionTimeLimit", "AccountNotAllowed", "QOSNotAllowed"),
    }
)
"""Why a job failed that never ran, whose settings somebody can mend."""
_PREEMPTED = re.compile(r" PreemptTime=\d")
_CANCELLER = re.compile(r"^CANCELLED by (\d+)", re.MULTILINE)
_FIELD = re.compile(r"(?:^|\s)([A-Za-z]+)=(\S*)")
_SILENT = ("*", "DOWN", "UNKNOWN", "FAIL", "NO_RESPOND")


@dataclass(frozen=True)
class JobList:
    """The jobs of an answer, and a sentence about each record that is none."""

    jobs: tuple[EngineJob, ...]
    oddities: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobEnd:
    """The facts on the end of a job that Slurm's lists leave out."""

    words: str = ""
    """The last line that its script wrote, if that failed."""
    preempted: bool = False
    """Slurm asked it to end for another job, so that it ended by itself."""
    user: str = ""
    """Who cancelled it, if Slurm has accounting."""


def read_jobs(text: str) -> JobList:
    """Returns the jobs in the output of ``squeue --noheader -t all -o SQUEUE_FORMAT``.

    Raises:
        ValueError: the output is something else, or incomplete.
    """
    if text and not text.endswith("\n"):
        raise ValueError("squeue's answer ends too early")
    found = read_each((line for line in text.split("\n") if line.strip()), _read_job)
    return replace(found, jobs=join_components(found.jobs))


Record = TypeVar("Record")


def read_each(records: Iterable[Record], read: Callable[[Record], EngineJob]) -> JobList:
    """Returns the jobs that ``read`` makes of records.

    One that it can't read is left out: it may be anybody's, as the name of a job may have a line
    break in it. Raises ValueError if it can't read any.
    """
    jobs, odd = [], []
    for record in records:
        try:
            jobs.append(read(record))
        except ValueError as error:
            odd.append(f"a job is left out: {error}")
    if odd and not jobs:
        raise ValueError(odd[0])
    return JobList(tuple(jobs), tuple(odd))


def _read_job(line: str) -> EngineJob:
    fields = line.split("|", 6)
    if len(fields) != 7 or not fields[0].strip():
        raise ValueError(f"squeue says {line[:100]!r}")
    job_id, state, reason, nodes, started, ends, name = (field.strip() for field in fields)
    job = make_job(job_id, name, state, reason, nodes)
    # squeue's word where there is no limit, unless the backfill scheduler wrote one of a year.
    ends_s = math.inf if ends == "NONE" else _read_moment(ends)
    return add_times(job, _read_moment(started), ends_s)


def add_times(job: EngineJob, started_s: float, ends_s: float) -> EngineJob:
    """Returns the job with its times, if it runs: of one that waits Slurm foretells them."""
    if job.phase is not JobPhase.RUNNING:
        return job
    return replace(job, started_s=started_s, ends_s=ends_s)


def make_job(job_id: str, name: str, state: str, reason: str, nodes: str) -> EngineJob:
    state = state.partition(" ")[0].rstrip("+")
    nodes = "" if nodes in ("(null)", "None assigned") else nodes
    if state in _WAITING:
        words = f"{explain(reason)} (job {job_id} in Slurm: {reason or state})"
        return EngineJob(job_id, name, JobPhase.WAITING, words, nodes)
    if state in _SUSPENDED:
        words = f"Slurm has suspended the job: its programs stand still ({_beside(job_id, state)})"
        return EngineJob(job_id, name, JobPhase.RUNNING, words, nodes, suspended=True)
    if state not in _ENDED:
        ending = state == _COMPLETING
        return EngineJob(job_id, name, JobPhase.RUNNING, "", nodes, ending=ending)
    # sbatch refuses a job and Slurm keeps a record of it, or takes it and finds out later.
    refused = state == "FAILED" and not nodes and reason.strip("()") in _REFUSED
    words = f"{_ENDED[state]} ({_beside(job_id, state)})"
    if refused:
        words = f"{explain(reason)} (Slurm refused job {job_id}: {reason})"
    cause, lost = _CAUSES.get(state, EndCause.UNKNOWN), state == "NODE_FAIL"
    return EngineJob(job_id, name, JobPhase.ENDED, words, nodes, cause, refused, lost)


def _beside(job_id: str, state: str) -> str:
    return f"job {job_id}" if state == "CANCELLED" else f"job {job_id} in Slurm: {state}"


def explain(reason: str) -> str:
    """Returns Slurm's reason why a job waits, as a sentence without its subject."""
    word = reason.strip("()").partition(",")[0].partition(" ")[0]
    if word in _REASONS:
        return _REASONS[word]
    if word.startswith(("QOS", "Assoc")):
        return "waits for a limit of its QOS or account in Slurm"
    return "waits in Slurm's queue"


def read_job_record(text: str, uid: int) -> EngineJob | None:
    """Returns the job in the output of ``scontrol show job ID --oneliner``, which has a line for
    each component; None if it is of another user than ``uid``. Raises ValueError.
    """
    records = [_read_fields(line) for line in text.splitlines() if line.strip()]
    found = join_components(map(_read_record, records))
    # Slurm gives out the number of an old job again, also to another user.
    if any(not record["UserId"].endswith(f"({uid})") for record in records):
        return None
    if len(found) != 1:
        raise ValueError(f"scontrol shows {len(found)} jobs")
    return found[0]


def _read_fields(line: str) -> dict[str, str]:
    # The first field of a name counts, as of nodes: a job's comment may have such words in it.
    words = (word.partition("=")[::2] for word in reversed(line.split()) if "=" in word)
    return dict(words)


def _read_record(fields: dict[str, str]) -> EngineJob:
    whole, offset = fields.get("HetJobId", ""), fields.get("HetJobOffset", "")
    if "UserId" not in fields:
        raise ValueError("scontrol doesn't say 'UserId'")
    try:
        return make_job(
            f"{whole}+{offset}" if whole else fields["JobId"],
            fields["JobName"],
            fields["JobState"],
            fields.get("Reason", ""),
            fields.get("NodeList", ""),
        )
    except KeyError as error:
        raise ValueError(f"scontrol doesn't say {error}") from error


def silent_nodes(text: str, nodes: str) -> tuple[str, ...]:
    """Returns the nodes among ``nodes`` that don't answer Slurm, from ``sinfo -a -h -N -o
    '%N|%T'``.

    Includes nodes missing in the output, since they may run something. Raises ValueError.
    """
    answering = set()
    for line in text.splitlines(keepends=True):
        node, _, state = line.partition("|")
        if line.endswith("\n") and not any(mark in state.upper() for mark in _SILENT):
            answering.add(node.strip())
    return tuple(sorted(expand(nodes) - answering))


def read_nodes(text: str) -> Iterator[SlurmNode]:
    """Yields the nodes in the output of ``scontrol show node --oneliner``, with moments in Unix
    time; a moment in another form counts as unknown.
    """
    for line in text.splitlines(keepends=True):
        # The first field of a name counts: what users write, such as comments, comes after it.
        fields = dict(reversed(_FIELD.findall(line)))
        if line.endswith("\n") and fields.get("NodeName") and fields.get("State"):
            state = fields["State"]
            yield SlurmNode(
                name=fields["NodeName"],
                state=state,
                cpus=0,
                memory_mb=0,
                silent="*" in state or not SILENT.isdisjoint(split_state(state)),
                booted_s=_read_moment(fields.get("BootTime", "")),
                daemon_started_s=_read_moment(fields.get("SlurmdStartTime", "")),
            )


def _read_moment(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else 0.0


def describe_nodes(text: str) -> tuple[str, ...]:
    """Returns a line for each node in the output of ``sinfo -h -N -o NODE_FORMAT``."""
    found = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 6:
            node, state, cpus, memory_mb, gres, features = fields
            parts = [f"{node}: {state}, {cpus} CPUs, {memory_mb} MB"]
            parts += [f"GRES {gres}"] if gres not in ("(null)", "") else []
            parts += [f"features {features}"] if features not in ("(null)", "") else []
            found[node] = ", ".join(parts)
    return tuple(found.values())


def read_end(text: str) -> JobEnd:
    """Returns what the output of ``scontrol show job ID --oneliner`` says of the job's end."""
    # Anything may stand in a comment, also what looks like another field.
    before, _, rest = text.partition(" Comment=")
    comment, _, _ = rest.rpartition(" StdErr=")
    return JobEnd(read_words(comment), preempted=_PREEMPTED.search(before) is not None)


def read_canceller(text: str) -> int | None:
    """Returns the number of the user in sacct's state ``CANCELLED by UID``; None: it isn't said."""
    found = _CANCELLER.search(text)
    return int(found[1]) if found else None


def explain_end(job: EngineJob, end: JobEnd) -> EngineJob:
    """Returns an ended job with what ``end`` says of it."""
    if end.user:
        return replace(job, reason=f"cancelled in Slurm by {end.user} (job {job.id})")
    if end.preempted:
        words = f"{_ENDED['PREEMPTED']} (job {job.id} in Slurm, which asked it to end)"
        return replace(job, reason=words, cause=EndCause.PREEMPTED)
    return replace(job, reason=f"{job.reason}: {end.words}") if end.words else job


def read_words(comment: str) -> str:
    """Returns the last words of a job in its comment, where its script has written them."""
    _, mark, words = last_line(comment).partition(WORDS)
    return words.strip() if mark else ""


def is_unknown_job(error: str) -> bool:
    return "Invalid job id" in error


_REFUSALS = (
    "invalid partition",
    "invalid account",
    "invalid qos",
    "invalid feature",
    "requested node configuration is not available",
    "invalid generic resource",
    "access/permission denied",
    "user's group not permitted",
    "unrecognized option",
    "invalid option",
    "invalid constraint",
    "more processors requested than permitted",
    "requested partition configuration not available",
    "node count specification invalid",
    "job violates accounting",
    "invalid wckey",
    "requested time limit is invalid",
    "invalid --",
    "memory specification can not be satisfied",
)


def is_refusal(error: str) -> bool:
    """Returns whether sbatch's error means that Slurm rejects the job in this form."""
    lowered = error.lower()
    return any(words in lowered for words in _REFUSALS)
