"""The root, the groups, and what every command has in common."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import Result

from footplate.cli.group import Group
from footplate.cli.main import main
from footplate.server.data_dir import DataDir
from tests.support.fake_service import Answer, FakeService

FULL = Path("/dev/full")
HELP = """\
Usage: footplate [OPTIONS] COMMAND [ARGS]...

  Train models on your own machine, through the calls of AI Platform and Vertex
  AI.

  footplate up                               start the service
  footplate run -- python submit.py          send it an unchanged Vertex AI script
  eval "$(footplate env)"                    or point gcloud at it

  footplate storage buckets create gs://stage
  footplate ai-platform jobs submit training census_20261121_0900 \\
      --package-path trainer/ --module-name trainer.task \\
      --job-dir gs://stage/census --stream-logs -- --epochs 3

  Each command explains itself with --help.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
  up           Start the service on this machine.
  status       Show the service and its jobs.
  down         Stop the service and end its jobs.
  backup       Back up the service's data, also while it runs.
  restore      Create a data directory from a backup.
  run          Run an unchanged script against the service.
  env          Print variables that point gcloud at the service.
  jobs         List, read, end and delete jobs of all kinds.
  ai           Use Vertex AI's custom jobs and tuning jobs.
  ai-platform  Use AI Platform's training and tuning jobs.
  storage      Manage buckets and their objects.
  quotas       Show and set what projects may use at once.
  usage        Show machine-hours of projects, day by day.
  regions      Show where jobs of regions run, and check engines.
  catalogue    Show what jobs can ask for.
  runtimes     Manage environments of runtimes on this machine.
  tensorboard  Show the event files of a job in TensorBoard.
  doctor       Show what this machine offers to jobs.
  completion   Print the tab completion of a shell.
