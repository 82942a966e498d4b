"""``entries.write`` of Cloud Logging: programs write to their job's log, and users to any job's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.api.accepted_parameters import Parameters
from footplate.api.logging_v2.job_lookup import JobFinder
from footplate.api.request_bodies import MAX_JSON_BYTES, read_body, require_json
from footplate.api.security import given_token
from footplate.api.worker_threads import in_thread
from footplate.control.written_entries import LogWriter, WrittenEntries, choose_writer
from footplate.domain.errors import InvalidArgument, PermissionDenied, Violation
from footplate.domain.jobs import Job
from footplate.domain.log_lines import Line
from footplate.domain.names import JobName, JobUid, parse_job_name
from footplate.wire.json_text import JsonObject, parse_object
from footplate.wire.logging_v2.written import Written, read_writing
from footplate.wire.scope_keys import PROGRAM

PATH = "/v2/entries:write"
_PARAMETERS = Parameters("POST", PATH)


@dataclass(frozen=True)
class EntryWriting:
    """Writes entries of programs, which are identified by their key or their connection."""

    written: WrittenEntries
    finder: JobFinder
    get_job: Callable[[JobName], Job]
    now: Callable[[], datetime]

    def routes(self) -> list[Route]:
        """Returns the routes at the root, and at the addresses that contain a key."""
        return [Route(PATH, self.write, methods=["POST"])]

    async def write(self, request: Request) -> Response:
        _PARAMETERS.check(request.query_params.multi_items())
        raw = await read_body(request, MAX_JSON_BYTES)
        require_json(request)
        root = str(request.scope.get("root_path", "")).rpartition("/")[2]
        key = root or given_token(request.scope) or ""
        program = str(request.scope.get(PROGRAM, ""))
        return JSONResponse(await in_thread(self._write, raw, key, program))

    def _write(self, raw: bytes, key: str, program: str) -> JsonObject:
        writing = read_writing(parse_object(raw), self.now())
        caller = self.written.program(key) if key else None
        own = self.get_job(parse_job_name(program)) if program and caller is None else None
        by_writer: dict[tuple[JobUid, str], tuple[LogWriter, list[tuple[Line, str]]]] = {}
        for entry in writing.entries:
            writer = self._writer(entry, caller, own)
            _, lines = by_writer.setdefault((writer.job.uid, writer.replica), (writer, []))
            lines.append((entry.line, entry.insert_id))
        if not writing.dry_run:
            for writer, lines in by_writer.values():
                self.written.write(writer, lines)
        if writing.violations:
            raise InvalidArgument.of(writing.violations)
        return {}

    def _writer(self, entry: Written, caller: LogWriter | None, own: Job | None) -> LogWriter:
        """Returns the writer for an entry. Raises PermissionDenied, InvalidArgument, NotFound."""
        if caller is not None:
            _check_own(entry, caller.job)
            if entry.task not in ("", caller.replica):
                raise PermissionDenied(
                    f"resource.labels.task_name: {entry.task!r} given; this program may write "
                    f"only log entries of its own replica, {caller.replica}"
                )
            return caller
        if own is not None:
            _check_own(entry, own)
            return choose_writer(own, entry.task)
        if not entry.job_id:
            needed = (
                "the service keeps log entries only for jobs, and these entries name no job; "
                'allowed: {"type": "ml_job", "labels": {"job_id": "JOB"}}'
            )
            raise InvalidArgument.of((Violation("resource", needed),))
        return choose_writer(self.finder.find(entry.project, entry.job_id), entry.task)


def _check_own(entry: Written, job: Job) -> None:
    """Raises PermissionDenied unless the entry is for the program's own job.

    A trial's program may name its tuning job instead.
    """
    name = job.name
    ids = ["", name.job_id]
    if job.tuning_job is not None:
        ids.append(name.job_id.rpartition("-")[0])
    if entry.project != name.project or entry.job_id not in ids:
        target = f"project {entry.project!r}"
        if entry.job_id:
            target = f"job {entry.job_id!r} of {target}"
        raise PermissionDenied(
            f"this log entry is for {target}; the program of the job {name} may write only to "
            f"its own job's log: projects/{name.project}/logs/LOG_ID"
        )
