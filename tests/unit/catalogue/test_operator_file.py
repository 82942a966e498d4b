"""An operator's file: what it can change, and how it is told what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import MachineSpec

BUILT_IN = load_catalogue()

ALONE = """\
replace = true
[accelerators.NVIDIA_L4]
kind = "GPU"
memory_gb = 24
[machine_types.box]
vcpus = 16
memory_gb = 64.5
accelerators.NVIDIA_L4 = [1, 2]
[regions.home1]
zones.a = ["NVIDIA_L4"]
zones.b = []
[scale_tiers.BASIC]
master = { machine_type = "box" }
worker = { machine_type = "box", accelerator = "NVIDIA_L4", accelerator_count = 2, count = 3 }
"""


class File:
    """The file that a test writes, as it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, text: str) -> Catalogue:
        self.path.write_text(text, encoding="utf-8")
        return load_catalogue(self.path)

    def refusals(self, text: str) -> list[str]:
        """``LINE: FIELD: DESCRIPTION`` of each."""
        with pytest.raises(InvalidArgument) as caught:
            self.load(text)
        assert all(v.field.startswith(str(self.path)) for v in caught.value.violations)
        found = [f"{v.field}: {v.description}" for v in caught.value.violations]
        return [text.removeprefix(str(self.path)).lstrip(":") for text in found]


@pytest.fixture
def own(tmp_path: Path) -> File:
    return File(tmp_path / "own.toml")


def test_an_empty_file_changes_nothing(own: File) -> None:
    assert own.load("# nothing yet\n") == BUILT_IN


def test_a_file_can_be_all_there_is(own: File) -> None:
    found = own.load(ALONE)
    assert set(found.machine_types) == {"box"}
    assert set(found.regions) == {"home1"}
    assert found.machine_types["box"].accelerators == {"NVIDIA_L4": (1, 2)}
    assert [zone.name for zone in found.regions["home1"].zones] == ["home1-a", "home1-b"]
    tier = found.scale_tiers["BASIC"]
    assert (tier.worker, tier.worker_count) == (MachineSpec("box", "NVIDIA_L4", 2), 3)
    assert found.runtimes == BUILT_IN.runtimes
    assert found.own == {"box", "home1", "home1-a", "home1-b"}


def test_a_file_adds_to_what_is_built_in(own: File) -> None:
    found = own.load(ALONE.replace("replace = true", ""))
    assert found.machine_types.keys() == BUILT_IN.machine_types.keys() | {"box"}
    assert found.machine_types["n1-standard-4"] == BUILT_IN.machine_types["n1-standard-4"]
    assert found.scale_tiers["BASIC"].master == MachineSpec("box")
    assert found.scale_tiers["BASIC_GPU"] == BUILT_IN.scale_tiers["BASIC_GPU"]


def test_a_series_stands_for_many_types(own: File) -> None:
    text = "[series.box]\nvcpus = [2, 8]\nmemory_gb_per_vcpu = 1.1\negress_gbps = { 8 = 10 }\n"
    found = own.load(text).machine_types
    assert (found["box-2"].memory_gb, found["box-2"].egress_gbps) == (2.2, None)
    assert (found["box-8"].memory_gb, found["box-8"].egress_gbps) == (8.8, 10)


def test_a_type_described_anew_has_nothing_of_the_old_one(own: File) -> None:
    found = own.load("[machine_types.n1-standard-4]\nvcpus = 6\nmemory_gb = 20\n").machine_types
    assert found["n1-standard-4"].accelerators == {}
    assert (found["standard"].vcpus, found["standard"].memory_gb) == (6, 20)


def test_attachments_leave_the_other_accelerators_as_they_are(own: File) -> None:
    text = """\
[[attachments]]
machine_types = ["n1-standard-8"]
accelerators.NVIDIA_TESLA_T4 = [3]
accelerators.NVIDIA_L4 = [1]
"""
    built_in = BUILT_IN.machine_types["n1-standard-8"].accelerators
    found = own.load(text).machine_types["n1-standard-8"].accelerators
    assert found == {**built_in, "NVIDIA_TESLA_T4": (3,), "NVIDIA_L4": (1,)}


def test_a_removed_accelerator_is_nowhere(own: File) -> None:
    found = own.load('[remove]\naccelerators = ["NVIDIA_L4"]\n')
    assert "NVIDIA_L4" not in found.accelerators
    assert not any("NVIDIA_L4" in m.accelerators for m in found.machine_types.values())
    assert not any("NVIDIA_L4" in region.accelerators for region in found.regions.values())


