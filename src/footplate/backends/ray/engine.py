"""Ray as an engine, by the HTTP API of its jobs: neither Ray nor its Python is needed here."""

from __future__ import annotations

import builtins
import hashlib
import io
import json
import secrets
import shlex
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, TypeVar

from footplate.backends.engine.engine import (
    EngineJob,
    EngineRefused,
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
    NodeState,
)
from footplate.backends.ray import health_checks
from footplate.backends.ray.health_checks import HealthChecks
from footplate.domain.formatting import last_line
from footplate.plain_httpx import httpx
from footplate.ports.backend import EndCause
from footplate.ports.engines import EngineReport
from footplate.protocol.site_variables import SITE_VARIABLES

Read = TypeVar("Read")
TIMEOUT_S = 20.0
_CHECK_S, _CHECK_POLL_S = 90.0, 0.2
"""How long a job that reads settings may take, and how often it is looked at."""
_CHECK_AGAIN_S = 600.0
PROBE_S = 30.0
_CPUS, _PART_OF_CPU = "entrypoint_num_cpus", 0.01
UNKNOWN = (
    "the server can't tell how soon Ray notices a disconnected node: the job that reads Ray's "
    "settings failed"
)

_PHASES = {
    "PENDING": JobPhase.WAITING,
    "RUNNING": JobPhase.RUNNING,
    "STOPPED": JobPhase.ENDED,
    "SUCCEEDED": JobPhase.ENDED,
    "FAILED": JobPhase.ENDED,
}
_ENDS = {
    "STOPPED": ("the replica's job was stopped in Ray"),
    "SUCCEEDED": ("the replica's launcher has ended"),
}
UNKNOWN_NODES = "?"
_MIB = 1 << 20
_NODES = 10_000


@dataclass(frozen=True)
class RaySettings:
    """The settings of a region for its Ray cluster.

    ``address`` is the URL of the dashboard. ``machines`` has Ray's resources for each machine type,
    beside processors and memory (``{"pool_large": 1}``); those of ``*`` apply to all other types.
    """

    address: str
    python: str = "python"
    strategy: str = "PACK"
    machines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    accelerators: Mapping[str, str] = field(default_factory=dict)
    """A resource for each accelerator type, beside Ray's ``GPU``."""
    reserve: bool = True
    """Whether launchers reserve the processors and the memory of their machine types."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of all launchers and their programs."""


