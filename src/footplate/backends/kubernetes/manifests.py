"""The Secret and the Pods (core/v1) of a job, made from the region's template of Pods."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.backends.kubernetes import image_pods
from footplate.containers.registry import ImageConfig
from footplate.protocol.site_variables import SITE_VARIABLES

CONTAINER = "replica"
MOUNT = "/var/run/footplate"
PROGRAM = "bootstrap.py"
RANK, NODE, ID = "FOOTPLATE_RANK", "FOOTPLATE_NODE", "FOOTPLATE_JOB"
JOB = "footplate.dev/job"
"""A label with the Secret's name, on all objects of a job; an annotation with the job's name."""
RANKS = "footplate.dev/ranks"
COMPLETE = "footplate.dev/complete"
"""On the Secret, once all Pods of the job were made."""
REPLICA = "footplate.dev/replica"
DISRUPTED = "footplate.dev/disrupted-"
"""On the Secret, with a Pod's rank behind it: why the cluster has ended that Pod."""
MANAGED_BY = {"app.kubernetes.io/managed-by": "footplate"}
_KUEUE = "kueue.x-k8s.io"
QUEUE_LABEL = f"{_KUEUE}/queue-name"
_FILE_MODE = 0o400
"""The mode of the program: its user alone reads it."""
_PROGRAM_MOUNT = {"name": "footplate-program", "mountPath": MOUNT, "readOnly": True}
GRACE_S = 90
"""The time for what the supervisor does after its program: last lines, buckets."""


@dataclass(frozen=True)
class PodSettings:
    """The settings of a region's Pods."""

    image: str = ""
    """Has a Python of 3.8 or later; empty: the template names it."""
    template: Mapping[str, Any] = field(default_factory=dict)
    """A Pod, of which our values replace some: its first container runs the replica."""
    python: str = "python3"
    machines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels of nodes for each machine type; those of ``*`` hold for all others."""
    accelerators: Mapping[str, str] = field(default_factory=dict)
    """The extended resource for each accelerator type, ``nvidia.com/gpu`` for all others."""
    reserve: bool = True
    """Whether Pods request the processors and the memory of their machine types."""
    queue: str = ""
    """The queue of Kueue, where it is installed."""
    topology: str = ""
    """The label of nodes whose value all Pods of a job share; empty: none."""
    requires_topology: bool = False
    """Whether a job waits until that is possible."""
    scratch: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of all Pods, after the template's."""

    @property
    def container(self) -> Mapping[str, Any]:
        """Returns the template's container, from which the replica's is made."""
        found: Mapping[str, Any] = ((self.template.get("spec") or {}).get("containers") or [{}])[0]
        return found

    @property
    def own_image(self) -> str:
        """Returns the image that has a Python; '' if there is none."""
        return self.image or str(self.container.get("image") or "")


def object_name(job: str) -> str:
    """Returns the name of a job's Secret, a DNS-1123 label; the names of its Pods begin with it."""
    return f"footplate-{hashlib.sha256(job.encode()).hexdigest()[:20]}"


def pod_name(secret: str, rank: int) -> str:
    return f"{secret}-{rank}"


def make_secret(request: JobRequest) -> dict[str, Any]:
    """Returns the Secret with the program of all Pods of a job, which contains their launchers'
    tokens.

    The Secret stands for the job: it owns the Pods, and says how many there are.
    """
    name = object_name(request.name)
    annotations = {JOB: request.name, RANKS: str(len(request.launchers))}
    has_images = any(launcher.image for launcher in request.launchers)
    copy = {image_pods.COPY_PROGRAM: image_pods.read_copy_program()} if has_images else {}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {
            "name": name,
            "labels": {**MANAGED_BY, JOB: name},
            "annotations": annotations,
        },
        "stringData": {PROGRAM: request.program.decode(), **copy},
    }


