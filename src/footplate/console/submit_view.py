"""Submits a job: a form or a text, the service's own check of it, and what it equals."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import yaml
from starlette.responses import Response
from starlette.routing import Route

from footplate.console.formatting import job_url
from footplate.console.forms import read_form
from footplate.console.job_form import JobForm, field_of, to_form, to_request, wrong_lines
from footplate.console.site import Site, Visit
from footplate.console.submissions import as_gcloud, as_python, as_yaml, request_of
from footplate.domain.errors import InvalidArgument
from footplate.wire.json_text import JsonObject

# Reads a job that is given as YAML or JSON. Pure.

MAX_CHARACTERS = 200_000
_KINDS = {
    "trainingInput": "jobs",
    "studySpec": "hyperparameterTuningJobs",
    "trialJobSpec": "hyperparameterTuningJobs",
    "jobSpec": "customJobs",
}
_MAX_DEPTH = 50
_SPEC = "workerPoolSpecs"
_VERSIONS = frozenset({"runtimeVersion", "pythonVersion"})


class _Loader(yaml.SafeLoader):
    """A YAML loader without aliases, which make a short text long, and dates, which JSON lacks.

    It reads versions as text, since the number for 1.10 would be 1.1.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise InvalidArgument(
                "the console reads no aliases (*name): write the values out instead"
            )
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise InvalidArgument("this text is nested too deeply")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001 - PyYAML's
    ) -> dict[Hashable, object]:
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode) and key.value in _VERSIONS:
                value.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_job(text: str) -> tuple[str, JsonObject]:
    """Returns the job's kind, as the last part of its collection, and its request.

    Also accepts the specification alone, which gcloud takes as ``--config`` of a custom job. Raises
    InvalidArgument.
    """
    request = _read(text)
    for name, kind in _KINDS.items():
        if name in request:
            return kind, request
    if _SPEC in request:
        return "customJobs", {"displayName": "custom job", "jobSpec": request}
    allowed = ", ".join([*_KINDS, _SPEC])
    raise InvalidArgument(f"this text is not a job: it has none of the fields {allowed}")


def _read(text: str) -> JsonObject:
    if len(text) > MAX_CHARACTERS:
        raise InvalidArgument(f"the text has more than {MAX_CHARACTERS} characters")
    try:
        found = yaml.load(text, _Loader)  # noqa: S506 - it is a SafeLoader
        made = json.loads(json.dumps(found, allow_nan=False))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InvalidArgument(f"this text is not YAML: {where}{error.problem}") from None
    except yaml.YAMLError as error:
        raise InvalidArgument(f"this text is not YAML: {' '.join(str(error).split())}") from None
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise InvalidArgument(
            "this text has values that JSON can't hold, such as dates or sets"
        ) from None
    if not isinstance(made, dict):
        raise InvalidArgument(
            "this text is not a job: a job is a mapping with fields such as jobSpec"
        )
    return made


_MAX_BYTES = 1 << 20
_REGISTRY = "us-docker.pkg.dev/vertex-ai/training"
_REGION = "us-central1"
_STAND_IN = "your-project"
_PART = re.compile(r"[^/?#%\s]+")
"""Of a name: what has more would be another address."""
TEXTS = (("gcloud", "gcloud"), ("python", "Python"), ("yaml", "YAML"))


@dataclass
class Draft:
    """A job to submit. ``errors`` are by field of the form; ``others`` has all of them by path."""

    project: str
    region: str
    kind: str = "customJobs"
    request: JsonObject = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)
    others: list[tuple[str, str]] = field(default_factory=list)
    verdict: Any = None
    """The answer of the service; None: it wasn't asked, since the draft can't be sent."""

    @property
    def parent(self) -> str:
        project = f"projects/{self.project}"
        return project if self.kind == "jobs" else f"{project}/locations/{self.region}"

    def add(self, name: str, path: str, text: str) -> None:
        """Adds an error at ``path``, and at the form's field ``name`` if there is one."""
        if name:
            self.errors.setdefault(name, []).append(text)
        self.others.append((path, text))

    @property
    def accepted(self) -> bool:
        return self.verdict is not None and self.verdict["verdict"] == "ACCEPTED"


def submit_routes(site: Site) -> list[Route]:
    return [
        site.page("/submit", _show),
        site.page("/submit/check", _check, ("POST",)),
        site.page("/submit/create", _create, ("POST",)),
    ]