class RayEngine:
    """Runs jobs on Ray; touches only jobs whose submission ids have the service's prefix."""

    title = "Ray"
    oddities: tuple[str, ...] = ()
    rank_variable = "FOOTPLATE_RANK"
    job_variable = "FOOTPLATE_JOB"
    node_variable = "FOOTPLATE_NODE"

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._http = httpx.Client(
            base_url=settings.address,
            timeout=TIMEOUT_S,
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),  # nobody closes an engine
        )
        self._health_checks: tuple[str, HealthChecks | None, float] = ("", None, 0.0)
        """The session of the head, its checks, and when it was asked."""

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:  # noqa: ARG002  as all
        return None

    def submit(self, request: JobRequest) -> str:
        """Submits a job. Its name is the id, which Ray accepts only once."""
        package = pack(self._settings, request)
        name = f"_ray_pkg_{hashlib.sha256(package).hexdigest()[:32]}.zip"
        self._ask("PUT", f"/api/packages/gcs/{name}", content=package)
        body = {
            "entrypoint": f"{self._settings.python} driver.py",
            "submission_id": request.name,
            "runtime_env": {"working_dir": f"gcs://{name}"},
            "metadata": {"started_by": "footplate"},
        }
        answer = self._send("POST", "/api/jobs/", json=body)
        # Ray refuses an id that it knows: an earlier call may have submitted the job, though its
        # answer was lost.
        if answer.status_code >= 400 and self.find(request.name) is None:
            problem = last_line(answer.text)
            if answer.status_code < 500:
                raise EngineRefused(problem)
            raise EngineUnavailable(problem)
        return request.name

    def cancel(self, job_id: str) -> None:
        self._ask("POST", f"/api/jobs/{job_id}/stop", missing_ok=True)

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        answer = self._ask("GET", "/api/jobs/")
        ours = _read(answer, lambda jobs: [j for j in jobs if _is_ours(j, prefix)])
        runs = _read(answer, lambda _: any(j["status"] == "RUNNING" for j in ours))
        waiting = self._waiting_groups() if runs else {}
        return tuple(see_job(job, waiting) for job in ours)

    def find(self, job_id: str) -> EngineJob | None:
        answer = self._send("GET", f"/api/jobs/{job_id}")
        if answer.status_code == 404:
            return None
        return _read(_checked(answer), lambda job: see_job(job, {}))

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns all nodes: when Ray reports a job as ended, its launchers may still be ending."""
        return tuple(nodes.split(",")) if nodes else ()

    def explain(self, job: EngineJob) -> EngineJob:
        return job

    def node_states(self, names: Sequence[str]) -> Iterator[NodeState]:
        """Returns whether nodes answer the head, by their addresses.

        Ray's DEAD means no more than that: what runs there may go on, if the network is cut.
        """
        answer = self._ask("GET", "/api/v0/nodes", params={"limit": _NODES})
        alive = _read(
            answer,
            lambda said: {n["node_ip"] for n in _listed(said) if n["state"] == "ALIVE"},
        )
        return (NodeState(name, silent=name not in alive) for name in names)

    def check(self) -> EngineReport:
        try:
            answer = self._ask("GET", "/api/version")
            version, session = _read(
                answer, lambda said: (said["ray_version"], str(said.get("session_name")))
            )
            totals = self._live_totals()
            health = self._read_health_checks(session)
        except EngineUnavailable as error:
            return EngineReport(reachable=False, problems=(str(error),))
        cpus, gpus = (sum(total.get(name, 0) for total in totals) for name in ("CPU", "GPU"))
        facts = (
            f"version: Ray {version}",
            f"nodes: {len(totals)}, {cpus:g} CPUs, {gpus:g} GPUs",
            "limits: Ray counts CPUs and memory, and doesn't enforce them",
            f"lost nodes: {UNKNOWN if health is None else health.fact}",
        )
        problems = tuple(
            f"no node has the resource {name}, which machine type {machine} needs"
            for machine, wanted in self._settings.machines.items()
            for name in wanted
            if not any(name in total for total in totals)
        )
        if health is not None and health.problem:
            problems = (*problems, health.problem)
        return EngineReport(True, facts, problems)

    def _read_health_checks(self, session: str) -> HealthChecks | None:
        """Reads the cluster's health check settings with a small job, once per start of the head;
        None if it fails.
        """
        known, found, asked_s = self._health_checks
        if known == session and (found or time.monotonic() - asked_s < _CHECK_AGAIN_S):
            return found
        found = health_checks.read(self._run(health_checks.PROGRAM, _CHECK_S, {_CPUS: 0}))
        self._health_checks = session, found, time.monotonic()
        return found

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        # With a part of a processor Ray chooses a node for it; without, it runs on the head.
        needs: dict[str, Any] = {_CPUS: _PART_OF_CPU}
        if launcher.accelerators:
            special = self._settings.accelerators.get(launcher.accelerator_type)
            needs["entrypoint_num_gpus"] = launcher.accelerators
            needs["entrypoint_resources"] = {special: launcher.accelerators} if special else {}
        variables = {**self._settings.env, SITE_VARIABLES: " ".join(self._settings.env)}
        return self._run(
            program.decode(), PROBE_S, {**needs, "runtime_env": {"env_vars": variables}}
        )

    def _run(self, program: str, limit_s: float, needs: Mapping[str, Any]) -> str:
        """Runs a program as a job with these ``needs``; returns what it prints."""
        name = f"footplate-check-{secrets.token_hex(4)}"
        entry = f"{self._settings.python} -c {shlex.quote(program)}"
        self._ask("POST", "/api/jobs/", json={"entrypoint": entry, "submission_id": name, **needs})
        end_s = time.monotonic() + limit_s
        while True:
            status = _read(self._ask("GET", f"/api/jobs/{name}"), lambda job: job["status"])
            if _PHASES.get(status) is JobPhase.ENDED or time.monotonic() > end_s:
                break
            time.sleep(_CHECK_POLL_S)
        logs = self._ask("GET", f"/api/jobs/{name}/logs")
        self._clear(name)
        if status == "PENDING":
            raise EngineUnavailable(f"its job did not start within {limit_s:g} s")
        return _read(logs, lambda said: str(said["logs"]))

    def _clear(self, job_id: str) -> None:
        """Deletes a job, which Ray would keep for ever; stops a running one instead."""
        if self._send("DELETE", f"/api/jobs/{job_id}").status_code >= 400:
            self.cancel(job_id)

    def _live_totals(self) -> builtins.list[dict[str, float]]:
        """Returns the resources of each node that is alive."""
        answer = self._ask("GET", "/api/v0/nodes", params={"limit": _NODES})
        return _read(
            answer,
            lambda said: [
                dict(node.get("resources_total") or {})
                for node in _listed(said)
                if node["state"] == "ALIVE"
            ],
        )

    def _waiting_groups(self) -> dict[str, dict[str, Any]]:
        """Returns the placement groups that wait for room, by the names of their jobs."""
        parameters = {"limit": _NODES, "detail": True}
        answer = self._ask("GET", "/api/v0/placement_groups", params=parameters)
        return _read(
            answer, lambda said: {g["name"]: g for g in _listed(said) if g["state"] == "PENDING"}
        )

    def _send(self, method: str, path: str, **given: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **given)
        except httpx.HTTPError as error:
            address = self._settings.address
            raise EngineUnavailable(f"{address} can't be reached: {error}") from error

    def _ask(
        self, method: str, path: str, *, missing_ok: bool = False, **given: Any
    ) -> httpx.Response:
        answer = self._send(method, path, **given)
        return answer if missing_ok and answer.status_code == 404 else _checked(answer)


def pack(settings: RaySettings, request: JobRequest) -> bytes:
    """Returns a job's packed working directory: driver, launchers' program, resources."""
    job = {
        "name": request.name,
        "strategy": settings.strategy,
        "bundles": [bundle(settings, launcher) for launcher in request.launchers],
        "variables": {**settings.env, SITE_VARIABLES: " ".join(settings.env)},
    }
    driver = resources.files("footplate") / "backends" / "ray" / "driver.py"
    files = {
        "driver.py": driver.read_bytes(),
        "program.py": request.program,
        "job.json": json.dumps(job).encode(),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            # ``ZipInfo`` has a fixed date: the same request gives the same bytes, so a second
            # submission uploads to the same name.
            archive.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


def bundle(settings: RaySettings, launcher: LauncherRequest) -> dict[str, float]:
    """Returns the resources of one launcher: at least a part of a processor, which Ray requires."""
    found: dict[str, float] = {}
    if settings.reserve:
        if launcher.vcpus:
            found["CPU"] = launcher.vcpus
        if launcher.memory_mb:
            found["memory"] = launcher.memory_mb * _MIB
    if launcher.accelerators:
        found["GPU"] = launcher.accelerators
        special = settings.accelerators.get(launcher.accelerator_type)
        if special:
            found[special] = launcher.accelerators
    found.update(settings.machines.get(launcher.machine_type, settings.machines.get("*", {})))
    return found or {"CPU": 0.001}


def see_job(job: Mapping[str, Any], waiting: Mapping[str, Mapping[str, Any]]) -> EngineJob:
    """Returns a job from the API's form; waiting while its placement group waits."""
    name, status = str(job["submission_id"]), str(job["status"])
    phase = _PHASES.get(status, JobPhase.WAITING)
    group = waiting.get(name)
    if phase is JobPhase.RUNNING and group is not None:
        phase, reason = JobPhase.WAITING, _group_reason(group)
    elif phase is JobPhase.WAITING:
        reason = last_line(str(job.get("message") or "")) or "the replica's job waits for Ray"
    else:
        message = last_line(str(job.get("message") or ""))
        reason = _ENDS.get(status) or (
            (f"the replica's job failed in Ray: {message}") if message else ""
        )
    return EngineJob(
        id=name,
        name=name,
        phase=phase,
        reason="" if phase is JobPhase.RUNNING else reason,
        nodes=UNKNOWN_NODES if phase is JobPhase.ENDED else "",
        cause=_cause(status, str(job.get("message") or "")),
    )


