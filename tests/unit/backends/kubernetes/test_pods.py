"""Pods as the API has them: what is made, and what their states mean."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from kubernetes.client import ApiClient

from footplate.backends.engine.engine import EngineTask, JobPhase, JobRequest, LauncherRequest
from footplate.backends.kubernetes.jobs import see_jobs
from footplate.backends.kubernetes.manifests import (
    COMPLETE,
    CONTAINER,
    JOB,
    PodSettings,
    limit,
    make_pod,
    make_secret,
)
from footplate.backends.kubernetes.pod_states import (
    DELETED,
    PodState,
    find_slow_nodes,
    see_pod,
)
from footplate.backends.kubernetes.probe_pod import make_probe, read_message
from footplate.ports.backend import EndCause
from footplate.protocol.site_variables import SITE_VARIABLES

CHIEF = LauncherRequest("master-replica-0", "n1-standard-8", 8, 30_000, "NVIDIA_TESLA_T4", 2)
WORKER = LauncherRequest("worker-replica-0", "e2-standard-4", 4, 16_000)
REQUEST = JobRequest("footplate-x-u1-1.0", "asia-east1", (CHIEF, WORKER), b"print()")
TEMPLATE = {
    "metadata": {"labels": {"team": "vision"}, "annotations": {"why": "because"}},
    "spec": {
        "serviceAccountName": "trainer",
        "imagePullSecrets": [{"name": "registry"}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "nodeSelector": {"zone": "b"},
        "containers": [
            {
                "name": "any",
                "image": "example.com/python:3.11",
                "env": [{"name": "HTTPS_PROXY", "value": "http://proxy"}],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                "resources": {"limits": {"ephemeral-storage": "10Gi"}},
            },
            {"name": "beside", "image": "example.com/other"},
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    },
}


def made_secret(*, complete: bool = True) -> dict[str, Any]:
    secret = make_secret(REQUEST)
    secret["metadata"]["uid"] = "0-1"
    if complete:
        secret["metadata"]["annotations"][COMPLETE] = "true"
    return secret


def pod(rank: int, status: dict[str, Any], node: str = "n1", **metadata: object) -> dict[str, Any]:
    launcher = REQUEST.launchers[rank]
    made = make_pod(PodSettings(image="python"), made_secret(), rank, launcher)
    made["metadata"].update(metadata)
    made["spec"]["nodeName"] = node
    return {**made, "status": status}


@pytest.mark.parametrize("settings", [PodSettings(template=TEMPLATE), PodSettings(image="python")])
def test_all_fields_are_those_of_the_api(settings: PodSettings) -> None:
    """Of the newest version that the client was made from."""
    for kind, body in (
        ("V1Secret", make_secret(REQUEST)),
        ("V1Pod", make_pod(settings, made_secret(), 0, CHIEF)),
    ):
        client = ApiClient()
        found = client.deserialize(json.dumps(body), kind, "application/json")
        assert client.sanitize_for_serialization(found) == body


def test_a_probe_is_a_pod_as_those_of_replicas() -> None:
    settings = PodSettings(
        template=TEMPLATE, env={"A": "1"}, machines={"*": {"pool": "small"}}, queue="team-a"
    )
    made = make_probe(settings, "footplate-check-1", CHIEF, "print('$(A)')")
    client = ApiClient()
    found = client.deserialize(json.dumps(made), "V1Pod", "application/json")
    assert client.sanitize_for_serialization(found) == made
    spec, metadata = made["spec"], made["metadata"]
    assert (spec["nodeSelector"], spec["restartPolicy"]) == (
        {"zone": "b", "pool": "small"},
        "Never",
    )
    assert metadata["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert metadata["labels"][JOB] == metadata["name"] == "footplate-check-1"
    container = spec["containers"][0]
    assert container["args"] == ["print('$$(A)')"]
    assert {"name": "A", "value": "1"} in container["env"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "2"
    mounts, volumes = container["volumeMounts"], spec["volumes"]
    assert {each["name"] for each in mounts} <= {each["name"] for each in volumes}


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"running": {}}, None),
        ({"terminated": {"exitCode": 0, "message": "found"}}, "found"),
        ({"terminated": {"exitCode": 128, "reason": "StartError"}}, "StartError"),
    ],
)
def test_the_message_of_a_probe(state: dict[str, Any], message: str | None) -> None:
    beside = {"name": "beside", "state": {"terminated": {"message": "of another"}}}
    statuses = [beside, {"name": CONTAINER, "state": state}]
    assert read_message({"status": {"containerStatuses": statuses}}) == message
    assert read_message({}) is None


def test_the_pods_of_a_job_are_one_group_of_kueue() -> None:
    """By the rules of Kueue's page on plain Pods, and of its webhook."""
    settings = PodSettings(image="python", queue="team-a")
    secret = made_secret()
    pods = [make_pod(settings, secret, rank, CHIEF) for rank in range(2)]
    for made in pods:
        metadata = made["metadata"]
        ours = {
            key: text
            for key, text in {**metadata["labels"], **metadata["annotations"]}.items()
            if key.startswith("kueue.x-k8s.io/")
        }
        assert ours == {
            "kueue.x-k8s.io/queue-name": "team-a",
            "kueue.x-k8s.io/pod-group-name": secret["metadata"]["name"],
            "kueue.x-k8s.io/pod-group-total-count": str(len(REQUEST.launchers)),
            "kueue.x-k8s.io/retriable-in-group": "false",
        }
        assert len(metadata["labels"]["kueue.x-k8s.io/pod-group-name"]) <= 63
        assert "schedulingGates" not in made["spec"]  # Kueue's webhook adds its own
        assert not any("controller" in owner for owner in metadata["ownerReferences"])
    plain = make_pod(PodSettings(image="python"), secret, 0, CHIEF)["metadata"]
    assert "kueue" not in str(plain)


