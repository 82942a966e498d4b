"""What happens to Pods in a real Kubernetes, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from footplate.ports.backend import EndCause, Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, see
from tests.support.kubernetes import IMAGE, Kubernetes
from tests.support.kubernetes_rig import KubernetesRig, pod_template

MakeRig = Callable[..., KubernetesRig]


@pytest.fixture
def make_rig(kubernetes: Kubernetes, tmp_path: Path) -> Iterator[MakeRig]:
    rigs = []

    def make(**given: Any) -> KubernetesRig:
        rigs.append(KubernetesRig(kubernetes, tmp_path, **given))
        return rigs[-1]

    yield make
    for rig in rigs:
        rig.close()


def start_live(rig: KubernetesRig, *workers: str) -> Any:
    request = make_request("u-1", workers or WORKERS[:1])
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    return request


def test_pods_that_somebody_deletes_end_their_replicas_in_order(make_rig: MakeRig) -> None:
    rig = make_rig()
    request = start_live(rig, *WORKERS[:2])
    rig.cluster.kubectl("delete", "pods", "--all", "--wait=false")
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    assert rig.launcher_pids(request.attempt_id) == ()


def test_what_a_pod_waits_for_is_said(make_rig: MakeRig, kubernetes: Kubernetes) -> None:
    template = pod_template(kubernetes.directory)
    settings = PodSettings(
        image=IMAGE, template=template, machines={"*": {"pool": "none-has-this"}}
    )
    rig = make_rig(engine=KubernetesEngine(settings, kubeconfig=kubernetes.kubeconfig))
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: "Kubernetes has no node" in see(rig.backend, request)[0].reason)
    assert rig.engine.check().problems == (
        "no ready node has the labels pool=none-has-this, which machine type * needs",
    )
    rig.backend.stop(request.attempt_id)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    assert rig.runs(request.attempt_id) == 0


def test_a_pod_that_reaches_its_deadline_ends_at_a_limit(
    make_rig: MakeRig, kubernetes: Kubernetes, tmp_path: Path
) -> None:
    template = pod_template(tmp_path)
    template["spec"] |= {"activeDeadlineSeconds": 5, "terminationGracePeriodSeconds": 10}
    settings = PodSettings(image=IMAGE, template=template, reserve=False)
    rig = make_rig(engine=KubernetesEngine(settings, kubeconfig=kubernetes.kubeconfig))
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    [seen] = see(rig.backend, request)
    assert seen.cause is EndCause.TIME_LIMIT
    assert "DeadlineExceeded" in seen.reason


def test_a_launcher_that_fails_says_its_last_line(
    make_rig: MakeRig, kubernetes: Kubernetes, tmp_path: Path
) -> None:
    """In place of a Python a program that takes no -I."""
    settings = PodSettings(
        image=IMAGE, template=pod_template(tmp_path), reserve=False, python="cat"
    )
    rig = make_rig(engine=KubernetesEngine(settings, kubeconfig=kubernetes.kubeconfig))
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    [seen] = see(rig.backend, request)
    assert seen.reason == (
        "the replica's launcher ended with status 1: Try 'cat --help' for more information."
    )


def test_the_jobs_of_a_project_run_in_its_namespace(
    make_rig: MakeRig, kubernetes: Kubernetes, tmp_path: Path
) -> None:
    """Beside a Pod there that has our label, and isn't ours."""
    kubernetes.kubectl("create", "namespace", "team-a")
    settings = PodSettings(image=IMAGE, template=pod_template(tmp_path), reserve=False)
    rig = make_rig(
        engine=KubernetesEngine(
            settings, kubeconfig=kubernetes.kubeconfig, namespaces={"my-project": "team-a"}
        )
    )
    label = "--labels=app.kubernetes.io/managed-by=footplate"
    kubernetes.kubectl("run", "odd", f"--image={IMAGE}", label, "-n", "team-a")
    request = replace(make_request("u-1"), project="my-project")
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    (job,) = rig.engine.list(f"footplate-{rig.service}-")
    assert job.id.startswith("team-a/footplate-")
    assert see(rig.backend, request)[0].engine_id == job.id
    assert "Pod team-a/odd has Footplate's label but no job" in rig.engine.oddities[0]
    kubernetes.kubectl("delete", "namespace", "team-a", "--wait=false")


def test_an_image_that_is_nowhere_is_named(make_rig: MakeRig, kubernetes: Kubernetes) -> None:
    settings = PodSettings(
        image="example.com/nowhere:1", template=pod_template(kubernetes.directory), reserve=False
    )
    rig = make_rig(engine=KubernetesEngine(settings, kubeconfig=kubernetes.kubeconfig))
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: "example.com/nowhere:1" in see(rig.backend, request)[0].reason)
    assert "ErrImageNeverPull" in see(rig.backend, request)[0].reason


def test_a_pod_that_the_api_refuses_says_so(make_rig: MakeRig, kubernetes: Kubernetes) -> None:
    template = {"spec": {"priorityClassName": "no-such-class"}}
    settings = PodSettings(image=IMAGE, template=template, reserve=False)
    rig = make_rig(engine=KubernetesEngine(settings, kubeconfig=kubernetes.kubeconfig))
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: "Kubernetes refuses the job's Pod" in see(rig.backend, request)[0].reason)
    assert "no-such-class" in see(rig.backend, request)[0].reason
    assert kubernetes.kubectl("get", "secrets", "-o", "name", "-l", "footplate.dev/job") == ""


def test_a_server_that_is_away_ends_nothing(make_rig: MakeRig) -> None:
    rig = make_rig()
    rig.door.closed = True
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: see(rig.backend, request)[0].reason == "the replica's launcher is starting")
    rig.door.closed = False
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    assert rig.runs(request.attempt_id) == 1


def test_an_api_server_that_cannot_be_reached_is_waited_for(
    make_rig: MakeRig, kubernetes: Kubernetes, tmp_path: Path
) -> None:
    away = tmp_path / "kubeconfig"
    text = kubernetes.kubeconfig.read_text()
    away.write_text(re.sub(r"https://127.0.0.1:[0-9]+", "https://127.0.0.1:9", text))
    settings = PodSettings(image=IMAGE, template=pod_template(tmp_path), reserve=False)
    rig = make_rig(engine=KubernetesEngine(settings, kubeconfig=away))
    assert not rig.engine.check().reachable
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: "doesn't answer" in see(rig.backend, request)[0].reason)
    assert all_are(rig.backend, request, Presence.WAITING)


def test_foreign_pods_are_left_alone(make_rig: MakeRig) -> None:
    rig = make_rig()
    rig.cluster.kubectl("run", "foreign", f"--image={IMAGE}", "--image-pull-policy=Never")
    request = start_live(rig)
    rig.backend.stop(request.attempt_id)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    assert rig.cluster.kubectl("get", "pod", "foreign", "-o", "name") == "pod/foreign\n"
    rig.cluster.kubectl("delete", "pod", "foreign", "--grace-period=0", "--force")
