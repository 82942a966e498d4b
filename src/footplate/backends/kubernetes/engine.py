"""Kubernetes as an engine: a Secret and Pods for each job, by the API of core/v1 alone."""

from __future__ import annotations

import base64
import builtins
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

from kubernetes import client as api
from kubernetes import config
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from footplate.backends.engine.engine import (
    EngineJob,
    EngineRefused,
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
    NodeState,
)
from footplate.backends.kubernetes import manifests
from footplate.backends.kubernetes.image_lookups import ImageLookups, SlowRegistry
from footplate.backends.kubernetes.jobs import see_job, see_jobs
from footplate.backends.kubernetes.manifests import PodSettings
from footplate.backends.kubernetes.node_states import is_ready, see_node
from footplate.backends.kubernetes.pod_states import find_slow_nodes, see_pod
from footplate.backends.kubernetes.probe_pod import make_probe, read_message
from footplate.containers.registry import ImageConfig, UnknownImage, find_logins
from footplate.ports.engines import EngineReport

TIMEOUT_S = 20
PROBE_S, _PROBE_POLL_S = 40, 0.3
KEEP = timedelta(minutes=15)
"""How long the objects of a job that has ended stay, for those who look."""
PAGE = 500
MAX_ASKED_NODES = 20
"""At each look at the jobs."""
_MANAGED = ",".join(f"{key}={value}" for key, value in manifests.MANAGED_BY.items())
NEEDED_RIGHTS = (
    *(("secrets", verb) for verb in ("create", "get", "list", "patch", "delete")),
    *(("pods", verb) for verb in ("create", "list", "deletecollection")),
)
"""What it calls in its namespace; Pods of a deleted Secret are Kubernetes' own business."""

