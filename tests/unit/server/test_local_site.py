from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.errors import InvalidArgument
from footplate.domain.sites import Gpu, Mode, Site
from footplate.server.context import local_site
from footplate.server.isolation_probe import describe_limits, describe_machine, probe
from footplate.server.machine import cpus, memory_bytes
from footplate.settings import Settings

CATALOGUE = load_catalogue()
SITE = Site("this machine", Mode.EMULATE, 23, 8, 31 << 10)


def test_this_machine_as_the_settings_say(tmp_path: Path) -> None:
    settings = Settings(tmp_path, mode=Mode.ENFORCE, max_replicas=3, gpus="simulated:NVIDIA_L4=2")
    site = local_site(settings, CATALOGUE, {})
    assert (site.mode, site.replicas, len(site.gpus)) == (Mode.ENFORCE, 3, 2)
    assert site.vcpus == cpus() >= 1
    assert site.memory_mb == memory_bytes() >> 20
    assert site.capacity["NVIDIA_L4"] == 2


def test_a_wrong_setting_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="gpus: 'some' given"):
        local_site(Settings(tmp_path, gpus="some"), CATALOGUE, {})


def test_the_line_at_the_start(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    assert describe_machine(SITE, settings) == (
        "Machine: emulate, up to 23 replicas at once, no GPUs; no limits on CPU or memory.",
    )
    gpus = (Gpu("0", "NVIDIA_L4"), Gpu("1", None, "NVIDIA X"), Gpu("2", "NVIDIA_L4"))
    site = replace(SITE, replicas=1, gpus=gpus, notes=("GPU 3 is odd",))
    assert describe_machine(site, settings) == (
        "Machine: emulate, 1 replica at once, 2 NVIDIA_L4, 1 NVIDIA X; no limits on CPU or memory.",
        "  GPU 3 is odd",
    )


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            {"containment_mode": "cgroup", "reasons": [], "faults": {"memory": "", "CPU": ""}},
            "control groups limit each replica's memory and vCPUs",
        ),
        (
            {
                "containment_mode": "cgroup",
                "reasons": [],
                "faults": {"memory": "", "CPU": "no cpu controller"},
            },
            (
                "control groups limit each replica's memory; the server measures what replicas "
                "use without limiting them: vCPUs (no cpu controller)"
            ),
        ),
        (
            {
                "containment_mode": "namespace",
                "reasons": ["cgroup: no"],
                "faults": {"memory": "x", "CPU": "x"},
            },
            (
                "the server measures what replicas use without limiting them: memory (x), vCPUs "
                "(x): cgroup: no"
            ),
        ),
        (
            {"containment_mode": ""},
            (
                "the server can't isolate programs, so it measures what replicas use without "
                "limiting them"
            ),
        ),
        (
            {},
            (
                "the server can't isolate programs, so it measures what replicas use without "
                "limiting them"
            ),
        ),
    ],
)
def test_which_limits_hold_is_said(told: dict[str, object], words: str) -> None:
    assert describe_limits(told) == words


@pytest.mark.parametrize(
    "isolation", ["auto", "cgroup", "namespace", "subreaper", "best-effort", "magic"]
)
def test_what_is_enforced_is_found_by_trying(tmp_path: Path, isolation: str) -> None:
    told = probe(Settings(tmp_path, isolation=isolation))
    if isolation == "magic":
        assert told["containment_mode"] == ""
    elif told["containment_mode"]:
        assert isolation in ("auto", told["containment_mode"])
        assert isinstance(told["faults"], dict)
        limits = [told["faults"][name] for name in ("memory", "CPU", "processes")]
        assert told["containment_mode"] == "cgroup" or all(limits)

    line = describe_machine(replace(SITE, mode=Mode.ENFORCE), Settings(tmp_path))[0]
    assert line.startswith("Machine: enforce, 8 vCPUs, 31 GB, no GPUs; ")
