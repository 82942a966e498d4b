"""What tab offers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.shell_completion import ShellComplete

from footplate.cli.main import main
from tests.support.fake_service import Answer, FakeService


@pytest.fixture
def offer(fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The values for the last word of a line."""
    for name in ("FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOOTPLATE_URL", fake.url)
    completion = ShellComplete(main, {}, "footplate", "_FOOTPLATE_COMPLETE")

    def offer(*words: str) -> list[str]:
        return [item.value for item in completion.get_completions(list(words[:-1]), words[-1])]

    return offer


@pytest.fixture
def jobs(fake: FakeService) -> None:
    place = "projects/demo/locations/us-central1"
    for name in ("census_1", "census_2", "mnist"):
        fake.jobs[f"projects/demo/jobs/{name}"] = {"jobId": name, "state": "RUNNING"}
    fake.jobs["projects/ads/jobs/theirs"] = {"jobId": "theirs", "state": "QUEUED"}
    for kind, number in (("customJobs", "11"), ("hyperparameterTuningJobs", "22")):
        name = f"{place}/{kind}/{number}"
        state = "JOB_STATE_RUNNING"
        fake.jobs[name] = {"name": name, "displayName": "d", "state": state}


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("ai-platform", "jobs", "describe", "cen"), ["census_1", "census_2"]),
        (("ml-engine", "jobs", "cancel", ""), ["census_1", "census_2", "mnist"]),
        (("ai-platform", "jobs", "trials", "--project", "ads", ""), ["theirs"]),
        (("--project=ads", "ai-platform", "jobs", "update", ""), ["theirs"]),
        (("ai", "custom-jobs", "stream-logs", ""), ["11"]),
        (("ai", "hp-tuning-jobs", "delete", ""), ["22"]),
        (("ai", "custom-jobs", "cancel", "--region=europe-west4", ""), []),
    ],
)
def test_ids_of_jobs(
    words: tuple[str, ...], ids: list[str], offer: Callable[..., list[str]]
) -> None:
    assert offer(*words) == ids


def test_what_the_catalogue_has(offer: Callable[..., list[str]], fake: FakeService) -> None:
    names = {
        "regions": ["us-central1", "us-west1", "europe-west4"],
        "machineTypes": ["n1-standard-4", "n1-highmem-2"],
        "accelerators": ["NVIDIA_L4"],
    }
    body = {kind: [{"name": name} for name in found] for kind, found in names.items()}
    fake.refusals["GET", "/footplate/v1/catalogue"] = Answer(body=body)
    submit = ("ai-platform", "jobs", "submit", "training", "j")
    assert offer(*submit, "--region", "us") == ["us-central1", "us-west1"]
    assert offer(*submit, "--worker-machine-type", "n1-h") == ["n1-highmem-2"]
    machines = ("ai", "custom-jobs", "machine-types", "--accelerator")
    assert offer(*machines, "nv") == ["nvidia-l4"]
    assert offer(*machines, "NV") == ["NVIDIA_L4"]


def test_buckets_and_what_lies_in_them(offer: Callable[..., list[str]], fake: FakeService) -> None:
    fake.buckets += ["stage", "other"]
    fake.objects = {("stage", "a/b"): b"", ("stage", "a/c/d"): b"", ("stage", "e"): b""}
    assert offer("storage", "ls", "") == ["gs://stage/", "gs://other/"]
    assert offer("storage", "cat", "gs://st") == ["gs://stage/"]
    assert offer("storage", "ls", "gs://stage/") == ["gs://stage/a/", "gs://stage/e"]
    assert offer("storage", "ls", "gs://stage/a/") == ["gs://stage/a/c/", "gs://stage/a/b"]


def test_trials(offer: Callable[..., list[str]], fake: FakeService) -> None:
    name = "projects/demo/jobs/j"
    trials = [{"number": number, "state": "SUCCEEDED"} for number in (1, 2, 12)]
    fake.trials[name] = [{"name": name, "trials": trials}]
    assert offer("ai-platform", "jobs", "stream-logs", "j", "--trial", "1") == ["1", "12"]


def test_fields_of_trials(offer: Callable[..., list[str]], fake: FakeService) -> None:
    name = "projects/demo/jobs/j"
    metrics = [{"name": metric, "goal": "MINIMIZE"} for metric in ("rmse", "val loss")]
    parameters = ["rate", "state"]
    fake.trials[name] = [{"name": name, "metrics": metrics, "parameters": parameters}]
    trials = ("ai-platform", "jobs", "trials", "j", "--sort-by")
    assert {"trial", "rmse", "rate", "parameters.state"} <= set(offer(*trials, ""))
    assert offer(*trials, "v") == []
    assert offer(*trials, "ra") == ["rate"]
    assert offer(*trials, "state,~r") == ["state,~rmse", "state,~rate"]


@pytest.mark.usefixtures("jobs")
def test_searches_to_learn_from(offer: Callable[..., list[str]], fake: FakeService) -> None:
    for name in ("tuned", "plain"):
        fake.jobs[f"projects/demo/jobs/{name}"] = {"jobId": name, "state": "SUCCEEDED"}
    given = {"hyperparameters": {"goal": "MINIMIZE"}}
    fake.jobs["projects/demo/jobs/tuned"]["trainingInput"] = given
    submit = ("ai-platform", "jobs", "submit", "training", "j", "--learn-from")
    assert offer(*submit, "") == ["tuned"]
    assert offer("ai", "hp-tuning-jobs", "create", "--learn-from", "") == ["22"]


def test_versions_are_known_without_a_service(
    offer: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTPLATE_URL", "http://127.0.0.1:1")
    train = ("ai-platform", "local", "train", "--runtime-version")
    assert "2.21" in offer(*train, "2.")


@pytest.mark.parametrize("body", [b"no JSON", b'{"jobs": [{"jobId": 1, "state": "?"}]}'])
def test_nothing_is_said_where_no_service_answers(
    body: bytes,
    offer: Callable[..., list[str]],
    fake: FakeService,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake.refusals["GET", "/v1/projects/demo/jobs"] = Answer(body=body)
    assert offer("ai-platform", "jobs", "describe", "") == []
    monkeypatch.setenv("FOOTPLATE_URL", "http://127.0.0.1:1")
    assert offer("ai-platform", "jobs", "describe", "") == []
    assert capsys.readouterr() == ("", "")


def test_bash_takes_a_place_for_one_word() -> None:
    from click.testing import CliRunner

    script = CliRunner().invoke(main, ["completion", "bash"]).stdout
    assert script.startswith("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}")


def test_ids_of_jobs_of_all_kinds(fake: FakeService, offer: Callable[..., list[str]]) -> None:
    found = [{"jobId": "census_1", "state": "FAILED", "project": "p"}, {"jobId": "17"}]
    fake.refusals["GET", "/footplate/v1/jobs"] = Answer(body={"jobs": found})
    assert offer("jobs", "describe", "") == ["census_1", "17"]
    assert offer("jobs", "delete", "--project=p", "census_1", "1") == ["17"]
    assert fake.last("GET").query == {"project": "p"}
