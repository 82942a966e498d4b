"""What a real Slurm says of the machines that a region's mapping names."""

from footplate.backends.engine.engine import LauncherRequest
from footplate.backends.slurm import SlurmEngine, SlurmSettings
from footplate.backends.slurm.mapping_check import check_mapping
from tests.support.slurm import PARTITION, SlurmCluster

FITS, NO_FEATURE, TOO_LARGE, GPU = "fits-2", "wrong-feature", "large-4096", "with-gpu"


def test_each_machine_that_slurm_would_not_take_is_named(slurm: SlurmCluster) -> None:
    machines = {NO_FEATURE: ("--constraint=no-such-thing",)}
    engine = SlurmEngine(
        SlurmSettings(partition=PARTITION, machines=machines, environment=slurm.environment)
    )
    samples = {
        FITS: LauncherRequest("", FITS, 2, 1024),
        NO_FEATURE: LauncherRequest("", NO_FEATURE, 2, 1024),
        TOO_LARGE: LauncherRequest("", TOO_LARGE, 4096, 1024),
        GPU: LauncherRequest("", FITS, 2, 1024, accelerators=1),
    }

    report = check_mapping(engine.check(), engine.try_out, samples)

    assert report.reachable
    assert [problem.partition(":")[0] for problem in report.problems] == [
        f"machine type {name}" for name in (NO_FEATURE, TOO_LARGE)
    ]
    assert slurm.command("squeue", "-h", "-n", "footplate-check").strip() == ""


def test_of_a_partition_that_does_not_exist_that_alone_is_said(slurm: SlurmCluster) -> None:
    engine = SlurmEngine(SlurmSettings(partition="no-such", environment=slurm.environment))

    report = check_mapping(engine.check(), engine.try_out, {FITS: LauncherRequest("", FITS)})

    (problem,) = report.problems
    assert "'no-such'" in problem