ZONE = "topology.kubernetes.io/zone"


@pytest.mark.parametrize("required", [True, False])
def test_the_pods_of_a_gang_share_a_zone(*, required: bool) -> None:
    settings = PodSettings(image="python", topology=ZONE, requires_topology=required)
    name = made_secret()["metadata"]["name"]
    near = {"labelSelector": {"matchLabels": {JOB: name}}, "topologyKey": ZONE}
    kind, rule = (
        ("required", near) if required else ("preferred", {"weight": 100, "podAffinityTerm": near})
    )
    rules = {f"{kind}DuringSchedulingIgnoredDuringExecution": [rule]}
    made = make_pod(settings, made_secret(), 0, CHIEF)
    assert made["spec"]["affinity"] == {"podAffinity": rules}
    assert made["metadata"]["labels"][JOB] == name, "which the rule selects"
    with_queue = make_pod(replace(settings, queue="team-a"), made_secret(), 0, CHIEF)
    assert "affinity" not in with_queue["spec"], "Kueue chooses the nodes"
    assert with_queue["metadata"]["annotations"][f"kueue.x-k8s.io/podset-{kind}-topology"] == ZONE
    alone = make_secret(replace(REQUEST, launchers=(CHIEF,)))
    alone["metadata"]["uid"] = "0-1"
    assert "affinity" not in make_pod(settings, alone, 0, CHIEF)["spec"]
    single = make_pod(replace(settings, queue="team-a"), alone, 0, CHIEF)
    assert "topology" not in str(single["metadata"])


def test_a_zone_is_shared_beside_what_the_template_says() -> None:
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    theirs = {"topologyKey": "rack", "labelSelector": {"matchLabels": {"a": "b"}}}
    affinity = {"podAffinity": {key: [theirs]}, "nodeAffinity": {"x": []}}
    template = {"spec": {"affinity": affinity}}
    settings = PodSettings("i", template, topology=ZONE, requires_topology=True)
    made = make_pod(settings, made_secret(), 0, CHIEF)["spec"]["affinity"]
    assert made["nodeAffinity"] == {"x": []}
    assert [rule["topologyKey"] for rule in made["podAffinity"][key]] == ["rack", ZONE]
    assert template["spec"]["affinity"]["podAffinity"] == {key: [theirs]}


