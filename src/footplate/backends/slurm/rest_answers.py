"""Reads slurmrestd's answers, of v0.0.38 and of the versions with other shapes after it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from footplate.backends.engine.engine import EngineJob
from footplate.backends.slurm import outputs
from footplate.backends.slurm.nodes import SILENT, SlurmNode
from footplate.backends.slurm.outputs import JobEnd

VERSIONS = range(38, 47)
"""The versions v0.0.38 to v0.0.46, which Footplate knows; the newest of the server's is used."""
_PATH = re.compile(r"/slurm/v0\.0\.(\d+)/job/submit")
_UNKNOWN_JOB = 2017
_ALREADY_ENDED = 2021
_PARSING = range(9000, 9100)
_FLAGS = ("COMPLETING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "REQUEUED", "SPECIAL_EXIT")
"""The flags of a job's state: what squeue shows in its place."""


def choose_version(document: Mapping[str, Any]) -> int:
    """Returns the newest supported version in the OpenAPI document. Raises ValueError."""
    paths = document.get("paths") or {}
    offered = {int(found[1]) for path in paths if (found := _PATH.fullmatch(str(path)))}
    known = offered & set(VERSIONS)
    if not known:
        first, last = VERSIONS[0], VERSIONS[-1]
        has = ", ".join(f"v0.0.{number}" for number in sorted(offered)) or "no version"
        raise ValueError(
            f"slurmrestd has {has} of its API; Footplate supports v0.0.{first} to v0.0.{last}"
        )
    return max(known)


def read_release(answer: Mapping[str, Any]) -> str:
    """Returns Slurm's release, such as ``22.05.8``."""
    meta = answer.get("meta") or {}
    slurm = meta.get("slurm") or meta.get("Slurm") or {}
    return str(slurm.get("release") or "of an unknown version")


def read_errors(answer: Mapping[str, Any]) -> tuple[tuple[int, str], ...]:
    """Returns number and text of each error in an answer."""
    found = []
    for error in answer.get("errors") or ():
        if not isinstance(error, dict):
            found.append((-1, str(error)))
            continue
        names = ("error_number", "error_code", "errno")
        number = next((error[name] for name in names if isinstance(error.get(name), int)), -1)
        said = [str(error.get(name) or "") for name in ("description", "error")]
        if said[1] in (said[0], "Unspecified error"):
            said = said[:1]
        found.append((number, ": ".join(text for text in said if text) or f"error {number}"))
    return tuple(found)


def is_unknown_job(errors: Iterable[tuple[int, str]]) -> bool:
    return any(number == _UNKNOWN_JOB for number, _ in errors)


def is_ended_job(errors: Iterable[tuple[int, str]]) -> bool:
    return any(number in (_UNKNOWN_JOB, _ALREADY_ENDED) for number, _ in errors)


def is_refusal(errors: Iterable[tuple[int, str]]) -> bool:
    """Returns whether the errors mean that Slurm rejects the job in this form."""
    return any(number in _PARSING or outputs.is_refusal(text) for number, text in errors)


def read_pings(answer: Mapping[str, Any]) -> bool:
    """Returns whether some slurmctld is up."""
    pings = [each for each in answer.get("pings") or () if isinstance(each, dict)]
    return any(str(p.get("ping", p.get("pinged"))).upper() == "UP" for p in pings)


def read_jobs(answer: Mapping[str, Any], partition: str = "") -> outputs.JobList:
    """Returns the jobs of all users in an answer; with ``partition``, those that may be there.

    Raises:
        ValueError: the answer isn't a list of jobs.
    """
    jobs = _list_of(answer, "jobs")
    if partition:
        jobs = [job for job in jobs if partition in _listed(job.get("partition"))]
    return outputs.read_each(jobs, _read_job)


def read_own_jobs(answer: Mapping[str, Any], user: str, prefix: str = "") -> outputs.JobList:
    """Returns the jobs of ``user`` in an answer.

    Any user may give a job any name: a job of another one is never ours. With ``prefix``, there is
    a sentence about each of these whose name begins with it.

    Raises:
        ValueError: the answer isn't a list of jobs.
    """
    jobs = _list_of(answer, "jobs")
    found = outputs.read_each((job for job in jobs if job.get("user_name") == user), _read_job)
    forged = [
        f"job {job.get('job_id')} in Slurm has the name of one of this service's, but is of user "
        f"{job.get('user_name')!r}: it is left alone. Jobs of this service are of {user!r}, as the "
        "key user of the region says"
        for job in jobs
        if prefix and job.get("user_name") != user and str(job.get("name")).startswith(prefix)
    ]
    return replace(found, oddities=(*found.oddities, *forged))


def _read_job(job: Mapping[str, Any]) -> EngineJob:
    try:
        reason, nodes = str(job.get("state_reason") or ""), str(job.get("nodes") or "")
        made = outputs.make_job(
            str(int(job["job_id"])), str(job["name"]), _state(job["job_state"]), reason, nodes
        )
        return outputs.add_times(made, _number(job.get("start_time")), _number(job.get("end_time")))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a job in slurmrestd's answer lacks {error}") from error


def read_end(answer: Mapping[str, Any]) -> JobEnd:
    """Returns what an answer says of the end of its one job. Raises ValueError."""
    for job in _list_of(answer, "jobs"):
        at = job.get("preempt_time") or 0
        at = at.get("number") or 0 if isinstance(at, dict) else at
        return JobEnd(outputs.read_words(str(job.get("comment") or "")), preempted=bool(at))
    return JobEnd()


def _state(value: object) -> str:
    """Returns a state from its word or, since v0.0.40, from a list of the state and flags."""
    states = [str(each) for each in value] if isinstance(value, list) else [str(value)]
    for flag in _FLAGS:
        if flag in states:
            return flag
    return states[0] if states else "UNKNOWN"


def read_nodes(answer: Mapping[str, Any]) -> tuple[SlurmNode, ...]:
    """Returns the nodes in an answer. Raises ValueError."""
    nodes = _list_of(answer, "nodes")
    try:
        return tuple(_read_node(node) for node in nodes)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a node in slurmrestd's answer lacks {error}") from error


def _read_node(node: Mapping[str, Any]) -> SlurmNode:
    states = node["state"] if isinstance(node["state"], list) else [node["state"]]
    states = [str(each).upper() for each in (*states, *(node.get("state_flags") or ()))]
    return SlurmNode(
        name=str(node["name"]),
        state="+".join(state.lower() for state in states),
        cpus=int(node["cpus"]),
        memory_mb=int(node["real_memory"]),
        gres=_listed(node.get("gres")),
        features=_listed(node.get("features")),
        partitions=_listed(node.get("partitions")),
        silent=not SILENT.isdisjoint(states),
        booted_s=_number(node.get("boot_time")),
        daemon_started_s=_number(node.get("slurmd_start_time")),
    )


def _number(value: object) -> float:
    """Returns a number, which newer versions wrap with whether it is set; 0 without one."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else 0
    return float(value) if isinstance(value, int | float) else 0.0


def _list_of(answer: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = answer.get(name)
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return found
    raise ValueError(f"slurmrestd's answer has no list of {name}")


def _listed(value: object) -> tuple[str, ...]:
    """Returns the words in a list, or between commas."""
    if isinstance(value, list):
        return tuple(str(each) for each in value)
    return tuple(word for word in str(value or "").split(",") if word)