"""


def test_help_says_how_to_begin(invoke: Callable[..., Result]) -> None:
    assert invoke("--help").stdout == HELP


def commands(group: Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        yield (*path, name)
        if isinstance(command, Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize("path", list(commands(main)), ids=" ".join)
def test_every_command_explains_itself(
    path: tuple[str, ...], invoke: Callable[..., Result]
) -> None:
    result = invoke(*path, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: footplate {' '.join(path)} ")
    assert "\b" not in result.stdout  # click's mark of what isn't wrapped, where it was misplaced


def test_help_of_the_root_imports_no_command_and_no_http() -> None:
    code = (
        "import sys\n"
        "from footplate.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'httpx', 'yaml', 'rich', 'pydantic', 'footplate.cli.run', 'footplate.client'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_status_asks_a_server_without_modules_that_load_slowly() -> None:
    code = (
        "import sys\n"
        "import footplate.cli.status, footplate.client.service, footplate.settings\n"
        "heavy = {'pydantic', 'rich', 'pygments', 'yaml', 'sqlalchemy', 'starlette', 'numpy'}\n"
        "assert 'httpx' in sys.modules\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_ml_engine_is_another_name_for_ai_platform(invoke: Callable[..., Result]) -> None:
    told = "Listed 0 items in project demo; choose another project with --project.\n"
    assert invoke("ml-engine", "jobs", "list").stderr == told


@pytest.mark.parametrize(
    ("group", "name", "told"),
    [
        (
            "ai-platform jobs",
            "locations/r/customJobs/1",
            "custom job; see `footplate ai custom-jobs`",
        ),
        ("ai custom-jobs", "jobs/j", "training job; see `footplate ai-platform jobs`"),
        (
            "ai hp-tuning-jobs",
            "locations/r/trainingPipelines/1",
            "training pipeline; see `footplate ai custom-jobs`",
        ),
    ],
)
def test_the_name_of_another_kind_of_job_is_refused(
    group: str, name: str, told: str, invoke: Callable[..., Result]
) -> None:
    result = invoke(*group.split(), "describe", f"projects/p/{name}")
    assert result.exit_code == 1
    assert result.stderr == f"Error: 'projects/p/{name}' is a {told}\n"


def test_errors_of_the_service_are_told_without_a_traceback(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    message = "maxRunningTime: '5' given; allowed: a duration such as 3600s"
    body = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": message}}
    fake.refusals["GET", "/v1/projects/demo/jobs/j"] = Answer(400, body)
    result = invoke("ai-platform", "jobs", "describe", "j")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {message}\n"


def test_without_a_server_the_way_out_is_named(
    invoke: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data_dir = tmp_path_factory.mktemp("data")
    monkeypatch.delenv("FOOTPLATE_URL")
    result = invoke("ai", "custom-jobs", "list", f"--data-dir={data_dir}")
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: no Footplate server runs with the data directory {data_dir}; start a server "
        "with `footplate up`, or name another one with --url or --data-dir\n"
    )


def test_the_server_of_a_data_directory_is_found(
    invoke: Callable[..., Result],
    fake: FakeService,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data_dir = tmp_path_factory.mktemp("data")
    monkeypatch.delenv("FOOTPLATE_URL")
    monkeypatch.setenv("FOOTPLATE_TOKEN", "s3cret")
    (data_dir / "server.json").write_text(f'{{"url": "{fake.url}", "pid": 1, "version": "0"}}')
    assert invoke("status", f"--data-dir={data_dir}").exit_code == 0
    assert fake.last("GET").headers["authorization"] == "Bearer s3cret"


def test_status_shows_the_service_and_its_jobs(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.jobs["projects/demo/jobs/j"] = {"jobId": "j", "state": "RUNNING"}
    assert invoke("status").stdout == (
        f"Footplate 0.1.0.dev0 answers at {fake.url}\n"
        "  process  4711\n"
        "  data     /data\n"
        "  jobs     1 RUNNING\n"
    )
    assert invoke("status", "--format=value(activeJobs.RUNNING)").stdout == "1\n"
    fake.active_trials = {"QUEUED": 2, "RUNNING": 3}
    assert invoke("status").stdout.endswith(
        "  jobs     1 RUNNING\n  trials   2 QUEUED, 3 RUNNING\n"
    )


def test_status_tells_of_a_full_disk(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.trouble = "disk full: 0 MiB free; reserve of 8 MiB untouched"
    assert invoke("status").stdout.splitlines()[-1] == f"  trouble  {fake.trouble}"
    assert invoke("status", "--format=value(trouble)").stdout == f"{fake.trouble}\n"


def test_status_shows_engines(invoke: Callable[..., Result], fake: FakeService) -> None:
    region: dict[str, object] = {"name": "europe-west4", "where": "Slurm, partition gpu"}
    gone: dict[str, object] = {"name": "us-east1", "where": "Slurm"}
    gone |= {"facts": [], "problems": ["it does not answer"]}
    fake.regions = [{**region, "facts": ["3 nodes", "queue: 1 runs"]}, gone]

    assert invoke("status").stdout.splitlines()[-3:] == [
        "  region   europe-west4 (Slurm, partition gpu): 3 nodes; queue: 1 runs",
        "  region   us-east1 (Slurm)",
        "           it does not answer",
    ]


def test_status_of_a_server_that_does_not_answer_yet(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FOOTPLATE_URL")
    data_dir = DataDir(tmp_path / "data")
    data_dir.make()
    with data_dir.claimed():
        result = invoke("status", f"--data-dir={data_dir.root}")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: the server of {data_dir.root} doesn't answer: it is starting, ending or "
        "very busy; try again in a moment\n"
    )


@pytest.mark.parametrize("command", ["status", "down"])
def test_a_directory_that_nothing_can_be_kept_in_is_named(
    command: str, invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FOOTPLATE_URL")
    (tmp_path / "footplate.lock").mkdir()
    result = invoke(command, f"--data-dir={tmp_path}")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: data_dir: '{tmp_path}' given, where the server can't store anything: "
        f"{tmp_path}/footplate.lock: Is a directory; choose another --data-dir\n"
    )


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "words", ["--help", "--version", "help", "completion bash", "ai --help", "runtimes list"]
)
def test_output_that_finds_no_room_is_told(words: str, tmp_path: Path) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "footplate.cli.entry_point", *words.split()],
            env={
                **{name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"},
                "FOOTPLATE_CACHE_DIR": str(tmp_path),
            },
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.stderr == "Error: system error: No space left on device\n"
    assert done.returncode == 1


def test_closed_streams_are_as_good_as_the_null_device(fake: FakeService) -> None:
    command = (
        f"{sys.executable} -m footplate.cli.entry_point ai-platform jobs list --url={fake.url}"
    )
    done = subprocess.run(
        ["sh", "-c", f"{command} <&- >&-"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    told = "Listed 0 items in project demo; choose another project with --project.\n"
    assert (done.returncode, done.stderr) == (0, told)


def test_down_waits_until_the_server_is_gone(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    gone = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "no longer here"}}
    fake.refusals["GET", "/healthz"] = Answer(503, gone)
    result = invoke("down")
    assert (result.exit_code, result.stderr) == (0, "Ending 0 jobs.\nThe service has stopped.\n")
    assert "POST /footplate/v1/down" in fake.calls()


def _active(*jobs: tuple[str, str]) -> Answer:
    return Answer(body={"jobs": [{"project": project, "jobId": job} for project, job in jobs]})


@pytest.fixture
def leaving(fake: FakeService) -> FakeService:
    """It is gone as soon as it is asked to end."""
    gone = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "no longer here"}}
    fake.refusals["GET", "/healthz"] = Answer(503, gone)
    return fake


def test_down_names_the_jobs_of_others_and_wants_a_yes(
    invoke: Callable[..., Result], leaving: FakeService
) -> None:
    jobs = _active(("vision", "7"), ("ads", "census_1"), ("ads", "census_2"))
    leaving.refusals["GET", "/footplate/v1/jobs"] = jobs
    refused = invoke("down")
    assert refused.exit_code == 1
    assert refused.stderr == (
        "Error: others may use this server. These jobs would end:\n  ads: 2 jobs: census_1, "
        "census_2\n  vision: 1 job: 7\nAdd --yes to end all these jobs.\n"
    )
    assert "POST /footplate/v1/down" not in leaving.calls()
    for word in ("--yes", "-y", "--quiet"):
        assert invoke("down", word).exit_code == 0
    assert leaving.calls().count("POST /footplate/v1/down") == 3


def test_down_does_not_ask_for_the_jobs_of_its_own_project(
    invoke: Callable[..., Result], leaving: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving.refusals["GET", "/footplate/v1/jobs"] = _active(("ads", "census_1"))
    assert invoke("down", "--project=ads").exit_code == 0
    monkeypatch.setenv("FOOTPLATE_TOKEN", "secret")
    refused = invoke("down", "--project=ads")
    assert refused.exit_code == 1, "who needs a token isn't alone"
    assert "ads: 1 job: census_1" in refused.stderr


def test_down_says_when_jobs_take_long(invoke: Callable[..., Result]) -> None:
    result = invoke("down", "--timeout=0")
    assert result.exit_code == 1
    assert result.stderr == (
        "Ending 0 jobs.\nError: the service still waits for its jobs after 0 s; the service "
        "stops by itself when the jobs have ended\n"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_that_of_the_shell(shell: str, invoke: Callable[..., Result]) -> None:
    result = invoke("completion", shell)
    assert f"_FOOTPLATE_COMPLETE={shell}_complete" in result.stdout


def test_a_mistyped_command_gets_a_suggestion(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "lst")
    assert result.exit_code == 2
    assert "Error: No such command 'lst'. Did you mean 'list'?" in result.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("jobs create", "`ai-platform jobs submit` and `ai custom-jobs create` make jobs."),
        ("jobs stream-logs 7", "`footplate jobs logs --follow` follows a job."),
        ("ai-platform jobs delete census_1", "`footplate jobs delete` takes jobs of all kinds."),
        ("submit", "Did you mean 'ai-platform jobs submit'?"),
        ("ai-platform jobs submit census_1", "Did you mean 'training census_1'?"),
        ("ai-platform models list", "Footplate trains models, but neither keeps nor serves them."),
        ("ai models list", "`gcloud ai models` lists and changes models, under `footplate env`."),
        ("gcloud ai", "Leave the word gcloud out: `footplate` takes the words that follow gcloud."),
        ("gsutil ls", "Buckets are in `footplate storage`."),
        ("storage mb gs://a", "`footplate storage buckets create` makes a bucket."),
        (
            "ai hp-tuning-jobs import optuna.db",
            (
                "Create a study and its trials with a client of Vizier, "
                "and give the study's id to `create --learn-from`."
            ),
        ),
    ],
)
def test_a_command_that_there_is_not_gets_a_hint(
    words: str, hint: str, invoke: Callable[..., Result]
) -> None:
    result = invoke(*words.split())
    assert result.exit_code == 2
    assert result.stderr.endswith(f"'. {hint}\n")


@pytest.mark.parametrize("words", ["list", "frobnicate", "help frobnicate"])
def test_where_nothing_is_like_it_nothing_is_guessed(
    words: str, invoke: Callable[..., Result]
) -> None:
    result = invoke(*words.split())
    assert result.exit_code == 2
    assert result.stderr.endswith(f"Error: No such command {words.split()[-1]!r}.\n")


def test_help_is_a_command_too(invoke: Callable[..., Result]) -> None:
    assert invoke("help").stdout == HELP
    helped = invoke("help", "ai-platform", "jobs", "list")
    assert (helped.exit_code, helped.stdout) == (
        0,
        invoke("ai-platform", "jobs", "list", "--help").stdout,
    )


def test_an_option_of_the_program_belongs_behind_dashes(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "submit", "training", "census_1", "--epochs=3")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "Error: No such option '--epochs'. Give the program's own options last, after --: -- "
        "--epochs ...\n"
    )


def test_a_script_without_its_python_is_told_so(
    invoke: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    script = tmp_path / "submit.py"
    script.write_text("")
    result = invoke("run", str(script), "a b")
    assert result.exit_code == 126
    assert result.stderr == (
        f"footplate run: {script}: Permission denied; did you mean: "
        f"footplate run -- python {script} 'a b'\n"
    )


def test_the_usage_of_submit_fits_a_line(invoke: Callable[..., Result]) -> None:
    usage = invoke("ai-platform", "jobs", "submit", "training", "--help").stdout.splitlines()[0]
    assert usage.endswith("training [OPTIONS] JOB [-- ARGS...]")
