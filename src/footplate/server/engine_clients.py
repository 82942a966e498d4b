"""The clients of the engines that regions are bound to, made from the settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from footplate.backends.engine.engine import Engine
from footplate.backends.ray import RayEngine, RaySettings
from footplate.backends.region_bindings import RegionBinding
from footplate.backends.region_keys import KUBERNETES, RAY, REQUIRED, SLURM
from footplate.backends.slurm import RestServer, SlurmEngine, SlurmSettings
from footplate.domain.errors import InvalidArgument

_SOURCES = ("UV_", "PIP_", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")


def make_engine(region: RegionBinding) -> Engine:
    """Creates the engine's client, without a request.

    Raises InvalidArgument if the client isn't installed, or a file is wrong.
    """
    _, make = _ENGINES[region.backend]
    return make(region)


def title_of(backend: str) -> str:
    """Returns the users' name of the engine."""
    title, _ = _ENGINES[backend]
    return title


def describe_limits(region: RegionBinding) -> str:
    """Returns a sentence on what limits a replica of the region to its machine's resources."""
    if region.backend == SLURM:
        return "Slurm limits CPUs, memory and GPUs, as Slurm's TaskPlugin and cgroup.conf define"
    if region.backend == RAY:
        return "none: Ray doesn't limit programs"
    if region.reserve:
        return "Kubernetes limits CPUs, memory and GPUs"
    return "Kubernetes limits GPUs; it doesn't reserve CPUs and memory (reserve = false)"


def _make_slurm(region: RegionBinding) -> Engine:
    server = None
    if region.slurmrestd:
        server = RestServer(region.slurmrestd, region.user or "", region.token_file or "")
    return SlurmEngine(
        SlurmSettings(
            partition=region.partition or "",
            account=region.account or "",
            qos=region.qos or "",
            machines=region.machines,
            accelerators=region.accelerators,
            python=region.python,
            scratch=region.scratch or "",
            environment=_package_sources(os.environ),
            server=server,
            env=region.env,
            prologue=region.prologue or "",
            projects=region.projects,
            admit=region.admit,
        )
    )


def _package_sources(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables for package sources: nodes build as this machine does."""
    return {name: text for name, text in environ.items() if name.upper().startswith(_SOURCES)}


def _make_kubernetes(region: RegionBinding) -> Engine:
    """Creates the client. Raises InvalidArgument if the library isn't installed, or the template
    is wrong.
    """
    try:
        from footplate.backends.kubernetes import KubernetesEngine, PodSettings  # an extra
    except ModuleNotFoundError as error:
        raise InvalidArgument(
            f"region {region.name}: the Kubernetes client is not installed; run pip install "
            "'footplate[kubernetes]'"
        ) from error
    settings = PodSettings(
        image=region.image or "",
        template=_read_template(region),
        python=region.python,
        machines={
            name: dict(word.split("=", 1) for word in words)
            for name, words in region.machines.items()
        },
        accelerators=region.accelerators,
        reserve=region.reserve,
        queue=region.queue or "",
        env=region.env,
        topology=region.topology or "",
        requires_topology=region.topology_mode == REQUIRED,
    )
    return KubernetesEngine(
        settings,
        kubeconfig=Path(region.kubeconfig) if region.kubeconfig else None,
        context=region.context,
        namespace=region.namespace,
        namespaces=region.namespaces,
    )


def _read_template(region: RegionBinding) -> dict[str, object]:
    if region.pod_template is None:
        return {}
    try:
        found = yaml.safe_load(Path(region.pod_template).read_bytes())
    except (OSError, yaml.YAMLError) as error:
        raise InvalidArgument(f"region {region.name}: pod_template: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("spec", {}), dict):
        raise InvalidArgument(
            f"region {region.name}: pod_template: the file {region.pod_template} has no Pod in it"
        )
    return found


def _make_ray(region: RegionBinding) -> Engine:
    settings = RaySettings(
        region.address or "",
        python=region.python,
        strategy=region.strategy,
        machines={
            name: {key: float(amount) for key, _, amount in (w.partition("=") for w in words)}
            for name, words in region.machines.items()
        },
        accelerators=region.accelerators,
        reserve=region.reserve,
        env=region.env,
        token_file=region.token_file or "",
    )
    return RayEngine(settings)


_ENGINES: dict[str, tuple[str, Callable[[RegionBinding], Engine]]] = {
    SLURM: ("Slurm", _make_slurm),
    KUBERNETES: ("Kubernetes", _make_kubernetes),
    RAY: ("Ray", _make_ray),
}
