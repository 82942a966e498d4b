"""Kubernetes as an engine: a Secret and Pods for each job, by the API of core/v1 alone."""

from __future__ import annotations

import base64
import builtins
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

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
from footplate.backends.kubernetes.cluster_check import check_cluster
from footplate.backends.kubernetes.connection import (
    RAW,
    Connection,
    connect,
    items,
    list_nodes,
    list_objects,
    read,
    say,
)
from footplate.backends.kubernetes.image_lookups import ImageLookups, SlowRegistry
from footplate.backends.kubernetes.job_secrets import (
    annotate,
    delete,
    delete_all,
    find_old,
    require_owner,
)
from footplate.backends.kubernetes.jobs import find_jobs, see_job, see_jobs, see_pods
from footplate.backends.kubernetes.manifests import PodSettings
from footplate.backends.kubernetes.node_states import is_ready, see_node
from footplate.backends.kubernetes.pod_states import (
    find_slow_nodes,
    see_pod,
)
from footplate.backends.kubernetes.probe_pod import make_probe, read_message
from footplate.containers.registry import ImageConfig, UnknownImage, find_logins
from footplate.ports.engines import EngineReport

PROBE_S, _PROBE_POLL_S = 40, 0.3
MAX_ASKED_NODES = 20
"""At each look at the jobs."""
_MANAGED = ",".join(f"{key}={value}" for key, value in manifests.MANAGED_BY.items())
_Object = dict[str, Any]
_Objects = list[_Object]


