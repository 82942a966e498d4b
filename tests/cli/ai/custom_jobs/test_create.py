"""Creating a custom job: the request, local code, what is printed."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.fake_service import TIME, FakeService

CREATE = ("ai", "custom-jobs", "create", "--display-name=census")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
NAME = "projects/demo/locations/us-central1/customJobs/100"


def test_worker_pools_become_a_spec(invoke: Callable[..., Result], fake: FakeService) -> None:
    result = invoke(
        *CREATE,
        "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:1",
        "--worker-pool-spec=",
        "--worker-pool-spec=machine-type=n1-highmem-2,replica-count=2,boot-disk-size=200,"
        "accelerator-type=nvidia-tesla-t4,accelerator-count=2,"
        f"executor-image-uri={IMAGE},python-module=trainer.task",
        "--python-package-uris=gs://b/t.tar.gz",
        "--args=^;^--a=1,2;--b",
        "--command=python,-m,x",
        "--labels=team=a",
        "--enable-web-access",
        "--service-account=a@b",
    )
    assert fake.last("POST").json() == {
        "displayName": "census",
        "labels": {"team": "a"},
        "jobSpec": {
            "serviceAccount": "a@b",
            "enableWebAccess": True,
            "workerPoolSpecs": [
                {
                    "machineSpec": {"machineType": "n1-standard-4"},
                    "replicaCount": "1",
                    "containerSpec": {
                        "imageUri": "gcr.io/p/i:1",
                        "args": ["--a=1,2", "--b"],
                        "command": ["python", "-m", "x"],
                    },
                },
                {},
                {
                    "machineSpec": {
                        "machineType": "n1-highmem-2",
                        "acceleratorType": "NVIDIA_TESLA_T4",
                        "acceleratorCount": 2,
                    },
                    "replicaCount": "2",
                    "diskSpec": {"bootDiskSizeGb": 200},
                    "pythonPackageSpec": {
                        "executorImageUri": IMAGE,
                        "packageUris": ["gs://b/t.tar.gz"],
                        "pythonModule": "trainer.task",
                        "args": ["--a=1,2", "--b"],
                    },
                },
            ],
        },
    }
    assert result.stderr == (
        "Job 100 submitted.\n"
        f"  follow:   footplate ai custom-jobs stream-logs {NAME}\n"
        f"  describe: footplate ai custom-jobs describe {NAME}\n"
        f"  cancel:   footplate ai custom-jobs cancel {NAME}\n"
    )
    assert f"\nname: {NAME}\n" in result.stdout


def test_a_file_alone(invoke: Callable[..., Result], fake: FakeService, tmp_path: Path) -> None:
    """A lone pool may stand without a list around it, as in gcloud's own example."""
    config = tmp_path / "job.yaml"
    config.write_text(
        "scheduling: {timeout: 60s}\n"
        "workerPoolSpecs:\n"
        "  machineSpec: {machineType: n1-highmem-2}\n"
        "  containerSpec: {imageUri: 'gcr.io/p/i', args: [a]}\n"
    )
    invoke(*CREATE, f"--config={config}", "--args=b,c", "--region=europe-west4")
    assert fake.last("POST").path == "/v1/projects/demo/locations/europe-west4/customJobs"
    assert fake.last("POST").json()["jobSpec"] == {
        "scheduling": {"timeout": "60s"},
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-highmem-2"},
                "containerSpec": {"imageUri": "gcr.io/p/i", "args": ["b", "c"]},
            }
        ],
    }


def test_a_file_in_snake_case_is_the_same(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    config = tmp_path / "job.yaml"
    config.write_text(
        "worker_pool_specs:\n"
        "  machine_spec: {machine_type: n1-standard-4}\n"
        "  container_spec: {image_uri: i}\n"
        "service_account: a@b\n"
    )
    invoke(*CREATE, f"--config={config}", "--args=b", "--service-account=c@d")
    assert fake.last("POST").json()["jobSpec"] == {
        "serviceAccount": "c@d",
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-standard-4"},
                "containerSpec": {"imageUri": "i", "args": ["b"]},
            }
        ],
    }