async def _show(visit: Visit) -> Response:
    catalogue: Any = await visit.get("/footplate/v1/catalogue")
    projects = await visit.find_projects()
    form, text = await _filled(visit, projects)
    images = [
        (f"{_REGISTRY}/{image}:latest", f"{image}, Python {each['python']}")
        for each in catalogue["runtimes"]
        for image in each.get("images", ())
    ]
    if form.runtime and form.runtime not in dict(images):
        images.insert(0, (form.runtime, form.runtime))
    return visit.render(
        "submit.html",
        form=form,
        text=text,
        source=visit.parameter("from"),
        images=images,
        projects=projects,
        regions=[str(each["name"]) for each in catalogue["regions"]],
        machine_types=catalogue["machineTypes"],
        accelerators=[str(each["name"]) for each in catalogue["accelerators"]],
        texts=TEXTS,
    )


async def _filled(visit: Visit, projects: list[str]) -> tuple[JobForm, str]:
    """Returns the form's first content: the job ``from``, as fields if the form can hold it."""
    project = visit.parameter("project").strip() or (projects[0] if len(projects) == 1 else "")
    region = visit.parameter("region").strip() or _REGION
    source = visit.parameter("from").strip()
    if not source:
        return JobForm(project=project, region=region), ""
    job = await visit.get(f"/footplate/v1/{source}/details")
    project, region = str(job["project"]), str(job["region"])
    new_id = f"{str(job['jobId'])[:120]}_{secrets.token_hex(3)}"
    request = request_of(job, new_id=new_id)
    form = to_form(request, project, region) if job["kind"] == "customJobs" else None
    if form is not None:
        return form, ""
    return JobForm(project=project, region=region), as_yaml(request)


async def _check(visit: Visit) -> Response:
    fields = await read_form(visit.request, _MAX_BYTES)
    return _show_draft(visit, await _ask(visit, read_draft(fields)))


async def _create(visit: Visit) -> Response:
    """Creates the job and redirects to its page; shows errors in the same way as a check."""
    fields = await read_form(visit.request, _MAX_BYTES)
    draft = await _ask(visit, read_draft(fields))
    if not draft.accepted:
        return _show_draft(visit, draft)
    made = await visit.post(f"/v1/{draft.parent}/{draft.kind}", draft.request)
    name = str(made.get("name") or f"{draft.parent}/jobs/{made['jobId']}")
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": job_url(name)})


def read_draft(fields: Mapping[str, str]) -> Draft:
    form = JobForm.read(fields)
    draft = Draft(form.project.strip(), form.region.strip())
    if fields.get("mode") == "text":
        try:
            draft.kind, draft.request = read_job(fields.get("text", ""))
        except InvalidArgument as error:
            draft.add("text", "text", error.message)
    else:
        draft.request = to_request(form)
        for name, text in wrong_lines(form):
            draft.add(name, name, text)
    for name, value in (("project", draft.project), ("region", draft.region)):
        if not _PART.fullmatch(value):
            draft.add(name, name, "no spaces, slashes, ?, # and %" if value else "required")
    return draft


async def _ask(visit: Visit, draft: Draft) -> Draft:
    """Adds the service's answer to a draft, and errors to the fields of the form.

    All mistakes are shown at once: a draft that can't be sent yet is checked with a substitute
    project and region, and only the mistakes of the answer are shown.
    """
    if "text" in draft.errors:
        return draft
    sendable = not draft.errors
    place = replace(
        draft,
        project=_STAND_IN if "project" in draft.errors else draft.project,
        region=_REGION if "region" in draft.errors else draft.region,
    )
    path = f"/footplate/v1/{place.parent}/{draft.kind}:validate"
    try:
        verdict: Any = await visit.post(path, draft.request)
    except InvalidArgument as error:
        draft.others.append(("", error.message))
        return draft
    for each in verdict["violations"]:
        name = field_of(str(each["field"])) if draft.kind == "customJobs" else ""
        draft.add(name, str(each["field"]), str(each["description"]))
    draft.verdict = verdict if sendable else None
    return draft


def _show_draft(visit: Visit, draft: Draft) -> Response:
    return visit.render(
        "submit_check.html",
        draft=draft,
        fields=[*(name for name in JobForm.__dataclass_fields__ if name != "program"), "text"],
        texts=TEXTS,
        written=_texts(draft),
    )


def _texts(draft: Draft) -> Mapping[str, str]:
    """Returns the job as a command, a program and a file; empty texts if there is no valid job."""
    if not draft.request or "project" in draft.errors or "region" in draft.errors:
        return {name: "" for name, _ in TEXTS}
    job: JsonObject = {
        "name": f"{draft.parent}/{draft.kind}/NEW",
        "jobId": draft.request.get("jobId", ""),
        "project": draft.project,
        "region": draft.region,
        "kind": draft.kind,
        "request": draft.request,
        "labels": draft.request.get("labels"),
    }
    return {"gcloud": as_gcloud(job), "python": as_python(job), "yaml": as_yaml(draft.request)}
