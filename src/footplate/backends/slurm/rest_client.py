"""Slurm by slurmrestd, on a machine that has none of Slurm's commands."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from footplate.backends.engine.engine import (
    EngineJob,
    EngineRefused,
    EngineUnavailable,
    JobRequest,
    LauncherRequest,
    NodeState,
)
from footplate.backends.limited_client import make_client
from footplate.backends.slurm import nodes, rest_answers, rest_job
from footplate.backends.slurm.client import SlurmStatus
from footplate.backends.slurm.job_script import RestServer, SlurmSettings
from footplate.backends.slurm.outputs import JobEnd, JobList
from footplate.backends.slurm.time_limits import Limits, PartitionLimits, read_rest_partitions
from footplate.backends.token_files import find_leak, read_token
from footplate.limited_http import LIMIT_S
from footplate.plain_httpx import httpx

UNIX = "unix:"
_PREFIX = "SLURM_JWT="
"""What `scontrol token` prints before a token."""
_DOCUMENT = "/openapi/v3"
_Answer = dict[str, Any]
Read = TypeVar("Read")


class RestClient:
    """Reaches Slurm by slurmrestd. It reads the token, which others may replace, each time."""

    def __init__(
        self, settings: SlurmSettings, server: RestServer, limit_s: float = LIMIT_S
    ) -> None:
        self._settings = settings
        self._server = server
        self._http = _make_http(server, settings.timeout_s, limit_s)
        self._version: int | None = None
        self._token = ""
        self._limits = PartitionLimits(settings, self._read_limits)

    def submit(self, request: JobRequest) -> str:
        version = self._find_version()
        try:
            minutes = self._limits.choose_minutes(request)
            body = rest_job.compose(self._settings, request, version, minutes)
        except rest_job.OptionError as error:
            raise EngineRefused(str(error)) from error
        answer = self._send("POST", self._path("job/submit"), body)
        errors = rest_answers.read_errors(answer)
        job_id = answer.get("job_id")
        if isinstance(job_id, int) and job_id > 0:  # errors beside it say why it waits
            return str(job_id)
        said = _joined(errors)
        if rest_answers.is_refusal(errors):
            raise EngineRefused(said)
        raise self._fail(said or "slurmrestd returned no job id")

    def cancel(self, job_id: str) -> None:
        answer = self._send("DELETE", self._path(f"job/{job_id}"))
        errors = rest_answers.read_errors(answer)
        if errors and not rest_answers.is_ended_job(errors):
            raise self._fail(_joined(errors))

    def list_jobs(self, prefix: str) -> JobList:
        answer = self._ask(self._path("jobs"))
        return _read(lambda: rest_answers.read_own_jobs(answer, self._server.user, prefix))

    def find_job(self, job_id: str) -> EngineJob | None:
        answer = self._find(job_id)
        own = self._server.user
        found = _read(lambda: rest_answers.read_own_jobs(answer, own)) if answer else JobList(())
        if found.oddities:
            raise EngineUnavailable(found.oddities[0])
        return next((job for job in found.jobs if job.id == job_id), None)

    def read_end(self, job: EngineJob) -> JobEnd:
        answer = self._find(job.id)
        return _read(lambda: rest_answers.read_end(answer)) if answer else JobEnd()

    def _find(self, job_id: str) -> _Answer:
        """Returns the answer about a job; an empty one if Slurm doesn't know the job."""
        answer = self._send("GET", self._path(f"job/{job_id}"))
        errors = rest_answers.read_errors(answer)
        if errors and not rest_answers.is_unknown_job(errors):
            raise self._fail(_joined(errors))
        return {} if errors else answer

    def silent_nodes(self, nodes_: str) -> tuple[str, ...]:
        """Returns the nodes that don't answer or aren't listed: both may run something."""
        named = _read(lambda: nodes.expand(nodes_))
        answering = {node.name for node in self._nodes() if not node.silent}
        return tuple(sorted(named - answering))

    def node_states(self) -> tuple[NodeState, ...]:
        return tuple(map(nodes.see_state, self._nodes()))

    def read_status(self) -> SlurmStatus:
        version = self._find_version()
        ping = self._ask(self._path("ping"))
        if not rest_answers.read_pings(ping):
            raise EngineUnavailable("slurmrestd answers, but slurmctld doesn't")
        jobs = self._ask(self._path("jobs"))
        release = rest_answers.read_release(ping)
        leak = find_leak(self._server.token_file) if self._server.token_file else None
        return SlurmStatus(
            version=f"slurm {release}, by slurmrestd v0.0.{version} at {self._server.url}",
            nodes=tuple(map(nodes.describe, self._partition_nodes())),
            jobs=_read(lambda: rest_answers.read_jobs(jobs, partition=self._settings.partition)),
            problems=(leak,) if leak else (),
        )

    def try_out(self, launcher: LauncherRequest) -> str | None:
        """Returns why no node could hold the launcher. slurmrestd itself can't test a job."""
        request = JobRequest("footplate-check", "", (launcher,), b"")
        try:
            options = rest_job.wanted(self._settings, request)
            return nodes.why_none_fits(self._partition_nodes(), options)
        except rest_job.OptionError as error:
            return str(error)

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:  # noqa: ARG002  as all
        raise EngineRefused("slurmrestd can't return the output of a probe job")

    def _partition_nodes(self) -> tuple[nodes.SlurmNode, ...]:
        partition = self._settings.partition
        found = self._nodes()
        return tuple(node for node in found if not partition or partition in node.partitions)

    def _nodes(self) -> tuple[nodes.SlurmNode, ...]:
        answer = self._ask(self._path("nodes"))
        return _read(lambda: rest_answers.read_nodes(answer))

    def _read_limits(self) -> Limits:
        answer = self._ask(self._path("partitions"))
        return _read(lambda: read_rest_partitions(answer.get("partitions") or ()))

    def _path(self, name: str) -> str:
        return f"/slurm/v0.0.{self._find_version()}/{name}"

    def _find_version(self) -> int:
        """Returns the API's version, which it requests once.

        Another server at the same address answers 404; then the version is requested again.
        """
        if self._version is None:
            document = self._send("GET", _DOCUMENT)
            self._version = _read(lambda: rest_answers.choose_version(document))
        return self._version

    def _ask(self, path: str) -> _Answer:
        answer = self._send("GET", path)
        errors = rest_answers.read_errors(answer)
        if errors:
            raise self._fail(_joined(errors))
        return answer

    def _send(self, method: str, path: str, body: _Answer | None = None) -> _Answer:
        headers = {}
        if self._server.token_file:
            headers["X-SLURM-USER-NAME"] = self._server.user
            self._token = read_token(self._server.token_file, _PREFIX)
            headers["X-SLURM-USER-TOKEN"] = self._token
        try:
            answer = self._http.request(method, path, headers=headers, json=body)
        except httpx.TimeoutException as error:
            limit_s = self._settings.timeout_s
            raise EngineUnavailable(f"slurmrestd took longer than {limit_s:g} s") from error
        except httpx.HTTPError as error:
            where = self._server.url
            raise EngineUnavailable(f"slurmrestd at {where} can't be reached: {error}") from error
        return self._read_answer(answer)

    def _read_answer(self, answer: httpx.Response) -> _Answer:
        text = answer.text[:200].strip()
        if answer.status_code in (401, 403):
            file, user = self._server.token_file, self._server.user
            out = way_out(file, user) if file else "set token_file of the region"
            raise self._fail(f"slurmrestd refuses the server's token: {text}; {out}")
        if answer.status_code == 404 and not text.startswith("{"):
            self._version = None
            raise EngineUnavailable(f"slurmrestd has no path {answer.request.url.path}: {text}")
        try:
            found = json.loads(answer.content)
        except ValueError as error:
            status = answer.status_code
            raise EngineUnavailable(f"slurmrestd answers {status} with {text!r}") from error
        if not isinstance(found, dict):
            raise EngineUnavailable(f"slurmrestd answers with {text!r}")
        return found

    def _fail(self, said: str) -> EngineUnavailable:
        """Returns an error with ``said`` or, if it has, that the token has expired, which
        slurmrestd doesn't say.
        """
        server = self._server
        expired = explain_end(server.token_file, server.user, self._token, time.time())
        return EngineUnavailable(expired or said)