def test_types_regions_and_tiers_can_be_removed(own: File) -> None:
    text = (
        '[remove]\nmachine_types = ["cloud-tpu"]\nregions = ["us-east1"]\nscale_tiers = ["BASIC"]'
    )
    found = own.load(text)
    assert BUILT_IN.machine_types.keys() - found.machine_types.keys() == {"cloud-tpu"}
    assert BUILT_IN.regions.keys() - found.regions.keys() == {"us-east1"}
    assert BUILT_IN.scale_tiers.keys() - found.scale_tiers.keys() == {"BASIC"}


def test_everything_wrong_is_told_at_once_in_the_order_of_the_lines(own: File) -> None:
    text = """\
relpace = true
[machine_types.big]
vcpus = -3
memory_gb = nan
accelerators.NVIDIA_TESLA_T5 = [1]
[[attachments]]
machine_types = [
    "n1-standard-64",
    "n1-standrad-64",
]
accelerators.NVIDIA_TESLA_K80 = [8]
[regions.Mars]
zones.a = []
"""
    assert own.refusals(text) == [
        "1: relpace: unknown key; did you mean replace?",
        "3: machine_types.big.vcpus: -3 given; allowed: a whole number from 1 to 100000",
        "4: machine_types.big.memory_gb: nan given; allowed: a number above 0, up to 10000000",
        (
            "5: machine_types.big.accelerators.NVIDIA_TESLA_T5: there is no accelerator "
            "'NVIDIA_TESLA_T5' in the catalogue; did you mean NVIDIA_TESLA_T4 or NVIDIA_TESLA_P4 "
            "or NVIDIA_TESLA_K80?"
        ),
        (
            "9: attachments[0].machine_types[1]: there is no machine type 'n1-standrad-64' in the "
            "catalogue; did you mean n1-standard-64 or n1-standard-4 or n1-standard-16?"
        ),
        (
            "11: attachments[0].accelerators.NVIDIA_TESLA_K80: machine type n1-standard-64 has "
            "240 GB of memory, but a machine with 8 NVIDIA_TESLA_K80 has at most 208: take more "
            "accelerators, or a smaller machine"
        ),
        (
            "12: regions.Mars: 'Mars' given as a name; allowed: small letters and -, then digits, "
            "such as us-central1"
        ),
    ]


