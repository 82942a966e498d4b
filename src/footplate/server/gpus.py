"""The GPUs that jobs may use: from NVML, simulated, or none, with their names in the APIs."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Protocol, cast

from footplate.domain.catalogue import AcceleratorKind, Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.sites import Gpu

_TYPES = (
    (r"K80", "NVIDIA_TESLA_K80"),
    (r"P4", "NVIDIA_TESLA_P4"),
    (r"P100", "NVIDIA_TESLA_P100"),
    (r"V100", "NVIDIA_TESLA_V100"),
    (r"T4", "NVIDIA_TESLA_T4"),
    (r"A100.*\b80GB", "NVIDIA_A100_80GB"),
    (r"A100", "NVIDIA_TESLA_A100"),
    (r"L4", "NVIDIA_L4"),
    (r"H100", "NVIDIA_H100_80GB"),
    (r"H200", "NVIDIA_H200_141GB"),
    (r"B200", "NVIDIA_B200"),
    (r"GB200", "NVIDIA_GB200"),
    (r"RTX PRO 6000 Blackwell", "NVIDIA_RTX_PRO_6000"),
)
"""The first that fits counts. Each is a whole word after the maker's and the series' names."""


def accelerator_of(model: str) -> str | None:
    """Returns the accelerator type of a GPU (``Tesla T4``, ``NVIDIA A100-SXM4-80GB``), or None."""
    words = re.sub(r"^(NVIDIA |Tesla )+", "", model.strip())
    for pattern, name in _TYPES:
        if re.match(rf"{pattern}(?![A-Za-z0-9])", words):
            return name
    return None


_MOST_SIMULATED = 4096
_SIMULATED = "simulated:"
_DEVICES = Path("/dev")
_FORMS = "auto, none, or simulated:TYPE=NUMBER[,TYPE=NUMBER...] (simulated:NVIDIA_TESLA_T4=4)"
NO_LIBRARY = (
    "the package nvidia-ml-py is missing: if this machine has GPUs, run pip install "
    "'footplate[gpu]'"
)
LIBRARY_WANTED = (
    "the server can't identify its GPUs, and no program gets one: run pip install 'footplate[gpu]'"
)


@dataclass(frozen=True)
class Inventory:
    """The GPUs that were found. ``hidden``: there are others, which programs mustn't see."""

    gpus: tuple[Gpu, ...] = ()
    hidden: bool = False
    notes: tuple[str, ...] = ()


class Nvml(Protocol):
    """The part of the module ``pynvml`` that is used. Each call may raise its NVMLError."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None: ...  # noqa: N802  the library's names

    def nvmlShutdown(self) -> None: ...  # noqa: N802

    def nvmlDeviceGetCount(self) -> int: ...  # noqa: N802

    def nvmlDeviceGetHandleByIndex(self, index: int) -> object: ...  # noqa: N802

    def nvmlDeviceGetName(self, handle: object) -> str: ...  # noqa: N802

    def nvmlDeviceGetUUID(self, handle: object) -> str: ...  # noqa: N802

    def nvmlDeviceGetMigMode(self, handle: object) -> list[int]:  # noqa: N802
        """Returns whether MIG is on, now and after the next reset; raises an error without MIG."""
        ...


def load_nvml() -> Nvml | None:
    """Loads the library; None if it isn't installed."""
    try:
        return cast("Nvml", importlib.import_module("pynvml"))
    except ImportError:
        return None