_RAW: dict[str, Any] = {"_preload_content": False, "_request_timeout": TIMEOUT_S}
"""Answers as the API gives them: what its objects have more than core/v1 had stays readable."""
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""Lists without what their objects hold: Secrets of jobs have a whole program, and tokens."""
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class KubernetesEngine:
    """Runs jobs in one namespace, with the rights of a kubeconfig file or of this service's own
    Pod.

    Without ``kubeconfig`` it uses the file of KUBECONFIG or ``~/.kube/config``, or the Pod's
    service account. It reads and changes only objects labelled as Footplate's, and also reads the
    state of nodes.
    """

    title = "Kubernetes"
    oddities: tuple[str, ...] = ()
    rank_variable = manifests.RANK
    job_variable = manifests.ID
    node_variable = manifests.NODE

    def __init__(
        self,
        settings: PodSettings,
        *,
        kubeconfig: Path | None = None,
        context: str | None = None,
        namespace: str | None = None,
    ) -> None:
        self._settings = settings
        self._kubeconfig = None if kubeconfig is None else str(kubeconfig)
        self._context = context or None
        self._namespace = namespace or ""
        self._lookups = ImageLookups()
        self._core: Any | None = None
        self._metadata: Any = None
        """The same API, which answers lists with the metadata of objects alone."""

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:  # noqa: ARG002  as all
        if not self._settings.own_image:
            return "the region names no image for its Pods: set image or pod_template"
        return None

    def submit(self, request: JobRequest) -> str:
        """Creates the job's missing objects, and so completes an interrupted call."""
        with self._calls() as core:
            images = self._read_images(core, request)
            secret = self._make_secret(core, manifests.make_secret(request))
            name: str = secret["metadata"]["name"]
            for rank, launcher in enumerate(request.launchers):
                image = images.get(launcher.image)
                pod = manifests.make_pod(self._settings, secret, rank, launcher, image)
                manifests.limit(pod, self._settings, request)
                try:
                    core.create_namespaced_pod(self._namespace, pod, **_RAW)
                except ApiException as error:
                    if error.status == 409:
                        continue
                    if error.status in (400, 403, 404, 422):
                        self._delete(core, name)
                        raise EngineRefused(
                            f"Kubernetes refuses the job's Pod: {_say(error)}"
                        ) from error
                    raise
            # Last: ``list`` leaves out a job without this mark. If the server dies before it, the
            # job counts as missing and is submitted again, which adds what it lacks. With the mark,
            # a Pod that is missing has been deleted.
            patch = {"metadata": {"annotations": {manifests.COMPLETE: "true"}}}
            core.patch_namespaced_secret(name, self._namespace, patch, **_RAW)
            return name

    def _read_images(self, core: Any, request: JobRequest) -> dict[str, ImageConfig]:
        """Returns the registries' data of a job's images; asks once for each image."""
        names = {launcher.image for launcher in request.launchers if launcher.image}
        logins = find_logins(self._read_pull_secrets(core)) if names else {}
        try:
            return {name: self._lookups.find(name, logins) for name in sorted(names)}
        except UnknownImage as error:
            raise EngineRefused(str(error)) from error
        except SlowRegistry as error:
            raise EngineUnavailable(str(error)) from error

    def _read_pull_secrets(self, core: Any) -> builtins.list[str]:
        """Returns the template's pull secrets; ignores missing ones, which the registry reports."""
        found = []
        for each in (self._settings.template.get("spec") or {}).get("imagePullSecrets") or ():
            try:
                secret = _read(core.read_namespaced_secret(each["name"], self._namespace, **_RAW))
            except ApiException as error:
                if error.status in (403, 404):
                    continue
                raise
            packed = (secret.get("data") or {}).get(".dockerconfigjson") or ""
            found.append(base64.b64decode(packed).decode(errors="replace"))  # anything, if Opaque
        return found

    def _make_secret(self, core: Any, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return _read(core.create_namespaced_secret(self._namespace, body, **_RAW))
        except ApiException as error:
            if error.status == 409:
                name = body["metadata"]["name"]
                return _read(core.read_namespaced_secret(name, self._namespace, **_RAW))
            if error.status in (400, 403, 404, 422):
                raise EngineRefused(
                    f"Kubernetes refuses the job's Secret: {_say(error)}"
                ) from error
            raise

    def cancel(self, job_id: str) -> None:
        """Deletes the job's Pods, which get SIGTERM and a grace period. The Secret stays, as a
        record of the job.
        """
        with self._calls() as core:
            core.delete_collection_namespaced_pod(
                self._namespace, label_selector=f"{manifests.JOB}={job_id}", **_RAW
            )

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        """Returns the jobs; also deletes the objects of jobs that ended long ago."""
        with self._calls() as core:
            secrets = self._list(self._metadata.list_namespaced_secret, _MANAGED)
            pods = self._list(core.list_namespaced_pod, _MANAGED)
            ours = [
                each
                for each in secrets
                if each["metadata"].get("annotations", {}).get(manifests.JOB, "").startswith(prefix)
            ]
            found = see_jobs(ours, pods, self._find_silent(core, pods))
            ended = {job.id for job in found if job.phase is JobPhase.ENDED}
            old = [
                each for each in ours if each["metadata"]["name"] in ended and _is_old(each, pods)
            ]
            for secret in old:
                self._delete(core, secret["metadata"]["name"])
        return found

    def find(self, job_id: str) -> EngineJob | None:
        with self._calls() as core:
            try:
                secret = _read(core.read_namespaced_secret(job_id, self._namespace, **_RAW))
            except ApiException as error:
                if error.status == 404:
                    return None
                raise
            pods = self._list(core.list_namespaced_pod, f"{manifests.JOB}={job_id}")
        return see_job(secret, pods)

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns the nodes that aren't ready or are unknown; all of them if none can be read."""
        wanted = [name for name in nodes.split(",") if name]
        with self._calls() as core:
            known = {each["metadata"]["name"]: each for each in self._nodes(core)}
        return tuple(name for name in wanted if not is_ready(known.get(name)))

    def node_states(self, names: Sequence[str]) -> Iterator[NodeState]:
        """Yields the states of nodes; none if the account may read only its namespace."""
        with self._calls() as core:
            for name in names:
                try:
                    found = _items(core.list_node(field_selector=f"metadata.name={name}", **_RAW))
                except ApiException as error:
                    if error.status == 403:
                        return
                    if error.status == 400:  # no node can have this name
                        continue
                    raise
                yield see_node(name, found[0] if found else None)

    def _find_silent(self, core: Any, pods: Sequence[dict[str, Any]]) -> frozenset[str]:
        """Returns the nodes that are slow to start a Pod and that Kubernetes reports as not
        ready.
        """
        silent = set()
        for name in find_slow_nodes(pods, datetime.now(UTC))[:MAX_ASKED_NODES]:
            try:
                nodes = _items(core.list_node(field_selector=f"metadata.name={name}", **_RAW))
            except ApiException as error:
                if error.status == 403:  # the namespace is all that may be read
                    break
                raise
            if not any(is_ready(node) for node in nodes):
                silent.add(name)
        return frozenset(silent)

    def _nodes(self, core: Any) -> builtins.list[dict[str, Any]]:
        """Returns the nodes; none if the account may read only its namespace."""
        try:
            return _items(core.list_node(**_RAW))
        except ApiException as error:
            if error.status == 403:
                return []
            raise

    def explain(self, job: EngineJob) -> EngineJob:
        return job

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        name = f"footplate-check-{token_hex(4)}"
        pod = make_probe(self._settings, name, launcher, program.decode())
        with self._calls() as core:
            try:
                core.create_namespaced_pod(self._namespace, pod, **_RAW)
            except ApiException as error:
                if error.status in (400, 403, 404, 422):
                    raise EngineRefused(_say(error)) from error
                raise
            try:
                return self._wait_for_message(core, name)
            finally:
                self.cancel(name)

    def _wait_for_message(self, core: Any, name: str) -> str:
        """Returns what the Pod of a probe has printed. Raises EngineUnavailable."""
        reason, end_s = "", time.monotonic() + PROBE_S
        while time.monotonic() < end_s:
            for pod in self._list(core.list_namespaced_pod, f"{manifests.JOB}={name}"):
                message = read_message(pod)
                if message is not None:
                    return message
                reason = see_pod(pod).reason or reason
            time.sleep(_PROBE_POLL_S)
        raise EngineUnavailable(f"its Pod did not end within {PROBE_S} s; {reason}".rstrip("; "))

    def check(self) -> EngineReport:
        try:
            return self._check()
        except (EngineUnavailable, ApiException, HTTPError) as error:
            return EngineReport(reachable=False, problems=(str(error),))

    def _check(self) -> EngineReport:
        with self._calls() as core:
            version = api.VersionApi(core.api_client).get_code(_request_timeout=TIMEOUT_S)
            facts = [f"version: Kubernetes {version.git_version}, namespace {self._namespace}"]
            problems = []
            try:
                core.read_namespace(self._namespace, **_RAW)
            except ApiException as error:
                if error.status == 404:
                    problems.append(f"the cluster has no namespace {self._namespace}")
            problems += self._missing_rights(core)
            nodes = self._nodes(core)
        ready = [node for node in nodes if is_ready(node)]
        facts.append(f"nodes: {len(ready)} of {len(nodes)} are ready")
        problems += _unmapped(self._settings, ready) if nodes else []
        fault = self.fault(())
        return EngineReport(True, tuple(facts), (*problems, *([fault] if fault else [])))

    def _missing_rights(self, core: Any) -> Iterator[str]:
        reviews: Any = api.AuthorizationV1Api(core.api_client)
        for resource, verb in NEEDED_RIGHTS:
            attributes = {"namespace": self._namespace, "resource": resource, "verb": verb}
            body = {"spec": {"resourceAttributes": attributes}}
            answer = _read(reviews.create_self_subject_access_review(body, **_RAW))
            if not answer["status"].get("allowed"):
                yield (
                    f"the server's account may not {verb} {resource} in the namespace "
                    f"{self._namespace}"
                )

    # How the API is asked.

    @contextmanager
    def _calls(self) -> Iterator[Any]:
        """Yields the client, untyped: it takes JSON objects, although its types require models."""
        try:
            if self._core is None:
                self._core, self._metadata = self._connect()
            yield self._core
        except ApiException as error:
            raise EngineUnavailable(f"Kubernetes answers: {_say(error)}") from error
        except (HTTPError, OSError, ValueError) as error:
            raise EngineUnavailable(f"Kubernetes can't be reached: {error}") from error
        except config.ConfigException as error:
            raise EngineUnavailable(f"the kubeconfig can't be used: {error}") from error

    def _connect(self) -> tuple[api.CoreV1Api, api.CoreV1Api]:
        """Connects to the cluster. The client itself renews credentials that expire."""
        configuration = api.Configuration()
        if self._kubeconfig is None and (_ACCOUNT / "token").exists():
            config.load_incluster_config(configuration)
            self._namespace = self._namespace or (_ACCOUNT / "namespace").read_text().strip()
        else:
            config.load_kube_config(
                self._kubeconfig, self._context, configuration, persist_config=False
            )
            if not self._namespace:
                self._namespace = self._namespace_of_context()
        partial = api.ApiClient(configuration)
        partial.set_default_header("Accept", _METADATA)
        return api.CoreV1Api(api.ApiClient(configuration)), api.CoreV1Api(partial)

    def _namespace_of_context(self) -> str:
        contexts, active = config.list_kube_config_contexts(self._kubeconfig)
        found = next((c for c in contexts if c["name"] == self._context), active)
        return str(found["context"].get("namespace") or "default")

    def _list(self, call: Any, selector: str) -> builtins.list[dict[str, Any]]:
        """Returns the objects of all pages."""
        found: builtins.list[dict[str, Any]] = []
        token = ""
        while True:
            page = _read(
                call(self._namespace, label_selector=selector, limit=PAGE, _continue=token, **_RAW)
            )
            found += page["items"] or ()  # null, of metadata alone where there is none
            token = page["metadata"].get("continue") or ""
            if not token:
                return found

    def _delete(self, core: Any, name: str) -> None:
        """Deletes the Secret; Kubernetes' garbage collection deletes its Pods."""
        try:
            core.delete_namespaced_secret(name, self._namespace, **_RAW)
        except ApiException as error:
            if error.status != 404:
                raise


def _unmapped(settings: PodSettings, ready: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields a sentence for each machine type whose labels no ready node has."""
    for machine, labels in settings.machines.items():
        if not any(labels.items() <= node["metadata"]["labels"].items() for node in ready):
            wanted = ",".join(f"{key}={value}" for key, value in labels.items())
            yield f"no ready node has the labels {wanted}, which machine type {machine} needs"


def _is_old(secret: dict[str, Any], pods: Sequence[dict[str, Any]]) -> bool:
    """Returns whether the Secret's job, which has ended, ended longer ago than ``KEEP``."""
    name = secret["metadata"]["name"]
    moments = [secret["metadata"]["creationTimestamp"]]
    for pod in pods:
        if pod["metadata"]["labels"].get(manifests.JOB) == name:
            for container in pod["status"].get("containerStatuses") or ():
                ended = (container.get("state") or {}).get("terminated") or {}
                moments.append(ended.get("finishedAt") or moments[0])
    return datetime.now(UTC) - datetime.fromisoformat(max(moments)) > KEEP


def _read(response: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(response.data)
    return found


def _items(response: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _read(response)["items"]
    return found


def _say(error: ApiException) -> str:
    """Returns the message of the API's error."""
    try:
        return str(json.loads(error.body or "")["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {error.status} {error.reason}"