def test_the_template_stays_around_what_is_ours() -> None:
    settings = PodSettings(
        template=TEMPLATE,
        machines={"n1-standard-8": {"pool": "large"}, "*": {"pool": "small"}},
        accelerators={"NVIDIA_TESLA_T4": "example.com/t4"},
        queue="team-a",
    )
    made = make_pod(settings, made_secret(), 1, CHIEF)
    spec = made["spec"]
    container, beside = spec["containers"]
    assert made["metadata"]["name"].endswith("-1")
    assert made["metadata"]["labels"]["team"] == "vision"
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert made["metadata"]["ownerReferences"][0]["uid"] == "0-1"
    assert spec["nodeSelector"] == {"zone": "b", "pool": "large"}
    assert spec["serviceAccountName"] == "trainer"
    assert spec["volumes"][0] == TEMPLATE["spec"]["volumes"][0]  # type: ignore[index]  # JSON
    assert beside["name"] == "beside"
    assert container["image"] == "example.com/python:3.11"
    assert container["env"][0]["name"] == "HTTPS_PROXY"
    assert container["resources"]["limits"] == {
        "ephemeral-storage": "10Gi",
        "cpu": "8",
        "memory": "30000Mi",
        "example.com/t4": "2",
    }
    other = make_pod(settings, made_secret(), 0, WORKER)["spec"]
    assert other["nodeSelector"]["pool"] == "small"
    assert "example.com/t4" not in other["containers"][0]["resources"]["limits"]


def test_programs_get_the_variables_of_the_region_and_those_that_the_template_says() -> None:
    reference = {"secretKeyRef": {"name": "s3", "key": "key"}}
    template = deepcopy(TEMPLATE)
    container = template["spec"]["containers"][0]  # type: ignore[index]  # JSON
    container["env"].append({"name": "AWS_SECRET_ACCESS_KEY", "valueFrom": reference})
    settings = PodSettings(template=template, env={"NCCL_DEBUG": "INFO", "COST": "$(HOME) $1"})
    made = make_pod(settings, made_secret(), 0, CHIEF)
    found = {each["name"]: each for each in made["spec"]["containers"][0]["env"]}
    assert found["AWS_SECRET_ACCESS_KEY"]["valueFrom"] == reference
    assert found["NCCL_DEBUG"]["value"] == "INFO"
    assert found["COST"]["value"] == "$$(HOME) $$1"
    assert found[SITE_VARIABLES]["value"] == "HTTPS_PROXY NCCL_DEBUG COST"


def test_a_region_may_reserve_nothing_but_accelerators() -> None:
    made = make_pod(PodSettings(image="python", reserve=False), made_secret(), 0, CHIEF)
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "2"}


def test_tokens_are_in_the_secret_alone() -> None:
    assert "print()" in str(make_secret(REQUEST))
    assert "print()" not in str(make_pod(PodSettings(), made_secret(), 0, CHIEF))


UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available: 3 Insufficient cpu.",
}


def container(**state: object) -> dict[str, Any]:
    return {"containerStatuses": [{"image": "python", "state": state}]}