def test_local_code_travels_as_a_package(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print('hello')\n")
    (tmp_path / "requirements.txt").write_text("# ours\nnumpy>=1  # arrays\n\n")
    pool = f"machine-type=n1-standard-4,executor-image-uri={IMAGE},local-package-path={tmp_path}"
    second = "--worker-pool-spec=machine-type=n1-standard-4,replica-count=2"
    result = invoke(
        *CREATE, f"--worker-pool-spec={pool},script=train.py,requirements=pandas;scipy<2", second
    )
    assert result.exit_code == 0
    ((bucket, name),) = fake.objects
    assert (bucket, name.partition("/")[0]) == ("demo-footplate-staging", "census")
    specs = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    program = {
        "executorImageUri": IMAGE,
        "packageUris": [f"gs://{bucket}/{name}"],
        "pythonModule": "footplate_local_code.task",
    }
    assert [spec["pythonPackageSpec"] for spec in specs] == [program, program]
    with tarfile.open(fileobj=io.BytesIO(fake.objects[bucket, name])) as tar:
        setup = tar.extractfile("footplate_local_code-0.0.0/setup.py")
        assert setup is not None
        text = setup.read().decode()
        assert "footplate_local_code-0.0.0/footplate_local_code/code/train.py" in tar.getnames()
    assert "install_requires=['pandas', 'scipy<2', 'numpy>=1']," in text
    assert result.stderr.startswith("Created gs://demo-footplate-staging/ for packages.\n")


def test_reduction_servers_stand_beside_local_code(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print('hello')\n")
    pool = f"machine-type=n1-standard-4,executor-image-uri={IMAGE},local-package-path={tmp_path}"
    workers = "machine-type=n1-standard-4,replica-count=2"
    image = "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"
    servers = f"machine-type=n1-highcpu-16,replica-count=3,container-image-uri={image}"
    pools = (f"{pool},script=train.py", workers, servers)

    result = invoke(*CREATE, *(f"--worker-pool-spec={given}" for given in pools))

    assert result.exit_code == 0, result.stderr
    specs = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    assert specs[2]["containerSpec"] == {"imageUri": image}
    assert ["pythonPackageSpec" in spec for spec in specs] == [True, True, False]


def test_further_pools_may_repeat_the_local_code_of_the_first(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print('hello')\n")
    pool = f"machine-type=m,executor-image-uri={IMAGE},local-package-path={tmp_path}"

    result = invoke(*CREATE, *[f"--worker-pool-spec={pool},script=train.py"] * 2)

    assert result.exit_code == 0, result.stderr
    first, second = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    assert first == second
    assert len(first["pythonPackageSpec"]["packageUris"]) == 1


MACHINE = "machine-type=m"


@pytest.mark.parametrize(
    ("pools", "message"),
    [
        (("",), "the first pool can't be empty: it has the primary replica"),
        (("replica-count=1",), "machine-type is missing"),
        ((f"{MACHINE}",), "give either executor-image-uri or container-image-uri"),
        ((f"{MACHINE},executor-image-uri=i",), "executor-image-uri requires python-module"),
        (
            (f"{MACHINE},container-image-uri=i,python-module=m",),
            (
                "python-module can't be combined with container-image-uri, because the image "
                "contains the program"
            ),
        ),
        (
            (f"{MACHINE},container-image-uri=i,script=x",),
            "script: allowed only with local-package-path",
        ),
        (
            (f"{MACHINE},accelerator-count=1,container-image-uri=i",),
            "accelerator-count requires accelerator-type",
        ),
        (
            (f"{MACHINE},replica-count=two,container-image-uri=i",),
            "replica-count='two'; allowed: a whole number",
        ),
        (
            (f"{MACHINE},local-package-path=.,script=x",),
            "local-package-path requires executor-image-uri",
        ),
        (
            (f"{MACHINE},local-package-path=.,executor-image-uri=i",),
            "local-package-path requires either python-module or script",
        ),
        (
            (f"{MACHINE},container-image-uri=i", f"{MACHINE},local-package-path=."),
            "only the first pool may have local-package-path",
        ),
        (
            (
                f"{MACHINE},local-package-path=.,executor-image-uri=i,script=x",
                f"{MACHINE},script=y",
            ),
            (
                "script=y given in another pool, but the first pool has script=x. All pools, "
                "except one with Reduction Server's image, run the first pool's local package: "
                "leave the key out"
            ),
        ),
        (
            (
                f"{MACHINE},local-package-path=.,executor-image-uri=i,script=x",
                f"{MACHINE},container-image-uri=i",
            ),
            (
                "container-image-uri=i given in another pool, but the first pool has no "
                "container-image-uri. All pools, except one with Reduction Server's image, run "
                "the first pool's local package: leave the key out"
            ),
        ),
    ],
)
def test_a_wrong_pool_names_its_key(
    pools: tuple[str, ...], message: str, invoke: Callable[..., Result], fake: FakeService
) -> None:
    result = invoke(*CREATE, *(f"--worker-pool-spec={pool}" for pool in pools))
    assert (result.exit_code, result.stderr) == (1, f"Error: --worker-pool-spec: {message}\n")
    assert fake.requests == []


def test_an_unknown_key_names_the_known_ones(invoke: Callable[..., Result]) -> None:
    result = invoke(*CREATE, "--worker-pool-spec=machine=x")
    assert result.exit_code == 2
    assert (
        "'machine' is not a key of this option; allowed: machine-type, replica-count,"
        in result.stderr
    )


def test_something_has_to_run(invoke: Callable[..., Result]) -> None:
    result = invoke(*CREATE)
    assert result.exit_code == 2
    assert result.stderr.endswith("Error: --worker-pool-spec or --config is needed\n")


def test_the_other_commands(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.jobs[NAME] = {
        "name": NAME,
        "displayName": "census",
        "state": "JOB_STATE_FAILED",
        "createTime": TIME,
        "error": {"code": 3, "message": "workerpool0-0 exited with code 1: ValueError: no"},
    }
    group = ("ai", "custom-jobs")
    assert invoke(*group, "list").stdout == (
        f"NAME{' ' * 46}  DISPLAY_NAME  STATE             {'CREATED':<{len(TIME)}}  NOTE\n"
        f"{NAME}  census        JOB_STATE_FAILED  {TIME}  "
        "workerpool0-0 exited with code 1: ValueError: no\n"
    )
    told = "Job 100 failed: workerpool0-0 exited with code 1: ValueError: no\n"
    assert invoke(*group, "describe", "100").stderr == told
    streamed = invoke(*group, "stream-logs", NAME, "--region=europe-west4")
    assert (streamed.exit_code, streamed.stderr) == (1, told)
    fake.jobs[NAME]["state"] = "JOB_STATE_RUNNING"
    assert invoke(*group, "cancel", "100", "--project=demo").stderr == (
        f"Job 100 is cancelled.\n  footplate ai custom-jobs describe {NAME}\n"
    )
    assert invoke(*group, "delete", "100").stderr == "Job 100 is deleted.\n"
    assert not fake.jobs


def test_who_gives_a_display_name_is_told_the_job(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    place = "projects/demo/locations/us-central1/customJobs"
    for number, shown in (("7", "census"), ("8", "census"), ("9", "mnist")):
        fake.jobs[f"{place}/{number}"] = {
            "name": f"{place}/{number}",
            "displayName": shown,
            "state": "JOB_STATE_RUNNING",
        }
    assert invoke("ai", "custom-jobs", "stream-logs", "census").stderr == (
        f"Error: {place}/census not found\n  the job {place}/7 has this display name, and 1 "
        "older job\n  list them: footplate ai custom-jobs list\n"
    )
