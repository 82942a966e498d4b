"""Whatever becomes of a valid file: it is refused as a whole, or the catalogue is consistent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from footplate.catalogue import load_catalogue
from footplate.domain.catalogue import Catalogue, MachineType, inconsistencies
from footplate.domain.errors import InvalidArgument
from tests.support.profiles import scaled

VALID = """\
replace = false

[accelerators.NVIDIA_X1]
kind = "GPU"
memory_gb = 24
limits = [{ count = 1, vcpus = 32 }, { count = 2, memory_gb = 256.5 }]

[series.box]
vcpus = [4, 16]
memory_gb_per_vcpu = 4
egress_gbps = { 16 = 32 }

[machine_types.rack]
vcpus = 32
memory_gb = 128
included = { accelerator = "NVIDIA_X1", count = 1 }

[machine_types.old_rack]
family = "LEGACY"
like = "box-16"

[[attachments]]
machine_types = ["box-4", "box-16", "n1-standard-4"]
accelerators.NVIDIA_X1 = [1, 2]

[regions.home1]
zones.a = ["NVIDIA_X1", "NVIDIA_TESLA_T4"]
zones.b = []

[scale_tiers.BASIC]
master = { machine_type = "box-4", accelerator = "NVIDIA_X1", accelerator_count = 2 }
worker = { machine_type = "box-16", count = 3 }

[remove]
machine_types = ["a4-highgpu-8g"]
accelerators = ["NVIDIA_B200"]
regions = ["us-east1"]
"""
PIECES = [
    *("0", "-1", "1e400", "nan", "true", '""', "[]", "{}", "[[]]", "9" * 5000, "1979-05-27"),
    *('"n1-standard-4"', '"standard"', '"cloud_tpu"', '"TPU_V2"', '"NVIDIA_TESLA_K80"', '"LEGACY"'),
    *("[1, 2, 2]", "[4, 2]", "{ count = 1 }", '["NVIDIA_X1"]', "[remove]", "[regions]", "\n", "\\"),
    *("[[attachments]]", "[machine_types.n1-highmem-8]", "true\nreplace = ", "\x00", "\u2028", "#"),
]
WORDS = [
    *("box", "rack", "NVIDIA_X1", "home1", "box-16", "n1-standard-4", "like", "vcpus", "count"),
    *("GPU", "false", "LEGACY", "BASIC", "master", "worker", "a", "us-east1", "NVIDIA_B200"),
]


def cut(text: str, start: int, length: int) -> str:
    return text[: start % len(text)] + text[start % len(text) + length :] if text else text


def put(text: str, at: int, piece: str) -> str:
    at %= len(text) + 1
    return text[:at] + piece + text[at:]


def give(text: str, index: int, piece: str) -> str:
    """Another value for one of the keys."""
    lines = text.split("\n")
    index %= len(lines)
    key, equals, _ = lines[index].partition(" = ")
    lines[index] = f"{key}{equals}{piece}" if equals else lines[index]
    return "\n".join(lines)


def move(text: str, source: int, target: int) -> str:
    lines = text.split("\n")
    lines.insert(target % len(lines), lines[source % len(lines)])
    return "\n".join(lines)


def drop(text: str, index: int) -> str:
    lines = text.split("\n")
    del lines[index % len(lines)]
    return "\n".join(lines)


def call(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


NUMBERS = st.integers(0, 2000)
MUTATIONS: st.SearchStrategy[Callable[[str], str]] = st.one_of(
    st.builds(call, st.sampled_from(WORDS), st.sampled_from(WORDS)),
    st.builds(lambda i, piece: lambda t: give(t, i, piece), NUMBERS, st.sampled_from(PIECES)),
    st.builds(lambda i: lambda t: drop(t, i), NUMBERS),
    st.builds(lambda i, j: lambda t: move(t, i, j), NUMBERS, NUMBERS),
    st.builds(lambda i, piece: lambda t: put(t, i, piece), NUMBERS, st.sampled_from(PIECES)),
    st.builds(lambda i, n: lambda t: cut(t, i, n), NUMBERS, st.integers(1, 30)),
)


def check(catalogue: Catalogue) -> None:
    assert list(inconsistencies(catalogue)) == []
    for name, machine in catalogue.machine_types.items():
        assert machine.name == name
        assert machine.vcpus >= 1
        assert 0 < machine.memory_gb < float("inf")
        check_counts(machine)
    for name, region in catalogue.regions.items():
        assert region.name == name
        assert region.zones
        assert region.accelerators <= catalogue.accelerators.keys()
    for tier in catalogue.scale_tiers.values():
        for spec in (tier.master, tier.worker, tier.parameter_server):
            assert spec is None or spec.machine_type in catalogue.machine_types


def check_counts(machine: MachineType) -> None:
    for counts in machine.accelerators.values():
        assert counts
        assert counts[0] >= 1
        assert all(low < high for low, high in pairwise(counts))


def load(text: str) -> Catalogue:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "own.toml")
        file.write_text(text, encoding="utf-8")
        return load_catalogue(file)


def test_the_file_that_is_mutated_is_valid() -> None:
    check(load(VALID))


@settings(max_examples=scaled(400), deadline=None)
@given(st.lists(MUTATIONS, min_size=1, max_size=4))
def test_a_mutated_file_is_refused_or_leaves_the_catalogue_consistent(
    mutations: list[Callable[[str], str]],
) -> None:
    text = VALID
    for mutate in mutations:
        text = mutate(text)
    with suppress(InvalidArgument):
        check(load(text))


@settings(max_examples=scaled(100), deadline=None)
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InvalidArgument):
        check(load(text.encode(errors="replace").decode()))