def _make_http(server: RestServer, timeout_s: float, limit_s: float) -> httpx.Client:
    if server.url.startswith(UNIX):
        socket = server.url.removeprefix(UNIX)
        return make_client("http://localhost", timeout_s, socket=socket, limit_s=limit_s)
    return make_client(server.url, timeout_s, limit_s=limit_s)


def _read(read: Callable[[], Read]) -> Read:
    """Returns the result of ``read``. Raises EngineUnavailable for an invalid answer."""
    try:
        return read()
    except ValueError as error:
        raise EngineUnavailable(f"slurmrestd: {error}") from error


def _joined(errors: tuple[tuple[int, str], ...]) -> str:
    return "; ".join(text for _, text in errors)[:500]


def read_end_s(token: str) -> float | None:
    """Returns when the token expires (Unix time); None if it doesn't contain that."""
    try:
        body = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return float(claims["exp"])
    except (ValueError, IndexError, KeyError, TypeError):
        return None


def explain_end(file: str, user: str, token: str, now_s: float) -> str | None:
    """Returns what to do about an expired token; None if it hasn't expired."""
    end_s = read_end_s(token)
    if end_s is None or end_s > now_s:
        return None
    end = datetime.fromtimestamp(end_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"the token of {user} in {file} has expired at {end}; {way_out(file, user)}"


def way_out(file: str, user: str) -> str:
    return f"write a new one: scontrol token username={user} lifespan=SECONDS > {file}"