BOX = "[machine_types.box]\nvcpus = 4\nmemory_gb = 16\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("replace = 1", "1: replace: 1 given; allowed: true, false"),
        ("machine_types = 3", "1: machine_types: 3 given; allowed: a table"),
        ("[machine_types]\nbox = []", "2: machine_types.box: [] given; allowed: a table"),
        ("[machine_types.box]\nvcpus = 4", "1: machine_types.box: memory_gb is missing"),
        (BOX.replace("4", "4.5"), "2: machine_types.box.vcpus: 4.5 given; allowed: a whole"),
        (BOX.replace("4", "true"), "2: machine_types.box.vcpus: True given; allowed: a whole"),
        (BOX.replace("16", "inf"), "3: machine_types.box.memory_gb: inf given; allowed: a number"),
        (BOX.replace("16", "-1"), "3: machine_types.box.memory_gb: -1 given; allowed: a number"),
        (BOX + "memory = 1", "4: machine_types.box.memory: unknown key; did you mean memory_gb?"),
        (
            BOX + "family = 'LEGACI'",
            "4: machine_types.box.family: 'LEGACI' given; allowed: COMPUTE",
        ),
        (
            BOX + "like = 'n1-standard-4'",
            "4: machine_types.box.like: only machine types of the family LEGACY",
        ),
        (BOX + "family = 'LEGACY'", "1: machine_types.box: like is missing"),
        (
            BOX + "accelerators.NVIDIA_TESLA_T4 = [4, 2]",
            "4: machine_types.box.accelerators.NVIDIA_TESLA_T4: [4, 2] given; allowed: a list",
        ),
        (
            BOX + "accelerators.NVIDIA_TESLA_T4 = [1, 1]",
            "4: machine_types.box.accelerators.NVIDIA_TESLA_T4: [1, 1] given; allowed: a list",
        ),
        (
            BOX + "accelerators.NVIDIA_TESLA_T4 = []",
            "4: machine_types.box.accelerators.NVIDIA_TESLA_T4: [] given; allowed: a list",
        ),
        (
            BOX + "accelerators.nvidia_t4 = [1]",
            "4: machine_types.box.accelerators.nvidia_t4: 'nvidia_t4' given as a name",
        ),
        (
            BOX.replace("16", "500") + "included = { accelerator = 'NVIDIA_TESLA_K80', count = 8 }",
            (
                "4: machine_types.box.included: machine type box has 500 GB of memory, but a "
                "machine with 8 NVIDIA"
            ),
        ),
        (
            BOX + "included = { accelerator = 'NVIDIA_K80', count = 8 }",
            "4: machine_types.box.included: there is no accelerator 'NVIDIA_K80' in the catalogue",
        ),
        (
            "[machine_types.old]\nfamily = 'LEGACY'\nlike = 'standard'",
            "3: machine_types.old.like: 'standard' given; allowed: a machine type of the family",
        ),
        (
            (
                "[machine_types.old]\nfamily = 'LEGACY'\nlike = 'n1-standard-4'\n"
                "accelerators.NVIDIA_TESLA_T4 = [1]"
            ),
            (
                "4: machine_types.old.accelerators: legacy machine types take no accelerators; "
                "allowed: incl"
            ),
        ),
        (
            "[series.box]\nvcpus = [4]\nmemory_gb_per_vcpu = 4\n" + BOX.replace("box", "box-4"),
            (
                "4: machine_types.box-4: the machine type box-4 is already in a series of this "
                "file; allowed: once"
            ),
        ),
        (
            "[series.n1-standard]\nvcpus = [4]\nmemory_gb_per_vcpu = 4\negress_gbps = { 8 = 1 }",
            "4: series.n1-standard.egress_gbps.8: '8' given; allowed: 4",
        ),
        (
            "[[attachments]]\nmachine_types = ['n1-standard-4', 'n1-standard-4']",
            "2: attachments[0].machine_types[1]: 'n1-standard-4' given twice; allowed: once",
        ),
        (
            "[[attachments]]\nmachine_types = ['e2-standard-4']\naccelerators.NVIDIA_L4 = [1]\n"
            * 2,
            "4: attachments[1]: an [[attachments]] table above already has NVIDIA_L4",
        ),
        ("attachments = {}", "1: attachments: {} given; allowed: a list"),
        (
            "[accelerators.NVIDIA_X1]\nkind = 'CPU'\nmemory_gb = 1",
            "2: accelerators.NVIDIA_X1.kind: 'CPU' given; allowed: GPU, TPU",
        ),
        (
            (
                "[accelerators.NVIDIA_X1]\nkind = 'GPU'\nmemory_gb = 1\n"
                "limits = [\n{ count = 1, vcpus = 1 },\n{ count = 1, vcpu = 2 },\n]"
            ),
            "6: accelerators.NVIDIA_X1.limits[1].vcpu: unknown key; did you mean vcpus?",
        ),
        (
            (
                "[accelerators.NVIDIA_X1]\nkind = 'GPU'\nmemory_gb = 1\n"
                "limits = [{ count = 1 }, { count = 1 }]"
            ),
            "4: accelerators.NVIDIA_X1.limits: two limits are for the same count",
        ),
        ("[regions.home1]", "1: regions.home1.zones: the region has no zone; it needs at least"),
        (
            "[regions.home1]\nzones.A = []",
            "2: regions.home1.zones.A: 'A' given as a name; allowed: the end of a zone's name",
        ),
        (
            "[regions.home1]\nzones.a = [\n'NVIDIA_L4',\n'NVIDIA_L4']",
            "4: regions.home1.zones.a[1]: 'NVIDIA_L4' given twice; allowed: once",
        ),
        (
            "[regions.home1]\nzones.a = ['NVIDIA_L5']",
            "2: regions.home1.zones.a: there is no accelerator 'NVIDIA_L5' in the catalogue",
        ),
        ("[scale_tiers.BASIC]", "1: scale_tiers.BASIC: master is missing"),
        (
            "[scale_tiers.CUSTOM]\nmaster = { machine_type = 'n1-standard-4' }",
            "1: scale_tiers.CUSTOM: 'CUSTOM' given as a name; allowed: a scale tier other",
        ),
        (
            "[scale_tiers.BASIC]\nmaster = { machine_type = 'n1-standard-5' }",
            "2: scale_tiers.BASIC.master.machine_type: there is no machine type 'n1-standard-5'",
        ),
        (
            (
                "[scale_tiers.BASIC]\nmaster = { machine_type = 'n1-highcpu-16', "
                "accelerator = 'NVIDIA_TESLA_T4', accelerator_count = 3 }"
            ),
            (
                "2: scale_tiers.BASIC.master.accelerator_count: 3 NVIDIA_TESLA_T4 on n1-highcpu-16 "
                "given; allowed: 1, 2, 4"
            ),
        ),
        (
            (
                "[scale_tiers.BASIC]\nmaster = { machine_type = 'n1-standard-4', accelerator = "
                "'TPU_V2', accelerator_count = 7 }"
            ),
            (
                "2: scale_tiers.BASIC.master.accelerator_count: 7 TPU_V2 on n1-standard-4 given; "
                "allowed: 8"
            ),
        ),
        (
            "[scale_tiers.BASIC]\nmaster = { machine_type = 'standard', accelerator_count = 1 }",
            "2: scale_tiers.BASIC.master: accelerator and accelerator_count go together",
        ),
        (
            (
                "[scale_tiers.BASIC]\nmaster = { machine_type = 'n1-standard-4' }\n"
                "worker = { machine_type = 'standard', count = 2 }"
            ),
            (
                "1: scale_tiers.BASIC: legacy and Compute Engine machine types given: "
                "n1-standard-4, stan"
            ),
        ),
        (
            (
                "[scale_tiers.BASIC]\nmaster = { machine_type = 'n1-standard-4' }\n"
                "worker = { machine_type = 'n1-standard-4', count = 0 }"
            ),
            "3: scale_tiers.BASIC.worker.count: 0 given; allowed: a whole number from 1",
        ),
        (
            "[remove]\nregions = ['us-centrall1']",
            "2: remove.regions[0]: 'us-centrall1' given, which isn't in the catalogue; did you mea",
        ),
        (
            BOX.replace("box", "n1-standard-2") + "[remove]\nmachine_types = ['n1-standard-2']",
            "5: remove.machine_types[0]: this file both removes and describes 'n1-standard-2'",
        ),
        (
            "[remove]\nmachine_types = ['n1-highmem-8']",
            " machine_types.large_model.like: there is no machine type 'n1-highmem-8' in the",
        ),
        (
            ALONE + "[remove]\nregions = ['us-east1']",
            (
                "16: remove.regions: replace = true already leaves out all built-in entries; "
                "leave this list out"
            ),
        ),
        (
            "replace = true",
            (" machine_types: the catalogue has no machine_types; it needs at least one"),
        ),
        ("[runtime.mine]", "1: runtime: unknown key; did you mean runtimes?"),
    ],
)
def test_what_is_refused_and_where(own: File, text: str, expected: str) -> None:
    assert any(refusal.startswith(expected) for refusal in own.refusals(text)), own.refusals(text)


