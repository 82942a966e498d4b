"""A real Kubernetes of one node whose Pods have a network of their own, and service accounts.

The node is a network namespace with a bridge in it, and its Pods reach what this machine reaches.
Addresses and names of Services are those of ``cluster_services.py`` and of dnsmasq. Volumes are
folders.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import cluster_services
from tests.support.kubernetes import (
    RIG,
    Kubernetes,
    copy_node_script,
    start_control_plane,
    stop_control_plane,
    wait_until_ready,
)
from tests.support.machines import connected_machines
from tests.support.requirements import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NODE = "k1"
SERVICES, DNS, PODS = "10.96.0.0/16", "10.96.0.10", "10.244.0.0/24"
LOOPBACK = """echo '{"cniVersion":"0.3.1","name":"lo","type":"loopback"}' > cni/10-lo.conf\n"""
KUBELET, CONTAINERD = "oomScoreAdj: 0\n", "  disable_apparmor = true\n"
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
ADMISSION = "--disable-admission-plugins ServiceAccount "
CONTROLLERS = "--service-account-private-key-file sa.key "


def require_pod_network() -> None:
    require_packages("a network of Pods", "dnsmasq-base", "iptables", "containernetworking-plugins")


class PodNetwork:
    def __init__(self, cluster: Kubernetes, folder: Path, space: str) -> None:
        self.cluster = cluster
        self.space = space
        """The network namespace in which Pods and Services can be reached."""
        self._folder = folder

    def add_volume(self, name: str, mode: str) -> None:
        """A volume of the node, for a claim that names no storage class."""
        path = self._folder / "volumes" / name
        path.mkdir(parents=True)
        terms = [
            {
                "matchExpressions": [
                    {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}
                ]
            }
        ]
        body = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "100Gi"},
                "accessModes": [mode],
                "local": {"path": str(path)},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            },
        }
        self.cluster.kubectl("apply", "-f", "-", given=json.dumps(body).encode())


@contextmanager
def kubernetes_with_pod_network(folder: Path, images: Sequence[Path]) -> Iterator[PodNetwork]:
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        machines = stack.enter_context(connected_machines(NODE))
        cluster = Kubernetes(folder / "plane", folder / "kubeconfig", folder / NODE)
        stack.callback(stop_control_plane, cluster)
        start_control_plane(cluster, machines.here, _plane_script(folder / "up"))
        stack.callback(shutil.rmtree, cluster.node, ignore_errors=True)
        stack.callback(machines.kill, NODE)
        machines.start(
            NODE,
            _node_script(folder / "scripts"),
            cluster.node,
            NODE,
            cluster.directory,
            *images,
            environment={**os.environ, "NODE_IP": machines.address(NODE)},
            log=folder / f"{NODE}.log",
        )
        space = machines.space(NODE)
        stack.enter_context(_reaching_outside(space, machines.here))
        stack.enter_context(_running_services(space, cluster, folder))
        wait_until_ready(cluster, folder / f"{NODE}.log")
        yield PodNetwork(cluster, folder, space)


def _plane_script(folder: Path) -> Path:
    """Pods get tokens of their service accounts, and the certificate of the API."""
    folder.mkdir()
    text = (RIG / "up.sh").read_text()
    assert ADMISSION in text
    assert CONTROLLERS in text
    text = text.replace(ADMISSION, "")
    text = text.replace(CONTROLLERS, f"{CONTROLLERS}--root-ca-file certs/apiserver.crt ")
    script = folder / "up.sh"
    script.write_text(text)
    script.chmod(0o755)
    (folder / "bin.tar.xz").symlink_to(RIG / "bin.tar.xz")
    return script


def _node_script(folder: Path) -> Path:
    script = copy_node_script(folder)
    text = script.read_text()
    assert LOOPBACK in text
    assert KUBELET in text
    assert CONTAINERD in text
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": PODS}]],
            "routes": [{"dst": "0.0.0.0/0"}],
            "dataDir": str(folder / "addresses"),
        },
    }
    network = json.dumps({"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge]})
    text = text.replace(LOOPBACK, f"echo '{network}' > cni/10-bridge.conflist\n")
    names = f"clusterDNS: [{DNS}]\nclusterDomain: cluster.local\n"
    text = text.replace(KUBELET, f"{KUBELET}{names}")
    inside = "  netns_mounts_under_state_dir = true\n"  # not among those of this machine
    script.write_text(text.replace(CONTAINERD, f"{CONTAINERD}{inside}"))
    return script


@contextmanager
def _reaching_outside(space: str, here: str) -> Iterator[None]:
    """By this machine, which hides the addresses of the node behind its own."""
    net = f"{here.rpartition('.')[0]}.0/24"
    rule = ("POSTROUTING", "-s", net, "!", "-d", net, "-j", "MASQUERADE")
    before = FORWARD.read_text()
    _ip(space, "route", "add", "default", "via", here)
    _run("iptables", "-t", "nat", "-A", *rule)
    try:
        FORWARD.write_text("1")
        yield
    finally:
        FORWARD.write_text(before)
        _run("iptables", "-t", "nat", "-D", *rule)


@contextmanager
def _running_services(space: str, cluster: Kubernetes, folder: Path) -> Iterator[None]:
    """Names and addresses of Services, for the node and for its Pods."""
    _ip(space, "route", "add", "local", SERVICES, "dev", "lo")
    _ip(space, "addr", "add", f"{DNS}/32", "dev", "lo")
    hosts = folder / "hosts"
    hosts.mkdir()
    options = ("--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", "--user=root")
    names = ("--no-hosts", "--local=/cluster.local/", f"--hostsdir={hosts}")
    listen = (f"--listen-address={DNS}", "--bind-interfaces")
    program = (sys.executable, "-P", cluster_services.__file__, str(cluster.kubeconfig))
    with (
        _running(space, folder / "dns.log", "dnsmasq", *options, *names, *listen),
        _running(space, folder / "services.log", *program, str(hosts / "all")),
    ):
        yield


@contextmanager
def _running(space: str, log: Path, *command: str) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            ("nsenter", f"--net=/var/run/netns/{space}", *command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _ip(space: str, *words: str) -> None:
    _run("ip", "-n", space, *words)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