class Gpus:
    """Finds the GPUs for the settings.

    ``visible`` is the service's own CUDA_VISIBLE_DEVICES, which may limit them.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        visible: str | None = None,
        load: Callable[[], Nvml | None] = load_nvml,
        devices: Path = _DEVICES,
    ) -> None:
        self._catalogue = catalogue
        self._visible = visible
        self._load = load
        self._devices = devices

    def find(self, wanted: str, gpu_type: str | None) -> Inventory:
        """Returns the GPUs for the settings ``gpus`` (``wanted``) and ``gpu_type``.

        Raises:
            InvalidArgument: a setting is wrong; the message has its name, its value, and the
                allowed values.
        """
        if gpu_type is not None:
            self._check_type("gpu_type", gpu_type)
        if wanted == "none":
            return Inventory(hidden=self._has_device_files())
        if wanted == "auto":
            return self._ask_nvml(gpu_type)
        if wanted.startswith(_SIMULATED):
            return Inventory(tuple(self._simulate(wanted)))
        raise _refusal("gpus", wanted, _FORMS)

    def _check_type(self, field: str, name: str) -> None:
        known = self._catalogue.accelerators.get(name)
        if known is None or known.kind is not AcceleratorKind.GPU:
            accelerators = self._catalogue.accelerators.values()
            types = sorted(a.name for a in accelerators if a.kind is AcceleratorKind.GPU)
            raise _refusal(field, name, f"{', '.join(types)}; a catalogue file can add others")

    def _simulate(self, wanted: str) -> Iterator[Gpu]:
        numbers = count()
        for part in wanted.removeprefix(_SIMULATED).split(","):
            name, _, amount = part.strip().partition("=")
            if not (amount.isascii() and amount.isdigit() and len(amount) < 5):
                raise _refusal("gpus", wanted, _FORMS)
            if not 0 < int(amount) <= _MOST_SIMULATED:
                raise _refusal("gpus", wanted, f"numbers from 1 to {_MOST_SIMULATED}")
            self._check_type("gpus", name)
            for number in islice(numbers, int(amount)):
                yield Gpu(str(number), name, f"simulated {name}", simulated=True)

    def _has_device_files(self) -> bool:
        return any(self._devices.glob("nvidia[0-9]*")) or (self._devices / "dxg").exists()

    def _ask_nvml(self, gpu_type: str | None) -> Inventory:
        nvml = self._load()
        if nvml is None:
            hidden = self._has_device_files()
            return Inventory(hidden=hidden, notes=(LIBRARY_WANTED if hidden else NO_LIBRARY,))
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            note = f"no NVIDIA driver answers (NVML: {error})"
            return Inventory(hidden=self._has_device_files(), notes=(note,))
        try:
            return GpuCount(nvml, self._visible, gpu_type).take()
        except nvml.NVMLError as error:
            return Inventory(
                hidden=True, notes=(f"the server can't identify its GPUs: NVML: {error}",)
            )
        finally:
            with suppress(nvml.NVMLError):
                nvml.nvmlShutdown()


class GpuCount:
    """Reads each GPU from an initialised NVML. Ids are NVML's numbers, in the order of the bus."""

    def __init__(self, nvml: Nvml, visible: str | None, gpu_type: str | None) -> None:
        self._nvml = nvml
        self._visible = visible
        self._gpu_type = gpu_type
        self._notes: list[str] = []
        self._unknown: set[str] = set()

    def take(self) -> Inventory:
        """Returns the GPUs. Raises NVMLError."""
        number = self._nvml.nvmlDeviceGetCount()
        handles = [self._nvml.nvmlDeviceGetHandleByIndex(index) for index in range(number)]
        uuids = [_text(self._nvml.nvmlDeviceGetUUID(handle)) for handle in handles]
        ours = select(self._visible, uuids)
        gpus = [self._see(index, handles[index]) for index in sorted(ours)]
        if len(ours) < number:
            self._notes.append(
                f"of this machine's {number} GPUs, jobs get only those that "
                "CUDA_VISIBLE_DEVICES names"
            )
        if self._unknown:
            self._notes.append(
                f"the accelerator type of the GPU {', '.join(sorted(self._unknown))} is unknown: "
                "in mode emulate any job with GPUs gets this GPU, in mode enforce no job. Set "
                "the type in gpu_type"
            )
        found = tuple(gpu for gpu in gpus if gpu is not None)
        return Inventory(found, len(found) < number, tuple(self._notes))

    def _see(self, index: int, handle: object) -> Gpu | None:
        """Returns the GPU; None if jobs can't use it."""
        model = _text(self._nvml.nvmlDeviceGetName(handle))
        if self._is_partitioned(handle):
            self._notes.append(f"GPU {index} ({model}) is in MIG mode, so jobs can't use this GPU")
            return None
        accelerator = accelerator_of(model) or self._gpu_type
        if accelerator is None:
            self._unknown.add(model)
        return Gpu(str(index), accelerator, model)

    def _is_partitioned(self, handle: object) -> bool:
        try:
            return bool(self._nvml.nvmlDeviceGetMigMode(handle)[0])
        except self._nvml.NVMLError:  # it can't be
            return False


def select(visible: str | None, uuids: list[str]) -> frozenset[int]:
    """Returns the GPUs in a CUDA_VISIBLE_DEVICES, by number or beginning of UUID.

    The first unknown one ends the list, as in CUDA.
    """
    if visible is None:
        return frozenset(range(len(uuids)))
    chosen: set[int] = set()
    for word in (part.strip() for part in visible.split(",")):
        if word.isascii() and word.isdigit() and len(word) < 5:
            found = [int(word)] if int(word) < len(uuids) else []
        else:
            found = [i for i, uuid in enumerate(uuids) if word and uuid.startswith(word)]
        if len(found) != 1:
            break
        chosen.update(found)
    return frozenset(chosen)


def _text(value: str | bytes) -> str:
    """Returns the value as text; older versions of the library return bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _refusal(field: str, given: str, allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, f"{given!r} given; allowed: {allowed}"),))
