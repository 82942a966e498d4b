"""What of a node's variables reaches programs, builds and containers."""

from __future__ import annotations

import pytest

from footplate.protocol.site_variables import PROLOGUE_VARIABLES, SITE_VARIABLES
from footplate.replica.program_spec import (
    compose_build_environment,
    compose_container_environment,
    compose_environment,
)
from tests.support.replica_context import make_task

NODE = {
    "PATH": "/modules/cuda/bin:/usr/bin",
    "LD_LIBRARY_PATH": "/modules/cuda/lib",
    "CUDA_HOME": "/modules/cuda",
    "CUDA_VISIBLE_DEVICES": "1",
    "NCCL_SOCKET_IFNAME": "ib0",
    "UCX_TLS": "rc",
    "SLURM_JOB_ID": "7",
    "SITE_LICENCE": "27000@licences",
    "MODULEPATH": "/modules",
    "PYTHONPATH": "/modules/python",
    "PWD": "/etc",
    "SLURM_JWT": "a token",
    "UV_DEFAULT_INDEX": "https://user:password@index",
    "FOOTPLATE_TOKEN": "a token",
    "AWS_SECRET_ACCESS_KEY": "a key",
    SITE_VARIABLES: "SITE_LICENCE UV_DEFAULT_INDEX PATH",
    PROLOGUE_VARIABLES: "MODULEPATH PYTHONPATH PWD FOOTPLATE_TOKEN PATH",
}
LIBRARIES = {"NCCL_SOCKET_IFNAME", "UCX_TLS", "SLURM_JOB_ID"}
SECRETS = {"SLURM_JWT", "FOOTPLATE_TOKEN", "AWS_SECRET_ACCESS_KEY", SITE_VARIABLES}
USELESS = {"PYTHONPATH", "PWD", PROLOGUE_VARIABLES}


def compose(host: dict[str, str]) -> dict[str, str]:
    return compose_environment(make_task(), [], host, {}, "mark")


def test_a_program_on_a_node_gets_what_its_site_gives() -> None:
    found = compose(NODE)
    wanted = {*LIBRARIES, "SITE_LICENCE", "MODULEPATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES"}
    assert {name: found.get(name) for name in wanted} == {name: NODE[name] for name in wanted}
    assert found["PATH"].endswith(NODE["PATH"])
    assert not found.keys() & (SECRETS | USELESS | {"UV_DEFAULT_INDEX"})


def test_a_program_on_the_services_machine_gets_nothing_of_a_site() -> None:
    here = {name: text for name, text in NODE.items() if name != SITE_VARIABLES}
    assert not compose(here).keys() & {*LIBRARIES, "SITE_LICENCE", "MODULEPATH"}


def test_a_build_finds_the_modules_too() -> None:
    found = compose_build_environment(NODE)
    assert {"MODULEPATH", "CUDA_HOME", "UV_DEFAULT_INDEX"} <= found.keys()
    assert not found.keys() & (SECRETS | USELESS)


@pytest.mark.parametrize("name", ["PATH", "LD_LIBRARY_PATH", "MODULEPATH"])
def test_an_image_keeps_its_own_paths(name: str) -> None:
    found = compose_container_environment(make_task(), NODE, "/metrics", "mark")
    assert {*LIBRARIES, "SITE_LICENCE"} <= found.keys()
    assert name not in found
    assert not found.keys() & (SECRETS | USELESS | {"UV_DEFAULT_INDEX"})
