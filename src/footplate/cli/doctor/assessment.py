"""Turns measurements into findings, and prints these. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from footplate.cli.terminal_text import disarm
from footplate.replica.isolation import levels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.wire.json_text import JsonObject


class Verdict(StrEnum):
    OK = "OK"
    LIMITED = "LIMITED"
    """Some jobs can't run, or run with less protection."""

    FAILED = "FAILED"
    """No job can run."""


@dataclass(frozen=True)
class Finding:
    """The result of one check. ``way_out`` says how to fix a fault; '' if there is none."""

    part: str
    verdict: Verdict
    text: str
    way_out: str = ""

    def line(self) -> str:
        text = f"{self.text}; {self.way_out}" if self.way_out else self.text
        return disarm(f"{self.verdict:<7}  {self.part:<12}  {text}", plain=True)

    def document(self) -> JsonObject:
        shown: JsonObject = {"part": self.part, "verdict": self.verdict.value, "text": self.text}
        if self.way_out:
            shown["wayOut"] = self.way_out
        return shown


def jobs_can_run(findings: Sequence[Finding]) -> bool:
    return all(finding.verdict is not Verdict.FAILED for finding in findings)


def conclusion(findings: Sequence[Finding]) -> str:
    if not jobs_can_run(findings):
        parts = [f.part for f in findings if f.verdict is Verdict.FAILED]
        return f"No job can run here: see {', '.join(parts)}."
    limited = [f.part for f in findings if f.verdict is Verdict.LIMITED]
    return (
        f"Jobs can run here, with limits: see {', '.join(limited)}."
        if limited
        else "Jobs can run here."
    )


LOW_DISK_BYTES = 5 * 10**9
FULL_DISK_BYTES = 50 * 10**6
_STRONG = ("cgroup", "namespace")


def judge_isolation(report: Mapping[str, object], wanted: str) -> Finding:
    """Judges the isolation. ``report`` is the output of the supervisors' ``probe``."""
    containment_mode = str(report.get("containment_mode") or "")
    reasons = report.get("reasons")
    why = "; ".join(map(str, reasons)) if isinstance(reasons, list) else ""
    if not containment_mode:
        way_out = (
            "set isolation = auto" if wanted != "auto" else "run footplate up to see the error"
        )
        return Finding(
            "isolation",
            Verdict.FAILED,
            why or "footplate doctor can't test the isolation of programs",
            way_out,
        )
    level = levels.find(containment_mode)
    words = "" if level is None else levels.describe(level.guaranteed, level.missing)
    text = f"{containment_mode}: {words}"
    if containment_mode in _STRONG:
        return Finding("isolation", Verdict.OK, text)
    reason = f" ({why})" if why else ""
    return Finding(
        "isolation",
        Verdict.LIMITED,
        text + reason,
        "install util-linux, or run the service as root",
    )


def judge_engine(problem: str, info: Mapping[str, Any], version: Mapping[str, Any]) -> Finding:
    """Judges the container engine, without which packages can still run.

    ``problem`` says why there is no engine; '' if there is one.
    """
    if problem:
        return Finding("containers", Verdict.LIMITED, f"container images can't run: {problem}")
    names = [str(c.get("Name", "")).lower() for c in version.get("Components") or ()]
    podman = any("podman" in name for name in names)
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    rootless = bool(info.get("Rootless")) or any("rootless" in option for option in options)
    groups = str(info.get("CgroupVersion") or "unknown")
    driver = info.get("CgroupDriver", "?")
    engine = (
        f"{'Podman' if podman else 'Docker'} {info.get('ServerVersion', '?')}, "
        f"{'rootless' if rootless else 'root'}, cgroups v{groups} ({driver}), "
        f"storage {info.get('Driver', '?')} in {info.get('DockerRootDir', '?')}"
    )
    if info.get("Driver") == "vfs":
        return Finding(
            "containers", Verdict.LIMITED, f"{engine}: vfs copies the image for each container",
            "install fuse-overlayfs, or use a filesystem that has overlay",
        )  # fmt: skip
    if rootless and groups == "1":
        return Finding(
            "containers", Verdict.LIMITED, f"{engine}: the engine can't limit CPUs and memory",
            "start the machine with cgroups v2 (systemd.unified_cgroup_hierarchy=1)",
        )  # fmt: skip
    return Finding("containers", Verdict.OK, engine)