def test_what_a_removal_breaks_of_the_built_in_names_the_way_out(own: File) -> None:
    (legacy, *_) = own.refusals('[remove]\naccelerators = ["NVIDIA_TESLA_K80"]\n')
    assert legacy.startswith(" machine_types.standard_gpu.included: there is no accelerator")
    assert legacy.endswith(
        " (a built-in entry: describe the entry anew in your file, or remove it)"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\nx = 2", "2: the file is not TOML: Cannot overwrite a value"),
        ("[machine_types\n", "1: the file is not TOML: "),
        ("a = " + "[" * 5000, " the file is nested too deeply"),
        ("a = " + "9" * 5000, " the file is not TOML: "),
        ("replace = 0x" + "f" * 9000, "1: replace: a huge int given; allowed: true, false"),
        ("x" * (1 << 20) + "= 1", " the file is larger than 1 MiB"),
    ],
)
def test_texts_that_are_hard_to_read(own: File, text: str, expected: str) -> None:
    assert own.refusals(text)[0].startswith(expected)


def test_what_is_no_text_file(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    for file, expected in (
        (tmp_path / "none.toml", "the file can't be read: No such file or directory"),
        (tmp_path, "the file can't be read: Is a directory"),
        (binary, "the file is not UTF-8 text"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            load_catalogue(file)
        assert caught.value.message == f"{file}: {expected}"