def make_pod(
    settings: PodSettings,
    secret: Mapping[str, Any],
    rank: int,
    launcher: LauncherRequest,
    image: ImageConfig | None = None,
    job_id: str = "",
) -> dict[str, Any]:
    """Returns the Pod of one rank; ``secret`` is its job's, in the API's form.

    ``image`` is the user's, in which the replica runs; None for the region's. ``job_id`` is the
    engine's, the Secret's name if empty. The template's fields stay, but for the name, the restart
    policy and the command.
    """
    owner = secret["metadata"]
    pod = deepcopy(dict(settings.template))
    metadata = pod.get("metadata") or {}
    queue_labels, queue_annotations = _queue(settings, owner)
    reference = {"apiVersion": "v1", "kind": "Secret", "name": owner["name"], "uid": owner["uid"]}
    spec = _make_spec(pod.get("spec") or {}, settings, owner["name"], launcher, image)
    spec["containers"][0]["env"] += _variables(job_id or owner["name"], rank)
    if settings.topology and not settings.queue and _is_gang(owner):
        spec["affinity"] = _stay_together(spec.get("affinity") or {}, settings, owner["name"])
    return {
        **pod,
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **metadata,
            "name": pod_name(owner["name"], rank),
            "labels": {**(metadata.get("labels") or {}), **queue_labels, **owner["labels"]},
            "annotations": {
                **(metadata.get("annotations") or {}),
                **queue_annotations,
                REPLICA: launcher.replica,
            },
            "ownerReferences": [reference],
        },
        "spec": spec,
    }


def limit(pod: dict[str, Any], settings: PodSettings, request: JobRequest) -> None:
    """Limits the time of a job's Pod on its node, unless the template does.

    Without a queue the Pods of a gang start one by one, and wait on their nodes for each other.
    """
    together = bool(settings.queue) or len(request.launchers) == 1
    if request.limit_s and together:
        pod["spec"].setdefault("activeDeadlineSeconds", math.ceil(request.limit_s))


def _make_spec(
    given: dict[str, Any],
    settings: PodSettings,
    name: str,
    launcher: LauncherRequest,
    image: ImageConfig | None,
) -> dict[str, Any]:
    """Returns a Pod's spec. ``given`` is the template's; ``name`` is that of the Secret."""
    containers = given.get("containers") or [{}]
    mode = _FILE_MODE if image is None else image_pods.FILE_MODE
    spec = {
        "terminationGracePeriodSeconds": GRACE_S,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "shareProcessNamespace": True,  # its first process reaps orphans
        **given,
        "restartPolicy": "Never",
        "containers": [fill(containers[0], settings, launcher), *containers[1:]],
        "volumes": [*(given.get("volumes") or ()), *_volumes(name, mode)],
    }
    if image is not None:
        _put_in_image(spec, settings, launcher, image)
    selector = settings.machines.get(launcher.machine_type, settings.machines.get("*", {}))
    if selector:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **selector}
    return spec


def _put_in_image(
    spec: dict[str, Any], settings: PodSettings, launcher: LauncherRequest, image: ImageConfig
) -> None:
    """Makes the user's image the replica's container, with a Python from another image."""
    ours, *others = spec["containers"]
    ours = {
        **ours,
        "image": image.reference,
        "command": [image_pods.PYTHON, "-I", f"{MOUNT}/{PROGRAM}"],
        "env": [*ours["env"], *image_pods.variables(image)],
        "volumeMounts": [*ours["volumeMounts"], *image_pods.mounts()],
    }
    resources = _resources(
        settings.container.get("resources") or {}, settings, replace(launcher, accelerators=0)
    )
    container = {**settings.container, "resources": resources}
    copier = image_pods.make_copier(container, settings.own_image, settings.python, _PROGRAM_MOUNT)
    spec["containers"] = [ours, *others]
    spec["initContainers"] = [*(spec.get("initContainers") or ()), copier]
    spec["volumes"] = [*spec["volumes"], *image_pods.volumes()]


def _is_gang(owner: Mapping[str, Any]) -> bool:
    return int(owner["annotations"][RANKS]) > 1