def judge_gpus(models: Sequence[str], notes: Sequence[str], *, hidden: bool) -> Finding:
    """Judges the GPUs. ``hidden``: this machine has GPUs that no program sees."""
    counted = {model: models.count(model) for model in models}
    text = ", ".join(f"{count} {model}" for model, count in counted.items())
    text = text or (
        "this machine has no GPUs; in emulate mode, jobs that ask for GPUs run without them"
    )
    verdict = Verdict.LIMITED if hidden or (models and notes) else Verdict.OK
    return Finding("gpus", verdict, "; ".join((text, *notes)))


def judge_disk(path: str, free: int, total: int, problem: str) -> Finding:
    """Judges the disk. ``problem`` says why nothing can be written there; '' if writing works."""
    if problem:
        way_out = "choose another directory with --data-dir or FOOTPLATE_DATA_DIR"
        return Finding("disk", Verdict.FAILED, f"{path}: {problem}", way_out)
    space = f"{free / 10**9:.1f} of {total / 10**9:.1f} GB free for {path}"
    if free < FULL_DISK_BYTES:
        return Finding("disk", Verdict.FAILED, space, "remove files, or choose another --data-dir")
    if free < LOW_DISK_BYTES:
        return Finding(
            "disk", Verdict.LIMITED, f"{space}: a runtime with PyTorch takes up to 5 GB",
            "remove files, or set cache_dir to another disk",
        )  # fmt: skip
    return Finding("disk", Verdict.OK, space)


def judge_pythons(found: Mapping[str, str | None], problem: str) -> Finding:
    """Judges the interpreters. ``found`` has one for each version that runtimes need, or None."""
    if problem:
        return Finding("python", Verdict.LIMITED, f"packages can't run: {problem}")
    here = [version for version in sorted(found, key=_numbers) if found[version]]
    missing = [version for version in sorted(found, key=_numbers) if not found[version]]
    way_out = f"uv python install {' '.join(missing)}"
    if not here:
        text = (
            f"this machine has no Python {' or '.join(missing)}, which Python packages need; "
            "jobs with a container image don't"
        )
        return Finding("python", Verdict.LIMITED, text, way_out)
    text = f"{', '.join(here)} for packages"
    if not missing:
        return Finding("python", Verdict.OK, text)
    return Finding("python", Verdict.LIMITED, f"{text}; not {', '.join(missing)}", way_out)


def judge_reduction(*, installed: bool) -> Finding:
    """Judges the reduction. ``installed``: its package is, with the C++ library."""
    if installed:
        return Finding("reduction", Verdict.OK, "reduction servers can run")
    return Finding(
        "reduction", Verdict.LIMITED,
        "jobs with reduction servers can't run: the package footplate-reduction isn't installed "
        "with its C++ library",
        "install g++, then run pip install ./reduction in the clone of Footplate",
    )  # fmt: skip


def judge_port(host: str, port: int, server: str | None, problem: str) -> Finding:
    """Judges the port. ``server`` is the URL at which a server of the data directory answers."""
    if server:
        return Finding("port", Verdict.OK, f"the service answers at {server}")
    if problem:
        return Finding("port", Verdict.FAILED, problem)
    shown = f"port {port}" if port else "any port"
    return Finding("port", Verdict.OK, f"{shown} of {host} is free")


def judge_database(shown: str, version: str, problem: str) -> Finding:
    if problem:
        way_out = "start the database, or correct the setting database_url"
        return Finding("database", Verdict.FAILED, f"{shown}: {problem}", way_out)
    return Finding("database", Verdict.OK, f"{version} at {shown}" if version else shown)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]