def _cause(status: str, message: str) -> EndCause:
    if status == "STOPPED":
        return EndCause.CANCELLED
    # Ray ends launchers where a node runs short of memory; the driver prints its error.
    ended = status == "FAILED" and "OutOfMemoryError" in message
    return EndCause.OUT_OF_MEMORY if ended else EndCause.UNKNOWN


def _group_reason(group: Mapping[str, Any]) -> str:
    bundles = [b.get("unit_resources") or {} for b in group.get("bundles") or ()]
    first = (
        ", ".join(f"{name} {amount:g}" for name, amount in sorted(bundles[0].items()))
        if bundles
        else ""
    )
    wanted = f"{len(bundles)} times {{{first}}}" if bundles else "the job's replicas"
    return f"Ray has no free resources for {wanted} now"


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.status_code >= 400:
        raise EngineUnavailable(f"HTTP {answer.status_code}: {last_line(answer.text)}")
    return answer


def _read(answer: httpx.Response, read: Callable[[Any], Read]) -> Read:
    """Returns the result of ``read`` on the answer's JSON.

    Raises EngineUnavailable for any other answer, such as the page of a proxy.
    """
    try:
        return read(answer.json())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        path, text = answer.request.url.path, answer.text[:200].strip()
        raise EngineUnavailable(f"{path} answers with {text!r}") from error


def _is_ours(job: Mapping[str, Any], prefix: str) -> bool:
    return str(job.get("submission_id") or "").startswith(prefix)


def _listed(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the entries in an answer of Ray's State API."""
    found: list[dict[str, Any]] = said["data"]["result"]["result"]
    return found
