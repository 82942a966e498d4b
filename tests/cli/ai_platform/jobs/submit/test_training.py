"""Submitting a training job: the request, the packages, what is printed."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.fake_service import Answer, FakeService, failure

RULE = "letters, digits and underscores, first a letter, at most 128 characters"
NO_FILE = "No such file or directory"
NO_PLACE = "local packages need a bucket: give --staging-bucket or --job-dir"
SUBMIT = ("ai-platform", "jobs", "submit", "training")


@pytest.fixture
def trainer(tmp_path: Path, fake: FakeService) -> Path:
    fake.buckets.append("stage")
    folder = tmp_path / "code" / "trainer"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "task.py").write_text("print('hello')\n")
    return folder


@pytest.mark.parametrize("words", [("--module-name=trainer.tsk",), ("--config=job.yaml",)])
def test_a_module_that_the_package_lacks_is_refused_before_anything_is_sent(
    words: tuple[str, ...],
    invoke: Callable[..., Result],
    fake: FakeService,
    trainer: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text("trainingInput: {pythonModule: trainer.tsk}\n")
    given = (f"--package-path={trainer}", "--staging-bucket=gs://stage")
    result = invoke(*SUBMIT, "census_1", *given, *words)
    field = (
        "--module-name" if "--module-name=trainer.tsk" in words else "trainingInput.pythonModule"
    )
    assert result.exit_code == 1
    assert result.stderr.endswith(
        f"Error: {field}: 'trainer.tsk' given, a module that trainer-0.0.0.tar.gz doesn't have; "
        "did you mean trainer.task?\n"
    )
    assert not fake.objects
    assert not fake.jobs


def test_another_package_may_have_the_module(invoke: Callable[..., Result], trainer: Path) -> None:
    given = (f"--package-path={trainer}", "--packages=gs://stage/more.tar.gz")
    words = ("--module-name=more.task", "--staging-bucket=gs://stage")
    assert invoke(*SUBMIT, "census_1", *given, *words).exit_code == 0


def test_a_package_from_code_to_job(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path
) -> None:
    words = ("--module-name=trainer.task", "--job-dir=gs://stage/census", "--scale-tier=basic")
    args = ("--", "--epochs", "3", "--", "--job-dir=mine", "a b")
    result = invoke(*SUBMIT, "census_1", f"--package-path={trainer}", *words, *args)
    assert result.exit_code == 0
    ((bucket, name),) = fake.objects
    sent = fake.last("POST").json()
    assert sent == {
        "jobId": "census_1",
        "trainingInput": {
            "pythonModule": "trainer.task",
            "jobDir": "gs://stage/census",
            "scaleTier": "BASIC",
            "packageUris": [f"gs://{bucket}/{name}"],
            "args": ["--epochs", "3", "--", "--job-dir=mine", "a b"],
            "region": "us-central1",
        },
    }
    assert name.startswith("census/packages/")
    assert name.endswith("/trainer-0.0.0.tar.gz")
    assert result.stdout == "jobId: census_1\nstate: QUEUED\n"
    assert result.stderr == (
        f"Packaging {trainer}\n"
        "Job census_1 submitted.\n"
        "  follow:   footplate ai-platform jobs stream-logs census_1\n"
        "  describe: footplate ai-platform jobs describe census_1\n"
        "  cancel:   footplate ai-platform jobs cancel census_1\n"
    )
    assert [path.name for path in trainer.parent.iterdir()] == ["trainer"]


def test_warnings_of_a_job_that_was_made_are_shown(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path
) -> None:
    warning: dict[str, object] = {"number": 1, "kind": "WARNING", "message": "3 trials are few"}
    fake.events["projects/demo/jobs/census_1"] = [warning]
    words = ("--module-name=trainer.task", "--job-dir=gs://stage/census", "--scale-tier=basic")
    result = invoke(*SUBMIT, "census_1", f"--package-path={trainer}", *words)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == "Warning: 3 trials are few"


def test_options_win_over_the_file(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "jobId: of_the_file\n"
        "labels: {team: a}\n"
        "trainingInput:\n"
        "  region: europe-west4\n"
        "  runtimeVersion: 1.10\n"
        "  scaleTier: CUSTOM\n"
        "  masterType: standard\n"
        "  packageUris: [gs://b/of-the-file.tar.gz]\n"
        "  args: [--of-the-file]\n"
        "  masterConfig: {acceleratorConfig: {type: NVIDIA_TESLA_K80, count: 4}}\n"
    )
    words = (
        "--packages=gs://b/one.tar.gz,gs://b/two.whl",
        "--master-machine-type=n1-standard-8",
        "--master-accelerator=type=nvidia-tesla-t4,count=2",
        "--worker-count=3",
        "--labels=team=b,run=7",
        "--kms-key=k",
        "--kms-keyring=r",
        "--kms-location=l",
    )
    result = invoke(*SUBMIT, "census_1", f"--config={config}", *words)
    assert result.exit_code == 0
    assert fake.last("POST").json() == {
        "jobId": "census_1",
        "labels": {"team": "b", "run": "7"},
        "trainingInput": {
            "region": "europe-west4",
            "runtimeVersion": "1.10",
            "scaleTier": "CUSTOM",
            "masterType": "n1-standard-8",
            "packageUris": ["gs://b/one.tar.gz", "gs://b/two.whl"],
            "args": ["--of-the-file"],
            "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "2"}},
            "workerCount": "3",
            "encryptionConfig": {"kmsKeyName": "projects/demo/locations/l/keyRings/r/cryptoKeys/k"},
        },
    }


def test_a_bare_double_dash_takes_the_files_arguments_away(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("trainingInput: {args: [--of-the-file]}\n")
    invoke(*SUBMIT, "census_1", f"--config={config}", "--region=europe-west1", "--")
    given = {"args": [], "region": "europe-west1"}
    assert fake.last("POST").json() == {"jobId": "census_1", "trainingInput": given}


def test_built_packages_are_uploaded_beside_the_code(
    invoke: Callable[..., Result], fake: FakeService, trainer: Path, tmp_path: Path
) -> None:
    extra = tmp_path / "extra-1.0-py3-none-any.whl"
    extra.write_bytes(b"a wheel")
    words = (f"--packages={extra},gs://b/far.tar.gz", "--staging-bucket=gs://stage/in/here")
    invoke(*SUBMIT, "census_1", f"--package-path={trainer}", *words)
    uris = fake.last("POST").json()["trainingInput"]["packageUris"]
    shortened = [uri[:27] + "*/" + uri.rpartition("/")[2] for uri in uris[:2]]
    assert shortened == [
        "gs://stage/in/here/census_1*/trainer-0.0.0.tar.gz",
        "gs://stage/in/here/census_1*/extra-1.0-py3-none-any.whl",
    ]
    assert uris[2:] == ["gs://b/far.tar.gz"]


def test_the_code_can_be_followed_at_once(invoke: Callable[..., Result], fake: FakeService) -> None:
    name = "projects/demo/jobs/census_1"

    class Lines(list[dict[str, object]]):
        def __iter__(self) -> Iterator[dict[str, object]]:
            fake.jobs[name]["state"] = "SUCCEEDED"
            return iter([{"cursor": 1, "replica": "master-replica-0", "message": "hello"}])

    fake.lines[name] = Lines()
    result = invoke(*SUBMIT, "census_1", "--packages=gs://b/x.tar.gz", "--stream-logs")
    assert (result.exit_code, result.stdout) == (0, "master-replica-0  hello\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("1st",), 1, f"jobId: '1st' given; allowed: {RULE}"),
        (("j", "--stream-logs", "--async"), 2, "--async and --stream-logs exclude each other"),
        (("j", "--packages=/nowhere/x.whl"), 1, f"--packages: /nowhere/x.whl: {NO_FILE}"),
        (("j", "--package-path=/nowhere", "--job-dir=gs://stage/x"), 1,
         "--package-path: /nowhere is not a folder"),
        (("j", "--package-path=/nowhere"), 2, NO_PLACE),
        (("j", "--package-path=/nowhere", "--job-dir=/tmp/x"), 1,
         "--job-dir: '/tmp/x' given; allowed: gs://BUCKET/PATH"),
        (("j", "--config=/nowhere.yaml"), 1,
         f"--config: /nowhere.yaml: {NO_FILE}"),
        (("j", "--master-accelerator=count=1"), 1, "--master-accelerator: the key type is missing"),
        (("j", "--kms-key=k"), 2, "--kms-key requires --kms-keyring and --kms-location"),
        (("j", "--labels=a"), 2, "Invalid value for '--labels': 'a' given; allowed: KEY=VALUE"),
    ],
)  # fmt: skip
def test_bad_input_names_what_is_wrong(
    words: tuple[str, ...],
    code: int,
    message: str,
    invoke: Callable[..., Result],
    fake: FakeService,
) -> None:
    result = invoke(*SUBMIT, *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.splitlines()[-1] == f"Error: {message}"
    assert not any(call.startswith("POST") for call in fake.calls())


def test_nothing_is_packaged_where_nothing_is(invoke: Callable[..., Result]) -> None:
    result = invoke(*SUBMIT, "j", "--package-path=/nowhere", "--job-dir=gs://stage/x")
    assert result.stderr == "Error: --package-path: /nowhere is not a folder\n"


def test_a_bucket_that_is_not_there(
    invoke: Callable[..., Result], trainer: Path, fake: FakeService
) -> None:
    result = invoke(*SUBMIT, "j", f"--package-path={trainer}", "--staging-bucket=gs://nowhere")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == ("Error: the bucket nowhere isn't there")
    assert fake.jobs == {}


def test_a_build_that_fails_shows_its_end(
    invoke: Callable[..., Result], trainer: Path, fake: FakeService
) -> None:
    (trainer.parent / "setup.py").write_text("raise SystemExit('no such thing')\n")
    result = invoke(*SUBMIT, "j", f"--package-path={trainer}", "--job-dir=gs://stage/x")
    assert result.exit_code == 1
    assert f"the package in {trainer.parent} doesn't build:" in result.stderr
    assert "no such thing" in result.stderr
    assert fake.objects == {}


def test_a_package_with_a_setup_of_its_own(
    invoke: Callable[..., Result], trainer: Path, fake: FakeService
) -> None:
    (trainer.parent / "setup.py").write_text(
        "from setuptools import find_packages, setup\n"
        "setup(name='mine', version='3.2', packages=find_packages())\n"
    )
    (trainer.parent / "shared").mkdir()
    (trainer.parent / "shared" / "__init__.py").touch()
    words = ("--job-dir=gs://stage/x", f"--package-path={trainer}/")
    for job in ("j1", "j2"):
        assert invoke(*SUBMIT, job, *words).exit_code == 0
    ((_, name),) = fake.objects  # built twice, and equal: the hash in its path is the same
    assert name.endswith("/mine-3.2.tar.gz")
    with tarfile.open(fileobj=io.BytesIO(fake.objects["stage", name])) as tar:
        names = set(tar.getnames())
    assert {"mine-3.2/trainer/task.py", "mine-3.2/shared/__init__.py"} <= names
    assert sorted(path.name for path in trainer.parent.iterdir()) == [
        "setup.py",
        "shared",
        "trainer",
    ]


@pytest.mark.parametrize(("option", "told"), [("--scale-tier=basic", True), ("--async", False)])
def test_a_job_that_waits_says_so_once(
    invoke: Callable[..., Result], fake: FakeService, option: str, *, told: bool
) -> None:
    why = "Waits for room: job_1 holds all of it"
    answer = {"jobId": "census_1", "state": "QUEUED", "pendingExplanation": why}
    fake.refusals["GET", "/v1/projects/demo/jobs/census_1"] = Answer(body=answer)

    result = invoke(*SUBMIT, "census_1", "--packages=gs://b/t.tar.gz", "--module-name=m", option)

    assert result.exit_code == 0
    assert result.stderr.count(f"{why}\n") == int(told)


def test_a_submit_has_succeeded_even_if_the_server_is_gone_right_after_it(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    gone = failure(503, "UNAVAILABLE", "the database is away")
    fake.refusals["GET", "/v1/projects/demo/jobs/census_1"] = gone

    result = invoke(*SUBMIT, "census_1", "--packages=gs://b/t.tar.gz", "--module-name=m")

    assert result.exit_code == 0
    assert result.stdout == "jobId: census_1\nstate: QUEUED\n"


@pytest.mark.parametrize("tier", ["BASIC_GPU", "basic-gpu", "Basic-GPU"])
def test_a_tier_is_written_as_gcloud_takes_it(
    invoke: Callable[..., Result], fake: FakeService, tier: str
) -> None:
    words = ("--packages=gs://b/t.tar.gz", "--module-name=m", f"--scale-tier={tier}")
    assert invoke(*SUBMIT, "census_1", *words).exit_code == 0
    sent = fake.last("POST").json()["trainingInput"]
    assert sent["scaleTier"] == "BASIC_GPU"


@pytest.mark.parametrize(
    ("flags", "file", "variables", "region"),
    [
        (("--region=flag",), "region: file", {"CLOUDSDK_AI_PLATFORM_REGION": "own"}, "flag"),
        ((), "region: file", {"CLOUDSDK_AI_PLATFORM_REGION": "own"}, "file"),
        ((), "region: file", {"CLOUDSDK_COMPUTE_REGION": "compute"}, "file"),
        ((), "", {"CLOUDSDK_AI_PLATFORM_REGION": "own", "CLOUDSDK_COMPUTE_REGION": "b"}, "own"),
        ((), "", {"CLOUDSDK_COMPUTE_REGION": "compute"}, "compute"),
        ((), "", {}, "us-west1"),
    ],
)
def test_flag_file_variables_configuration(
    flags: tuple[str, ...],
    file: str,
    variables: dict[str, str],
    region: str,
    invoke: Callable[..., Result],
    fake: FakeService,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("CLOUDSDK_AI_PLATFORM_REGION", "CLOUDSDK_COMPUTE_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    (tmp_path / "configurations").mkdir()
    (tmp_path / "active_config").write_text("default")
    (tmp_path / "configurations" / "config_default").write_text("[compute]\nregion = us-west1\n")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    config = tmp_path / "config.yaml"
    config.write_text(f"trainingInput: {{{file}}}\n")

    result = invoke(
        *SUBMIT, "census_1", f"--config={config}", "--packages=gs://b/t.tar.gz",
        "--module-name=t.task", *flags,
    )  # fmt: skip

    assert result.exit_code == 0, result.stderr
    (creation,) = (r for r in fake.requests if r.path == "/v1/projects/demo/jobs")
    assert creation.json()["trainingInput"]["region"] == region


def test_another_scale_tier_leaves_out_the_machines_of_the_file(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    config = tmp_path / "job.yaml"
    config.write_text(
        "trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-8, workerCount: 2,"
        " workerType: n1-standard-4, masterConfig: {acceleratorConfig: {type: NVIDIA_TESLA_T4,"
        " count: 1}, tpuTfVersion: '2.1'}, pythonModule: t.task, packageUris: [gs://b/t.tar.gz]}"
    )
    result = invoke(*SUBMIT, "census_1", f"--config={config}", "--scale-tier=basic-gpu")
    assert result.exit_code == 0, result.output
    sent = fake.last("POST").json()["trainingInput"]
    assert sent == {
        "scaleTier": "BASIC_GPU",
        "masterConfig": {"tpuTfVersion": "2.1"},
        "pythonModule": "t.task",
        "packageUris": ["gs://b/t.tar.gz"],
        "region": "us-central1",
    }
    assert (
        "Note: because of --scale-tier=basic-gpu, the job leaves out the --config file's "
        "masterType, workerType, workerCount, masterConfig.acceleratorConfig.\n"
    ) in result.stderr
