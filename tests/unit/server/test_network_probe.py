"""A machine that can't give replicas their own network says so before it serves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.server.isolation_probe import describe_network
from footplate.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path, network="namespaces")


def describe(settings: Settings, told: Mapping[str, object]) -> tuple[str, ...]:
    return describe_network(settings, lambda *_: told)


def test_a_shared_network_is_not_tried(settings: Settings) -> None:
    assert describe(replace(settings, network="shared"), {"fault": "never asked"}) == ()


def test_what_one_should_know(settings: Settings) -> None:
    own = "each replica of a gang has an address and port 2222 of its own"
    assert describe(settings, {"fault": "", "outside": []}) == (own,)
    assert describe(settings, {"fault": "", "outside": ["no nft", "no route"]}) == (
        f"{own}; their programs can't reach the outside: no nft; no route",
    )


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"fault": "there is no ip on this machine"}, "there is no ip on this machine"),
        ({}, "it couldn't be tried"),
    ],
)
def test_a_machine_that_cannot_is_refused_with_the_way_out(
    settings: Settings, told: Mapping[str, object], reason: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        describe(settings, told)
    (wrong,) = caught.value.violations
    assert wrong.field == "network"
    assert wrong.description == (
        f"'namespaces' given, and this machine can't: {reason}; namespaces need Linux, root, and "
        "the command ip (package iproute2); or keep to 'shared', where each replica has a port of "
        "its own"
    )
