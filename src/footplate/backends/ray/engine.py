"""Ray as an engine, by the HTTP API of its jobs: neither Ray nor its Python is needed here."""

from __future__ import annotations

import hashlib
import secrets
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

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
from footplate.backends.ray.dashboard import Dashboard, check, read
from footplate.backends.ray.health_checks import HealthChecks
from footplate.backends.ray.job_package import RaySettings, describe, pack
from footplate.backends.ray.job_states import PHASES, find_records, see_job
from footplate.backends.token_files import find_leak
from footplate.domain.formatting import last_line
from footplate.ports.engines import EngineReport

KEEP_S = 900.0
"""How long the record of a job that has ended stays, for those who look."""
_CHECK = "footplate-check-"
_CHECK_S, _CHECK_POLL_S = 90.0, 0.2
"""How long a job that reads settings may take, and how often it is looked at."""
_CHECK_AGAIN_S = 600.0
PROBE_S = 30.0
_CPUS, _PART_OF_CPU = "entrypoint_num_cpus", 0.01
UNKNOWN = (
    "the server can't tell how soon Ray notices a disconnected node: the job that reads Ray's "
    "settings failed"
)


class RayEngine:
    """Runs jobs on Ray; touches only jobs whose submission ids have the service's prefix."""

    title = "Ray"
    rank_variable = "FOOTPLATE_RANK"
    job_variable = "FOOTPLATE_JOB"
    node_variable = "FOOTPLATE_NODE"

    def __init__(
        self, settings: RaySettings, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._dashboard = Dashboard(settings.address, settings.token_file)
        self._health_checks: tuple[str, HealthChecks | None, float] = ("", None, 0.0)
        """The session of the head, its checks, and when it was asked."""
        self._ended: dict[str, float] = {}
        """When a list first had an ended job."""
        self.oddities: tuple[str, ...] = ()
        """Sentences on the jobs of the last list that can't be read or deleted."""

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:  # noqa: ARG002  as all
        return None

    def submit(self, request: JobRequest) -> str:
        """Submits a job. Its name is the id, which Ray accepts only once."""
        package = pack(self._settings, request)
        name = f"_ray_pkg_{hashlib.sha256(package).hexdigest()[:32]}.zip"
        self._dashboard.ask("PUT", f"/api/packages/gcs/{name}", content=package)
        body = describe(self._settings, request, name)
        answer = self._dashboard.send("POST", "/api/jobs/", json=body)
        if answer.status_code < 400:
            return request.name
        # Ray refuses an id that it knows: an earlier call may have submitted the job, though its
        # answer was lost.
        known = self.find(request.name)
        if known is not None and known.refused:
            self._dashboard.ask("DELETE", f"/api/jobs/{request.name}")
            self._dashboard.ask("POST", "/api/jobs/", json=body)
        elif known is None:
            problem = last_line(answer.text)
            if answer.status_code < 500:
                raise EngineRefused(problem)
            raise EngineUnavailable(problem)
        return request.name

    def cancel(self, job_id: str) -> None:
        self._dashboard.ask("POST", f"/api/jobs/{job_id}/stop", missing_ok=True)

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        """Returns the jobs; also deletes the records of those that ended long ago."""
        answer = self._dashboard.ask("GET", "/api/jobs/")
        listing = read(answer, lambda said: find_records(said, prefix))
        drives = any(
            record["status"] == "RUNNING" and "driver.py" in str(record.get("entrypoint"))
            for record in listing.records
        )
        waiting = self._dashboard.list_waiting_groups() if drives else {}
        jobs = tuple(see_job(record, waiting) for record in listing.records)
        # Ray may record the end of a check's job once more after that job was deleted.
        checks = read(answer, lambda said: find_records(said, _CHECK)).records
        left = tuple(see_job(record, {}) for record in checks)
        self.oddities = (*listing.oddities, *self._delete_old((*jobs, *left)))
        return jobs

    def _delete_old(self, jobs: Sequence[EngineJob]) -> tuple[str, ...]:
        """Deletes what ended ``KEEP_S`` ago; returns a sentence for each job that Ray keeps.

        The time counts from the first list that has the end, which was handled since then.
        """
        now_s, oddities = self._monotonic(), []
        ended = [job.id for job in jobs if job.phase is JobPhase.ENDED]
        self._ended = {job_id: self._ended.get(job_id, now_s) for job_id in ended}
        for job_id, since_s in self._ended.items():
            if now_s - since_s <= KEEP_S:
                continue
            answer = self._dashboard.send("DELETE", f"/api/jobs/{job_id}")
            if answer.status_code >= 400 and answer.status_code != 404:
                said = last_line(answer.text)
                oddities.append(f"the ended job {job_id} can't be deleted in Ray: {said}")
        return tuple(oddities)

    def find(self, job_id: str) -> EngineJob | None:
        answer = self._dashboard.send("GET", f"/api/jobs/{job_id}")
        if answer.status_code == 404:
            return None
        return read(check(answer), lambda job: see_job(job, {}))

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns all nodes: when Ray reports a job as ended, its launchers may still be ending."""
        return tuple(nodes.split(",")) if nodes else ()

    def may_be_of(self, job_id: str, project: str) -> bool:  # noqa: ARG002  as all
        return True

    def explain(self, job: EngineJob) -> EngineJob:
        return job

    def node_states(self, names: Sequence[str]) -> Iterator[NodeState]:
        """Returns whether nodes answer the head, by their addresses.

        Ray's DEAD means no more than that: what runs there may go on, if the network is cut.
        """
        alive = {node.get("node_ip") for node in self._dashboard.list_nodes()}
        return (NodeState(name, silent=name not in alive) for name in names)

    def check(self) -> EngineReport:
        try:
            answer = self._dashboard.ask("GET", "/api/version")
            version, session = read(
                answer, lambda said: (said["ray_version"], str(said.get("session_name")))
            )
            nodes = self._dashboard.list_nodes()
            health = self._read_health_checks(session)
        except EngineUnavailable as error:
            return EngineReport(reachable=False, problems=(str(error),))
        totals = [dict(node.get("resources_total") or {}) for node in nodes]
        cpus, gpus = (sum(total.get(name, 0) for total in totals) for name in ("CPU", "GPU"))
        facts = (
            f"version: Ray {version}",
            f"nodes: {len(totals)}, {cpus:g} CPUs, {gpus:g} GPUs",
            "limits: Ray counts CPUs and memory, and doesn't enforce them",
            f"lost nodes: {UNKNOWN if health is None else health.fact}",
        )
        problems = [
            f"no node has the resource {name}, which machine type {machine} needs"
            for machine, wanted in self._settings.machines.items()
            for name in wanted
            if not any(name in total for total in totals)
        ]
        leak = find_leak(self._settings.token_file) if self._settings.token_file else None
        problems += [each for each in (leak, health and health.problem) if each]
        return EngineReport(True, facts, tuple(problems))

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
        environment = {"env_vars": self._settings.variables}
        return self._run(program.decode(), PROBE_S, {**needs, "runtime_env": environment})

    def _run(self, program: str, limit_s: float, needs: Mapping[str, Any]) -> str:
        """Runs a program as a job with these ``needs``; returns what it prints."""
        name = f"{_CHECK}{secrets.token_hex(4)}"
        entry = f"{self._settings.python} -c {shlex.quote(program)}"
        body = {"entrypoint": entry, "submission_id": name, **needs}
        self._dashboard.ask("POST", "/api/jobs/", json=body)
        try:
            return self._wait_for_output(name, limit_s)
        finally:
            self._clear(name)

    def _wait_for_output(self, name: str, limit_s: float) -> str:
        ask, end_s = self._dashboard.ask, time.monotonic() + limit_s
        while True:
            status = read(ask("GET", f"/api/jobs/{name}"), lambda job: str(job["status"]))
            if PHASES.get(status) is JobPhase.ENDED or time.monotonic() > end_s:
                break
            time.sleep(_CHECK_POLL_S)
        logs = ask("GET", f"/api/jobs/{name}/logs")
        if status == "PENDING":
            raise EngineUnavailable(f"its job did not start within {limit_s:g} s")
        return read(logs, lambda said: str(said["logs"]))

    def _clear(self, job_id: str) -> None:
        """Deletes a job, which Ray would keep for ever; stops a running one instead."""
        if self._dashboard.send("DELETE", f"/api/jobs/{job_id}").status_code >= 400:
            self.cancel(job_id)
