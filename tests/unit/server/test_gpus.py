"""What NVML says becomes GPUs; the library is a fake of the little that is used of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.errors import InvalidArgument
from footplate.domain.sites import Gpu
from footplate.server.gpus import (
    NO_LIBRARY,
    Gpus,
    Inventory,
    Nvml,
    accelerator_of,
    load_nvml,
    select,
)

CATALOGUE = load_catalogue()


class FakeNvmlError(Exception):
    pass


class FakeNvml:
    """A driver with these models; ``partitioned`` are in MIG mode, ``fault`` breaks one call."""

    NVMLError: type[Exception] = FakeNvmlError

    def __init__(self, *models: str, partitioned: tuple[int, ...] = (), fault: str = "") -> None:
        self.models = models
        self.partitioned = partitioned
        self.fault = fault
        self.open = 0

    def nvmlInit(self) -> None:  # noqa: N802  the library's names
        self._break("init")
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.models)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> object:  # noqa: N802
        self._break("handle")
        return index

    def nvmlDeviceGetName(self, handle: object) -> str:  # noqa: N802
        assert isinstance(handle, int)
        return self.models[handle]

    def nvmlDeviceGetUUID(self, handle: object) -> str:  # noqa: N802
        return f"GPU-{handle}0c2"

    def nvmlDeviceGetMigMode(self, handle: object) -> list[int]:  # noqa: N802
        if handle not in self.partitioned:
            raise FakeNvmlError("Not Supported")
        return [1, 1]

    def _break(self, what: str) -> None:
        if self.fault == what:
            raise FakeNvmlError("Driver Not Loaded")


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    """A /dev without GPUs."""
    (tmp_path / "nvidiactl").touch()
    return tmp_path


def find(
    devices: Path,
    nvml: Nvml | None = None,
    wanted: str = "auto",
    gpu_type: str | None = None,
    visible: str | None = None,
) -> Inventory:
    return Gpus(CATALOGUE, visible, lambda: nvml, devices).find(wanted, gpu_type)


@pytest.mark.parametrize(
    ("model", "accelerator"),
    [
        ("Tesla K80", "NVIDIA_TESLA_K80"),
        ("Tesla P4", "NVIDIA_TESLA_P4"),
        ("Tesla P40", None),
        ("Tesla P100-PCIE-16GB", "NVIDIA_TESLA_P100"),
        ("Tesla V100-SXM2-16GB", "NVIDIA_TESLA_V100"),
        ("Tesla T4", "NVIDIA_TESLA_T4"),
        ("NVIDIA T4G", None),
        ("NVIDIA T400 4GB", None),
        ("A100-SXM4-40GB", "NVIDIA_TESLA_A100"),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA_TESLA_A100"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA_A100_80GB"),
        ("NVIDIA A100 80GB PCIe", "NVIDIA_A100_80GB"),
        ("NVIDIA A10G", None),
        ("NVIDIA L4", "NVIDIA_L4"),
        ("NVIDIA L40S", None),
        ("NVIDIA H100 80GB HBM3", "NVIDIA_H100_80GB"),
        ("NVIDIA H100 PCIe", "NVIDIA_H100_80GB"),
        ("NVIDIA H200", "NVIDIA_H200_141GB"),
        ("NVIDIA B200", "NVIDIA_B200"),
        ("NVIDIA GB200", "NVIDIA_GB200"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA_RTX_PRO_6000"),
        ("NVIDIA GeForce RTX 4090", None),
        ("", None),
    ],
)
def test_models_count_as_types_of_the_cloud(model: str, accelerator: str | None) -> None:
    assert accelerator_of(model) == accelerator
    assert accelerator is None or accelerator in CATALOGUE.accelerators


def test_gpus_are_numbered_as_the_driver_does(devices: Path) -> None:
    nvml = FakeNvml("Tesla T4", "NVIDIA L4")
    assert find(devices, nvml) == Inventory(
        (Gpu("0", "NVIDIA_TESLA_T4", "Tesla T4"), Gpu("1", "NVIDIA_L4", "NVIDIA L4"))
    )
    assert nvml.open == 0


def test_an_unknown_model_counts_as_what_the_operator_says(devices: Path) -> None:
    nvml = FakeNvml("NVIDIA GeForce RTX 4090", "Tesla T4")
    found = find(devices, nvml)
    assert [gpu.accelerator for gpu in found.gpus] == [None, "NVIDIA_TESLA_T4"]
    assert "the accelerator type of the GPU NVIDIA GeForce RTX 4090" in found.notes[0]
    assert "gpu_type" in found.notes[0]

    found = find(devices, nvml, gpu_type="NVIDIA_L4")
    assert [gpu.accelerator for gpu in found.gpus] == ["NVIDIA_L4", "NVIDIA_TESLA_T4"]
    assert found.notes == ()


def test_a_partitioned_gpu_is_left_out_and_hidden(devices: Path) -> None:
    found = find(devices, FakeNvml("NVIDIA A100-SXM4-40GB", "Tesla T4", partitioned=(0,)))
    assert [gpu.id for gpu in found.gpus] == ["1"]
    assert found.hidden
    assert found.notes == (
        ("GPU 0 (NVIDIA A100-SXM4-40GB) is in MIG mode, so jobs can't use this GPU"),
    )


def test_what_the_service_itself_was_left_is_all_there_is(devices: Path) -> None:
    nvml = FakeNvml("Tesla T4", "Tesla T4", "Tesla T4")
    found = find(devices, nvml, visible="2,0")
    assert [gpu.id for gpu in found.gpus] == ["0", "2"]
    assert found.hidden
    assert (
        "of this machine's 3 GPUs, jobs get only those that CUDA_VISIBLE_DEVICES names"
        in found.notes[0]
    )
    assert find(devices, nvml, visible="").gpus == ()


@pytest.mark.parametrize(
    ("visible", "chosen"),
    [
        (None, {0, 1}),
        ("1", {1}),
        ("GPU-b", {1}),
        ("GPU-a1", {0}),
        ("GPU-", set()),
        ("0,7,1", {0}),
        ("-1,0", set()),
        ("", set()),
    ],
)
def test_names_of_visible_devices(visible: str | None, chosen: set[int]) -> None:
    assert select(visible, ["GPU-a1", "GPU-b2"]) == chosen


def test_without_the_library_or_a_driver_there_are_none_and_it_says_so(devices: Path) -> None:
    assert find(devices) == Inventory(notes=(NO_LIBRARY,))
    fault = FakeNvml("Tesla T4", fault="init")
    assert find(devices, fault) == Inventory(
        notes=("no NVIDIA driver answers (NVML: Driver Not Loaded)",)
    )
    fault = FakeNvml("Tesla T4", fault="handle")
    assert find(devices, fault).notes == (
        "the server can't identify its GPUs: NVML: Driver Not Loaded",
    )
    assert fault.open == 0


def test_gpus_that_nobody_hands_out_are_hidden(devices: Path) -> None:
    assert find(devices, wanted="none") == Inventory()
    (devices / "nvidia0").touch()
    assert find(devices, wanted="none") == Inventory(hidden=True)
    found = find(devices)
    assert found.hidden
    assert found.notes == (
        (
            "the server can't identify its GPUs, and no program gets one: run pip install "
            "'footplate[gpu]'"
        ),
    )


def test_pretended_gpus(devices: Path) -> None:
    found = find(devices, wanted="simulated:NVIDIA_TESLA_T4=2, NVIDIA_L4=1")
    assert [(gpu.id, gpu.accelerator, gpu.simulated) for gpu in found.gpus] == [
        ("0", "NVIDIA_TESLA_T4", True),
        ("1", "NVIDIA_TESLA_T4", True),
        ("2", "NVIDIA_L4", True),
    ]


@pytest.mark.parametrize(
    ("wanted", "gpu_type", "words"),
    [
        ("all", None, "gpus: 'all' given; allowed: auto, none, or simulated:TYPE=NUMBER"),
        ("simulated:", None, "simulated:NVIDIA_TESLA_T4=4"),
        ("simulated:NVIDIA_TESLA_T4", None, "allowed: auto, none"),
        ("simulated:NVIDIA_TESLA_T4=0", None, "numbers from 1 to 4096"),
        ("simulated:NVIDIA_TESLA_T4=-1", None, "allowed: auto, none"),
        ("simulated:NVIDIA_TESLA_T4=9999", None, "numbers from 1 to 4096"),
        ("simulated:NVIDIA_TESLA_T4=1,", None, "allowed: auto, none"),
        ("simulated:T4=1", None, "gpus: 'T4' given; allowed: NVIDIA_A100_80GB"),
        ("auto", "T4", "gpu_type: 'T4' given; allowed: .*NVIDIA_L4.*a catalogue file"),
        ("auto", "TPU_V2", "gpu_type: 'TPU_V2' given; allowed: NVIDIA"),
    ],
)
def test_wrong_settings_are_refused(
    devices: Path, wanted: str, gpu_type: str | None, words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        find(devices, FakeNvml(), wanted, gpu_type)


def test_the_real_library_has_what_is_used_of_it() -> None:
    nvml = load_nvml()
    used = [name for name in vars(FakeNvml) if name.lower().startswith("nvml")]
    assert [name for name in used if not hasattr(nvml, name)] == []
