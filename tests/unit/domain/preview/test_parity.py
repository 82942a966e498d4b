"""Whether Google's own service would take a job: yes, no, and when that can't be known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from footplate.catalogue import load_catalogue
from footplate.domain.errors import Violation
from footplate.domain.jobs import Directory, JobSpec, MachineSpec, PythonProgram
from footplate.domain.names import TrainingJobName
from footplate.domain.preview.parity import parity_of
from footplate.domain.submission import Submission
from tests.support import strategies
from tests.support.jobs import make_spec

CATALOGUE = load_catalogue()
IMAGES = "image:us-docker.pkg.dev/vertex-ai/training"


def spec(runtime: str = "version:1.15/3.7", packages: tuple[str, ...] = ()) -> JobSpec:
    return make_spec(program=PythonProgram(runtime, packages, "m"))


def submission(spec: JobSpec, **given: tuple[Violation, ...] | tuple[str, ...]) -> Submission:
    made = Submission(TrainingJobName("demo", "job_1"), "", spec, "{}")
    return replace(made, **given)  # type: ignore[arg-type]  # by name, each of its own type


def test_a_job_by_the_book() -> None:
    assert parity_of(submission(spec()), CATALOGUE).accepted is True


def test_what_breaks_the_rules_here_breaks_them_there() -> None:
    wrong = submission(spec(), violations=(Violation("trainingInput.region", "required"),))

    parity = parity_of(wrong, CATALOGUE)

    assert parity.accepted is False
    assert parity.reasons[0] == "Google's service would refuse the job for the same reasons"


def test_what_is_not_here_may_be_there() -> None:
    absent = [Violation("trainingInput.jobDir", "no such bucket")]

    parity = parity_of(submission(spec()), CATALOGUE, absent)

    assert parity.accepted is None
    assert parity.reasons == (
        "this service refuses trainingInput.jobDir, but Google's service may accept it",
    )


def test_what_the_face_says_is_handed_on() -> None:
    parity = parity_of(submission(spec(), parity=("the cloud would see no metric",)), CATALOGUE)

    assert parity.accepted is None
    assert parity.reasons == ("the cloud would see no metric",)


@pytest.mark.parametrize("runtime", ["version:2.21/", "version:2.12/3.10", "version:/", "version:"])
def test_runtimes_that_google_does_not_have(runtime: str) -> None:
    assert parity_of(submission(spec(runtime)), CATALOGUE).accepted is False


@pytest.mark.parametrize(
    ("image", "accepted"),
    [
        (f"{IMAGES}/tf-cpu.1-15.py37:latest", True),
        (f"{IMAGES}/tf-cpu.2-21.py311:latest", None),
        (f"{IMAGES}/no-such:latest", True),
    ],
)
def test_images_that_google_may_have_by_now(image: str, *, accepted: bool | None) -> None:
    assert parity_of(submission(spec(image)), CATALOGUE).accepted is accepted


def test_a_directory_that_is_a_path() -> None:
    made = replace(spec(), directories=(Directory(None, "/data/out", "trainingInput.jobDir"),))

    assert parity_of(submission(made), CATALOGUE).accepted is False


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("x9-huge", "machine type x9-huge is only in this service's catalogue"),
        ("ACME_GPU", "accelerator ACME_GPU is only in this service's catalogue"),
        ("moon-west1", "region moon-west1 is only in this service's catalogue"),
        ("7.7", "runtime 7.7 is only in this service's catalogue"),
        ("acme-cpu.1-0.py310", "runtime acme-cpu.1-0.py310 is only in this service's catalogue"),
    ],
)
def test_what_an_operator_added(own: str, said: str) -> None:
    catalogue = replace(CATALOGUE, own=frozenset({own}))
    base = spec("version:7.7/" if own == "7.7" else f"{IMAGES}/acme-cpu.1-0.py310:latest")
    machine = MachineSpec("x9-huge", "ACME_GPU", 1)
    made = replace(base, region="moon-west1", pools=(replace(base.primary, machine=machine),))

    parity = parity_of(submission(made), catalogue)

    assert parity.accepted is False
    assert said in parity.reasons


@given(strategies.specs)
def test_a_refused_job_may_hold_anything(spec: JobSpec) -> None:
    wrong = submission(spec, violations=(Violation("trainingInput.region", "required"),))

    assert parity_of(wrong, CATALOGUE).accepted is False


@pytest.mark.parametrize(
    ("machine", "accepted"),
    [
        (MachineSpec("a2-highgpu-1g"), None),
        (MachineSpec("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1), True),
        (MachineSpec("n1-standard-4"), True),
        (MachineSpec("standard_gpu"), True),
    ],
)
def test_a_machine_made_for_gpus_that_asks_for_none(
    machine: MachineSpec, *, accepted: bool | None
) -> None:
    made = spec()
    pool = replace(made.primary, machine=machine)
    parity = parity_of(submission(replace(made, pools=(pool,))), CATALOGUE)

    assert parity.accepted is accepted
    assert any("always has 1 NVIDIA_TESLA_A100" in r for r in parity.reasons) != bool(accepted)


@pytest.mark.parametrize(
    "kind", ["n1-standard-2", "n1-standard-1", "e2-highcpu-8", "n2-standard-2"]
)
def test_machines_below_the_training_services_lists_are_doubted(kind: str) -> None:
    parity = parity_of(submission(_on(kind)), CATALOGUE)
    assert parity.accepted is None
    (said,) = parity.reasons
    assert said.startswith(f"machine type {kind} isn't in Google's list for training, which begins")


@pytest.mark.parametrize(
    "kind", ["n1-standard-4", "n1-highmem-2", "n1-highcpu-16", "e2-standard-4"]
)
def test_the_smallest_of_the_lists_are_not(kind: str) -> None:
    assert parity_of(submission(_on(kind)), CATALOGUE).accepted is True


def _on(machine_type: str) -> JobSpec:
    program = PythonProgram("version:1.15/3.7", (), "m")
    return make_spec(machine=MachineSpec(machine_type), program=program)