def _stay_together(given: Mapping[str, Any], settings: PodSettings, job: str) -> dict[str, Any]:
    """Returns the template's affinity, with one for nodes near those of the job's other Pods."""
    near = {"labelSelector": {"matchLabels": {JOB: job}}, "topologyKey": settings.topology}
    kind, rule = (
        ("requiredDuringSchedulingIgnoredDuringExecution", near)
        if settings.requires_topology
        else (
            "preferredDuringSchedulingIgnoredDuringExecution",
            {"weight": 100, "podAffinityTerm": near},
        )
    )
    pods = given.get("podAffinity") or {}
    return {**given, "podAffinity": {**pods, kind: [*(pods.get(kind) or ()), rule]}}


def _queue(
    settings: PodSettings, owner: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, str]]:
    """Returns labels and annotations by which Kueue admits all Pods of a job or none.

    Kueue itself adds its scheduling gate, and the labels of the nodes that it has chosen. An ended
    Pod isn't replaced in its group, and the job's quota is free once all have ended.
    """
    if not settings.queue:
        return {}, {}
    labels = {QUEUE_LABEL: settings.queue, f"{_KUEUE}/pod-group-name": owner["name"]}
    annotations = {
        f"{_KUEUE}/pod-group-total-count": owner["annotations"][RANKS],
        f"{_KUEUE}/retriable-in-group": "false",
    }
    if settings.topology and _is_gang(owner):
        mode = "required" if settings.requires_topology else "preferred"
        annotations[f"{_KUEUE}/podset-{mode}-topology"] = settings.topology
    return labels, annotations


def fill(
    container: Mapping[str, Any], settings: PodSettings, launcher: LauncherRequest
) -> dict[str, Any]:
    """Returns the replica's container, from the template's."""
    image = {"image": settings.image} if settings.image else {}
    return {
        # Its status has the last lines of a launcher that fails.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        **container,
        **image,
        "name": CONTAINER,
        "command": [settings.python, "-I", f"{MOUNT}/{PROGRAM}"],
        "args": [],
        "env": [*(container.get("env") or ()), *_site_variables(container, settings.env)],
        "resources": _resources(container.get("resources") or {}, settings, launcher),
        "volumeMounts": [
            *(container.get("volumeMounts") or ()),
            _PROGRAM_MOUNT,
            {"name": "footplate-shm", "mountPath": "/dev/shm"},  # noqa: S108  a mount of the Pod
        ],
    }


def _site_variables(container: Mapping[str, Any], env: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns the region's variables, and which ones programs get: these, and the template's.

    Those that the template takes from a Secret stay with the supervisor. Dollars are doubled, as
    Kubernetes replaces ``$(NAME)``.
    """
    own = [{"name": name, "value": value.replace("$", "$$")} for name, value in env.items()]
    plain = [each for each in container.get("env") or () if "valueFrom" not in each]
    names = " ".join(each["name"] for each in (*plain, *own))
    return [*own, {"name": SITE_VARIABLES, "value": names}]


def _variables(job: str, rank: int) -> list[dict[str, Any]]:
    node = {"fieldRef": {"fieldPath": "spec.nodeName"}}
    return [
        {"name": RANK, "value": str(rank)},
        {"name": ID, "value": job},
        {"name": NODE, "valueFrom": node},
    ]


def _resources(
    given: Mapping[str, Any], settings: PodSettings, launcher: LauncherRequest
) -> dict[str, Any]:
    """Returns a container's resources. Limits equal requests, so no use evicts a Pod."""
    own: dict[str, str] = {}
    if settings.reserve:
        if launcher.vcpus:
            own["cpu"] = str(launcher.vcpus)
        if launcher.memory_mb:
            own["memory"] = f"{launcher.memory_mb}Mi"
    if launcher.accelerators:
        resource = settings.accelerators.get(
            launcher.accelerator_type, settings.accelerators.get("*", "nvidia.com/gpu")
        )
        own[resource] = str(launcher.accelerators)
    return {
        **given,
        "requests": {**(given.get("requests") or {}), **own},
        "limits": {**(given.get("limits") or {}), **own},
    }


def _volumes(secret: str, mode: int) -> list[dict[str, Any]]:
    """Returns the volumes: the program, and shared memory, since loaders need over 64 MB."""
    return [
        {"name": "footplate-program", "secret": {"secretName": secret, "defaultMode": mode}},
        {"name": "footplate-shm", "emptyDir": {"medium": "Memory"}},
    ]
