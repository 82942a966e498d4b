"""Lists of nodes, and what nodes could hold."""

from __future__ import annotations

import pytest

from footplate.backends.slurm.nodes import SlurmNode, describe, expand, why_none_fits

PLAIN = SlurmNode("n1", "idle", 64, 64000, features=("c8",), partitions=("pool",))
GPUS = SlurmNode("n3", "mixed", 32, 64000, ("gpu:t4:4(S:0-1)", "shard:8", "nvme"), ("c8", "ib"))


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("n1", {"n1"}),
        ("n[1-3]", {"n1", "n2", "n3"}),
        ("n[08-10,12],m1", {"n08", "n09", "n10", "n12", "m1"}),
        ("r[1-2]n[1-2]-x", {"r1n1-x", "r1n2-x", "r2n1-x", "r2n2-x"}),
        ("", set()),
    ],
)
def test_lists_of_nodes(nodes: str, expected: set[str]) -> None:
    assert expand(nodes) == expected


@pytest.mark.parametrize("nodes", ["n[1-", "n[a-b]", "n[1-999999999]", "n[1-99999]m[1-99999]"])
def test_what_is_no_list_of_nodes(nodes: str) -> None:
    with pytest.raises(ValueError, match=r"list of nodes|more than"):
        expand(nodes)


def test_nodes_in_words() -> None:
    assert describe(PLAIN) == "n1: idle, 64 CPUs, 64000 MB, features c8"
    assert describe(GPUS).startswith("n3: mixed, 32 CPUs, 64000 MB, GRES gpu:t4:4(S:0-1),shard:8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, None),
        ({"constraint": "c8&ib", "gres": "gpu:4", "cpus-per-task": "32"}, None),
        ({"gres": "gpu:t4:4,shard:2", "mem": "62G"}, None),
        ({"constraint": "[rack1|rack2]"}, None),
        ({"constraint": "c9"}, "no node has the feature c9"),
        (
            {"constraint": "ib", "cpus-per-task": "64"},
            "no node that meets the other options has 64 CPUs",
        ),
        ({"gres": "nvme"}, None),
        ({"gres": "nvme:2"}, "no node that meets the other options has the GRES nvme:2"),
        ({"gres": "gpu:5"}, "no node that meets the other options has the GRES gpu:5"),
        ({"gres": "gpu:a100:1"}, "no node that meets the other options has the GRES gpu:a100:1"),
        ({"mem": "128G"}, "no node that meets the other options has 131072 MB of memory"),
        (
            {"cpus-per-task": "2", "mem-per-cpu": "40G"},
            "no node that meets the other options has 81920 MB of memory",
        ),
    ],
)
def test_what_no_node_can_hold(options: dict[str, str], said: str | None) -> None:
    assert why_none_fits((PLAIN, GPUS), options) == said