class KubernetesEngine:
    """Runs jobs with the rights of a kubeconfig file or of this service's own Pod.

    Without ``kubeconfig`` it uses the file of KUBECONFIG or ``~/.kube/config``, or the Pod's
    service account. It reads and changes only objects labelled as Footplate's, and also reads the
    state of nodes. ``namespaces`` has those of projects; all others' jobs are in ``namespace``.
    The id of a job in another namespace is ``NAMESPACE/NAME``.
    """

    title = "Kubernetes"
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
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        self._settings = settings
        self._kubeconfig = None if kubeconfig is None else str(kubeconfig)
        self._context = context or None
        self._namespace = namespace or ""
        self._namespaces = namespaces or {}
        self._lookups = ImageLookups()
        self._connection: Connection | None = None
        self.oddities: tuple[str, ...] = ()
        """Sentences on the objects of the last list that can't be read or deleted."""

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:  # noqa: ARG002  as all
        if not self._settings.own_image:
            return "the region names no image for its Pods: set image or pod_template"
        return None

    def submit(self, request: JobRequest) -> str:
        """Creates the job's missing objects, and so completes an interrupted call."""
        with self._calls() as connection:
            core = connection.core
            namespace = self._namespaces.get(request.project, connection.namespace)
            images = self._read_images(core, namespace, request)
            secret = self._make_secret(core, namespace, manifests.make_secret(request))
            name: str = secret["metadata"]["name"]
            job_id = _qualify(connection, namespace, name)
            for rank, launcher in enumerate(request.launchers):
                image = images.get(launcher.image)
                pod = manifests.make_pod(self._settings, secret, rank, launcher, image, job_id)
                manifests.limit(pod, self._settings, request)
                try:
                    core.create_namespaced_pod(namespace, pod, **RAW)
                except ApiException as error:
                    if error.status == 409:
                        require_owner(core, namespace, pod)
                        continue
                    if error.status in (400, 403, 404, 422):
                        delete(core, namespace, name)
                        raise EngineRefused(
                            f"Kubernetes refuses the job's Pod: {say(error)}"
                        ) from error
                    raise
            # Last: ``list`` leaves out a job without this mark. If the server dies before it, the
            # job counts as missing and is submitted again, which adds what it lacks. With the mark,
            # a Pod that is missing has been deleted.
            patch = {"metadata": {"annotations": {manifests.COMPLETE: "true"}}}
            core.patch_namespaced_secret(name, namespace, patch, **RAW)
            return job_id

    def _read_images(
        self, core: Any, namespace: str, request: JobRequest
    ) -> dict[str, ImageConfig]:
        """Returns the registries' data of a job's images; asks once for each image."""
        names = {launcher.image for launcher in request.launchers if launcher.image}
        logins = find_logins(self._read_pull_secrets(core, namespace)) if names else {}
        try:
            return {name: self._lookups.find(name, logins) for name in sorted(names)}
        except UnknownImage as error:
            raise EngineRefused(str(error)) from error
        except SlowRegistry as error:
            raise EngineUnavailable(str(error)) from error

    def _read_pull_secrets(self, core: Any, namespace: str) -> builtins.list[str]:
        """Returns the template's pull secrets; ignores missing ones, which the registry reports."""
        found = []
        for each in (self._settings.template.get("spec") or {}).get("imagePullSecrets") or ():
            try:
                secret = read(core.read_namespaced_secret(each["name"], namespace, **RAW))
            except ApiException as error:
                if error.status in (403, 404):
                    continue
                raise
            packed = (secret.get("data") or {}).get(".dockerconfigjson") or ""
            found.append(base64.b64decode(packed).decode(errors="replace"))  # anything, if Opaque
        return found

    def _make_secret(self, core: Any, namespace: str, body: _Object) -> _Object:
        try:
            return read(core.create_namespaced_secret(namespace, body, **RAW))
        except ApiException as error:
            if error.status == 409:
                name = body["metadata"]["name"]
                return read(core.read_namespaced_secret(name, namespace, **RAW))
            if error.status in (400, 403, 404, 422):
                raise EngineRefused(f"Kubernetes refuses the job's Secret: {say(error)}") from error
            raise

    def cancel(self, job_id: str) -> None:
        """Deletes the job's Pods, which get SIGTERM and a grace period. The Secret stays, as a
        record of the job.
        """
        with self._calls() as connection:
            namespace, name = _locate(connection, job_id)
            connection.core.delete_collection_namespaced_pod(
                namespace, label_selector=f"{manifests.JOB}={name}", **RAW
            )

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        """Returns the jobs; also deletes the objects of jobs that ended long ago."""
        with self._calls() as connection:
            found, oddities = self._read_all(connection)
            silent = self._find_silent(connection.core, [p for _, pods in found for p in pods])
            jobs: builtins.list[EngineJob] = []
            for secrets, pods in found:
                ours, odd = find_jobs(secrets, prefix)
                listing = see_jobs(ours, pods, silent)
                oddities += (*odd, *listing.oddities)
                ended = {job.id for job in listing.jobs if job.phase is JobPhase.ENDED}
                old = find_old([s for s in ours if s["metadata"]["name"] in ended], pods)
                oddities += delete_all(connection.core, old)
                oddities += annotate(connection.core, ours, listing.disruptions)
                spaces = {s["metadata"]["name"]: s["metadata"]["namespace"] for s in ours}
                jobs += (
                    replace(job, id=_qualify(connection, spaces[job.id], job.id))
                    for job in listing.jobs
                )
        self.oddities = tuple(oddities)
        return tuple(jobs)

    def _read_all(
        self, connection: Connection
    ) -> tuple[builtins.list[tuple[_Objects, _Objects]], builtins.list[str]]:
        """Returns the Secrets and the Pods of each namespace, and sentences on unreadable ones."""
        found, oddities = [], []
        for namespace in self._all_namespaces(connection):
            try:
                secrets = list_objects(
                    connection.metadata.list_namespaced_secret, namespace, _MANAGED
                )
                pods = list_objects(connection.core.list_namespaced_pod, namespace, _MANAGED)
            except ApiException as error:
                if error.status not in (403, 404) or namespace == connection.namespace:
                    raise
                oddities.append(f"the jobs of namespace {namespace} can't be listed: {say(error)}")
            else:
                found.append((secrets, pods))
        return found, oddities

    def find(self, job_id: str) -> EngineJob | None:
        with self._calls() as connection:
            namespace, name = _locate(connection, job_id)
            try:
                secret = read(connection.core.read_namespaced_secret(name, namespace, **RAW))
            except ApiException as error:
                if error.status == 404:
                    return None
                raise
            selector = f"{manifests.JOB}={name}"
            pods = list_objects(connection.core.list_namespaced_pod, namespace, selector)
        ours, oddities = find_jobs((secret,), "")
        if not ours:
            raise EngineUnavailable("; ".join(oddities))
        own_id = _qualify(connection, namespace, name)
        return replace(see_job(secret, see_pods(pods)), id=own_id)

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns the nodes that aren't ready or are unknown; all of them if none can be read."""
        wanted = [name for name in nodes.split(",") if name]
        with self._calls() as connection:
            known = {each["metadata"]["name"]: each for each in list_nodes(connection.core)}
        return tuple(name for name in wanted if not is_ready(known.get(name)))

    def node_states(self, names: Sequence[str]) -> Iterator[NodeState]:
        """Yields the states of nodes; none if the account may read only its namespaces."""
        with self._calls() as connection:
            for name in names:
                selector = f"metadata.name={name}"
                try:
                    found = items(connection.core.list_node(field_selector=selector, **RAW))
                except ApiException as error:
                    if error.status == 403:
                        return
                    if error.status == 400:  # no node can have this name
                        continue
                    raise
                yield see_node(name, found[0] if found else None)

    def _find_silent(self, core: Any, pods: Sequence[_Object]) -> frozenset[str]:
        """Returns the nodes that are slow to start a Pod and that Kubernetes reports as not
        ready.
        """
        silent = set()
        for name in find_slow_nodes(pods, datetime.now(UTC))[:MAX_ASKED_NODES]:
            try:
                nodes = items(core.list_node(field_selector=f"metadata.name={name}", **RAW))
            except ApiException as error:
                if error.status == 403:  # the namespace is all that may be read
                    break
                raise
            if not any(is_ready(node) for node in nodes):
                silent.add(name)
        return frozenset(silent)

    def may_be_of(self, job_id: str, project: str) -> bool:
        with self._calls() as connection:
            namespace, _ = _locate(connection, job_id)
            return namespace == self._namespaces.get(project, connection.namespace)

    def explain(self, job: EngineJob) -> EngineJob:
        return job

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        name = f"footplate-check-{token_hex(4)}"
        pod = make_probe(self._settings, name, launcher, program.decode())
        with self._calls() as connection:
            try:
                connection.core.create_namespaced_pod(connection.namespace, pod, **RAW)
            except ApiException as error:
                if error.status in (400, 403, 404, 422):
                    raise EngineRefused(say(error)) from error
                raise
            try:
                return self._wait_for_message(connection, name)
            finally:
                self.cancel(name)

    def _wait_for_message(self, connection: Connection, name: str) -> str:
        """Returns what the Pod of a probe has printed. Raises EngineUnavailable."""
        reason, end_s = "", time.monotonic() + PROBE_S
        selector, call = f"{manifests.JOB}={name}", connection.core.list_namespaced_pod
        while time.monotonic() < end_s:
            for pod in list_objects(call, connection.namespace, selector):
                message = read_message(pod)
                if message is not None:
                    return message
                reason = see_pod(pod).reason or reason
            time.sleep(_PROBE_POLL_S)
        raise EngineUnavailable(f"its Pod did not end within {PROBE_S} s; {reason}".rstrip("; "))

    def check(self) -> EngineReport:
        try:
            with self._calls() as connection:
                namespaces = self._all_namespaces(connection)
                report = check_cluster(connection.core, namespaces, self._settings)
        except (EngineUnavailable, ApiException, HTTPError) as error:
            return EngineReport(reachable=False, problems=(str(error),))
        fault = self.fault(())
        return replace(report, problems=(*report.problems, *([fault] if fault else [])))

    def _all_namespaces(self, connection: Connection) -> builtins.list[str]:
        others = {*self._namespaces.values()} - {connection.namespace}
        return [connection.namespace, *sorted(others)]

    @contextmanager
    def _calls(self) -> Iterator[Connection]:
        """Yields the connection; its errors become EngineUnavailable."""
        try:
            if self._connection is None:
                self._connection = connect(self._kubeconfig, self._context, self._namespace)
            yield self._connection
        except ApiException as error:
            raise EngineUnavailable(f"Kubernetes answers: {say(error)}") from error
        except (HTTPError, OSError, ValueError) as error:
            raise EngineUnavailable(f"Kubernetes can't be reached: {error}") from error
        except config.ConfigException as error:
            raise EngineUnavailable(f"the kubeconfig can't be used: {error}") from error


def _qualify(connection: Connection, namespace: str, name: str) -> str:
    """Returns a job's id from its Secret's name."""
    return name if namespace == connection.namespace else f"{namespace}/{name}"


def _locate(connection: Connection, job_id: str) -> tuple[str, str]:
    """Returns the namespace and the name of a job's Secret."""
    namespace, _, name = job_id.rpartition("/")
    return namespace or connection.namespace, name