@pytest.mark.parametrize(
    ("status", "node", "state", "words"),
    [
        ({"phase": "Pending"}, "", PodState.WAITING, "scheduler"),
        ({"phase": "Pending", "conditions": [UNSCHEDULABLE]}, "", PodState.WAITING, "Insufficient"),
        (
            {"phase": "Pending", **container(waiting={"reason": "ContainerCreating"})},
            *("n1", PodState.WAITING, "Kubernetes creates the replica's container on node n1"),
        ),
        (
            {
                "phase": "Pending",
                **container(waiting={"reason": "ImagePullBackOff", "message": "no such\nimage"}),
            },
            *(
                "n1",
                PodState.WAITING,
                "node n1 can't pull the image python: ImagePullBackOff: no such image",
            ),
        ),
        (
            {"phase": "Pending", **container(waiting={"reason": "CreateContainerConfigError"})},
            *("n1", PodState.WAITING, "can't start on node n1: CreateContainerConfigError"),
        ),
        ({"phase": "Running"}, "n1", PodState.RUNNING, ""),
        (
            {
                "phase": "Running",
                "conditions": [
                    {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
                ],
            },
            *("n1", PodState.UNREACHABLE, "n1 doesn't answer"),
        ),
        ({"phase": "Succeeded", **container(terminated={"exitCode": 0})}, "n1", PodState.ENDED, ""),
        (
            {"phase": "Failed", **container(terminated={"exitCode": 137, "reason": "OOMKilled"})},
            *("n1", PodState.ENDED, "more memory than its limit"),
        ),
        (
            {"phase": "Failed", "reason": "Evicted", "message": "low on disk"},
            *("n1", PodState.ENDED, "(Evicted: low on disk)"),
        ),
        (
            {"phase": "Failed", **container(terminated={"exitCode": 3})},
            *("n1", PodState.ENDED, "status 3"),
        ),
    ],
)
def test_states_of_pods(status: dict[str, Any], node: str, state: PodState, words: str) -> None:
    seen = see_pod(pod(0, status, node))
    assert (seen.state, seen.node) == (state, node)
    assert words in seen.reason


def test_a_pod_that_was_deleted_before_it_had_a_node_never_ran() -> None:
    seen = see_pod(pod(0, {"phase": "Pending"}, "", deletionTimestamp="2026-01-01T00:00:00Z"))
    assert seen.state is PodState.ENDED


def test_a_pod_that_is_deleted_before_its_node_started_it_does_not_wait() -> None:
    """A node that is away is asked in vain to end it, for as long as Kubernetes knows it."""
    seen = see_pod(pod(0, {"phase": "Pending"}, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert (seen.state, seen.reason, seen.deleted) == (PodState.UNREACHABLE, DELETED, True)


def test_a_pod_on_a_node_that_is_away_does_not_wait() -> None:
    waiting = pod(0, {"phase": "Pending"})
    assert see_pod(waiting, frozenset({"n2"})).state is PodState.WAITING
    seen = see_pod(waiting, frozenset({"n1"}))
    assert (seen.state, seen.reason) == (
        PodState.UNREACHABLE,
        "the replica's node n1 doesn't answer Kubernetes",
    )


def test_nodes_that_take_long_to_start_a_pod_are_found() -> None:
    bound = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    pods = [
        pod(0, {"phase": "Pending", "conditions": [bound]}, "n1"),
        pod(1, {"phase": "Running", "conditions": [bound]}, "n2"),
        pod(0, {"phase": "Pending", "conditions": [UNSCHEDULABLE]}, ""),
    ]
    assert find_slow_nodes(pods, datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)) == []
    assert find_slow_nodes(pods, datetime(2026, 1, 1, 0, 1, tzinfo=UTC)) == ["n1"]


def test_a_pod_that_somebody_deletes_says_so_once_it_has_ended() -> None:
    seen = see_pod(pod(0, ENDED, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert (seen.state, seen.reason, seen.deleted) == (PodState.ENDED, DELETED, True)


DISRUPTIONS = {
    "preempted": {
        "type": "DisruptionTarget",
        "reason": "PreemptionByScheduler",
        "message": "default-scheduler: preempting to accommodate a higher priority pod",
    },
    "evicted": {
        "type": "DisruptionTarget",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    },
    "tainted": {
        "type": "DisruptionTarget",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
    },
    "stopped": {
        "type": "TerminationTarget",
        "reason": "StoppedByKueue",
        "message": "Preempted to accommodate a workload due to prioritization in the ClusterQueue",
    },
    "killed": {
        "type": "DisruptionTarget",
        "reason": "TerminationByKubelet",
        "message": "Pod was terminated in response to imminent node shutdown.",
    },
    "unknown": {"type": "DisruptionTarget", "reason": "ByAnotherController"},
}
"""Conditions by the sources of Kubernetes 1.32 and of Kueue."""


@pytest.mark.parametrize(
    "status", [{"phase": "Running"}, {"phase": "Pending"}, {"phase": "Failed"}]
)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("preempted", "Kubernetes preempted the replica's Pod: default-scheduler: preempting"),
        ("evicted", "the replica's Pod was evicted from its node: Eviction API"),
        ("tainted", "Kubernetes took the replica's Pod from a tainted node: Taint manager"),
        ("stopped", "Kueue evicted the job: Preempted to accommodate a workload"),
        ("killed", "the replica's node ended its Pod: Pod was terminated in response to"),
        ("unknown", "the cluster ends the replica's Pod (ByAnotherController)"),
    ],
)
def test_what_the_cluster_ends_is_told_from_what_somebody_deletes(
    name: str, words: str, status: dict[str, Any]
) -> None:
    told = {**status, "conditions": [{**DISRUPTIONS[name], "status": "True"}]}
    seen = see_pod(pod(0, told, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert seen.disruption.startswith(words)
    assert seen.reason == ("" if seen.state is PodState.RUNNING else seen.disruption)
    other = see_pod(pod(0, status, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert (other.state, other.disruption) == (seen.state, "")
    passed = {**status, "conditions": [{**DISRUPTIONS[name], "status": "False"}]}
    assert see_pod(pod(0, passed)).disruption == ""


def test_a_pod_that_its_node_evicts_for_lack_of_memory_has_failed() -> None:
    """It may have used that itself, and would do so again."""
    condition = {**DISRUPTIONS["killed"], "status": "True", "message": "low on memory"}
    status = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory"}
    seen = see_pod(pod(0, {**status, "conditions": [condition]}))
    assert (seen.disruption, seen.reason) == (
        "",
        "Kubernetes ended the replica's Pod (Evicted: The node was low on memory)",
    )


def test_a_pod_that_is_gone_after_its_disruption_is_no_deleted_one() -> None:
    secret, going = (
        made_secret(),
        pod(
            1, {"phase": "Running", "conditions": [{**DISRUPTIONS["preempted"], "status": "True"}]}
        ),
    )
    listing = see_jobs([secret], [pod(0, RUNNING), going])
    ((name, added),) = listing.disruptions.items()
    assert name == secret["metadata"]["name"]
    secret["metadata"]["annotations"].update(added)
    (job,) = see_jobs([secret], [pod(0, ENDED)]).jobs
    assert job.reason.startswith("Kubernetes preempted the replica's Pod")
    assert job.cause is EndCause.PREEMPTED
    assert see_jobs([secret], [pod(0, RUNNING), going]).disruptions == {}


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("PreemptionByScheduler", EndCause.PREEMPTED),
        ("EvictionByEvictionAPI", EndCause.PREEMPTED),
        ("DeletionByPodGC", EndCause.UNKNOWN),  # its node is lost, which counts
        (None, EndCause.CANCELLED),
    ],
)
def test_what_the_cluster_needs_the_node_for_costs_no_restart(
    reason: str | None, cause: EndCause
) -> None:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    status = {**ENDED, "conditions": [condition] if reason else []}
    going = pod(1, status, deletionTimestamp="2026-01-01T00:00:00Z")
    (job,) = see_jobs([made_secret()], [pod(0, ENDED), going]).jobs
    assert (job.cause, job.tasks[1].cause) == (cause, cause)


def test_a_pod_that_waits_for_gates_says_which() -> None:
    waiting = pod(0, {"phase": "Pending"}, "")
    waiting["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
    assert "kueue.x-k8s.io/admission" in see_pod(waiting).reason


RUNNING: dict[str, Any] = {"phase": "Running"}
ENDED: dict[str, Any] = {"phase": "Succeeded"}
WAITING: dict[str, Any] = {"phase": "Pending", "conditions": [UNSCHEDULABLE]}


@pytest.mark.parametrize(
    ("first", "second", "phase"),
    [
        (RUNNING, RUNNING, JobPhase.RUNNING),
        (RUNNING, WAITING, JobPhase.RUNNING),
        (RUNNING, ENDED, JobPhase.RUNNING),
        (WAITING, WAITING, JobPhase.WAITING),
        (ENDED, WAITING, JobPhase.WAITING),
        (ENDED, ENDED, JobPhase.ENDED),
    ],
)
def test_a_job_is_what_its_pods_are(
    first: dict[str, Any], second: dict[str, Any], phase: JobPhase
) -> None:
    (job,) = see_jobs([made_secret()], [pod(0, first), pod(1, second)]).jobs
    assert (job.name, job.phase, job.cause) == (REQUEST.name, phase, EndCause.UNKNOWN)


OOM = {"phase": "Failed", **container(terminated={"exitCode": 137, "reason": "OOMKilled"})}
LATE = {"phase": "Failed", "reason": "DeadlineExceeded", "message": "active on the node longer"}
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("second", "cause"),
    [
        (pod(1, OOM), EndCause.OUT_OF_MEMORY),
        (pod(1, LATE), EndCause.TIME_LIMIT),
        (pod(1, OOM, **GOING), EndCause.CANCELLED),
        (pod(1, ENDED), EndCause.UNKNOWN),
    ],
)
def test_the_cause_of_a_jobs_end_is_that_of_its_pods(
    second: dict[str, Any], cause: EndCause
) -> None:
    (job,) = see_jobs([made_secret()], [pod(0, ENDED), second]).jobs
    assert (job.phase, job.cause, job.tasks[1].cause) == (JobPhase.ENDED, cause, cause)


def test_a_launcher_that_fails_says_its_last_line() -> None:
    wrote = "http://10.0.0.1: refused\nthe server doesn't answer at http://10.0.0.1\n"
    ended = container(terminated={"exitCode": 1, "reason": "Error", "message": wrote})
    assert see_pod(pod(0, {"phase": "Failed", **ended})).reason == (
        "the replica's launcher ended with status 1: the server doesn't answer at http://10.0.0.1"
    )


def limited(request: JobRequest, settings: PodSettings) -> int | None:
    made = make_pod(settings, made_secret(), 0, request.launchers[0])
    limit(made, settings, request)
    deadline: int | None = made["spec"].get("activeDeadlineSeconds")
    return deadline


def test_a_pod_has_the_limit_of_its_job_where_it_does_not_wait_for_others() -> None:
    gang, alone = (replace(REQUEST, launchers=REQUEST.launchers[:n], limit_s=99.5) for n in (2, 1))
    plain, queued = PodSettings(image="python"), PodSettings(image="python", queue="all")
    own = PodSettings(image="python", template={"spec": {"activeDeadlineSeconds": 7}})
    assert [limited(alone, each) for each in (plain, queued, own)] == [100, 100, 7]
    assert [limited(gang, each) for each in (plain, queued, own)] == [None, 100, 7]
    assert limited(replace(alone, limit_s=0.0), plain) is None


def test_a_gang_that_fits_in_part_says_so() -> None:
    (job,) = see_jobs([made_secret()], [pod(0, RUNNING), pod(1, WAITING)]).jobs
    assert job.reason.startswith("1 of 2 Pods have started; Kubernetes has no node")


def test_pods_that_are_not_there_were_deleted_perhaps_without_their_node() -> None:
    (job,) = see_jobs([made_secret()], [pod(0, ENDED)]).jobs
    assert (job.phase, job.reason, job.cause) == (JobPhase.ENDED, DELETED, EndCause.CANCELLED)
    assert job.nodes == "?,n1"


def test_each_pod_of_a_job_is_seen_for_itself() -> None:
    running = [pod(0, RUNNING, "n1"), pod(1, {"phase": "Pending"}, "n2")]
    (job,) = see_jobs([made_secret()], running, frozenset({"n2"})).jobs
    away = EngineTask(stuck=True, reason="the replica's node n2 doesn't answer Kubernetes")
    assert (job.phase, job.tasks) == (JobPhase.RUNNING, (EngineTask(), away))
    failed = {"phase": "Failed", **container(terminated={"exitCode": 137})}
    (job,) = see_jobs([made_secret()], [pod(1, failed)]).jobs
    ended = EngineTask(ended=True, reason="the replica's launcher ended with status 137")
    assert job.tasks == (EngineTask(stuck=True, reason=DELETED, cause=EndCause.CANCELLED), ended)


def test_a_job_whose_pods_were_not_all_made_is_not_seen() -> None:
    assert see_jobs([made_secret(complete=False)], [pod(0, RUNNING)]).jobs == ()


def test_init_containers_of_the_template_are_seen_first() -> None:
    creating = [{"name": "replica", "state": {"waiting": {"reason": "PodInitializing"}}}]
    status = {"phase": "Pending", "containerStatuses": creating}
    assert see_pod(pod(0, status)).reason == "Kubernetes creates the replica's container on node n1"
    pull = {"reason": "ImagePullBackOff", "message": "Back-off"}
    waits = [{"name": "first", "image": "x", "state": {"waiting": pull}}]
    found = see_pod(pod(0, {**status, "initContainerStatuses": waits}))
    assert found.reason == "node n1 can't pull the image x: ImagePullBackOff: Back-off"


def test_a_container_that_cannot_start_has_its_reason() -> None:
    broken = {"reason": "StartError", "message": "no such file", "exitCode": 128}
    status = {"phase": "Failed", "containerStatuses": [{"state": {"terminated": broken}}]}
    assert see_pod(pod(0, status)).reason == "the replica's container can't start: no such file"
