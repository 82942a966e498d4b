"""Options and scripts of Slurm's jobs."""

import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.backends.slurm.job_script import (
    RestServer,
    SlurmSettings,
    all_options,
    fault,
    gpus_of_each,
    node_options,
    node_script,
    script,
    submit_options,
)
from footplate.backends.slurm.outputs import read_words
from footplate.backends.slurm.slurm_engine import group_nodes
from footplate.protocol.site_variables import PROLOGUE_VARIABLES, SITE_VARIABLES
from tests.support.local_backend import wait_until


def request(*launchers: LauncherRequest, program: bytes = b"print('hello')\n") -> JobRequest:
    return JobRequest("footplate-s-u-1.0", "europe-west4", launchers, program)


def test_options_of_a_gang_without_gpus() -> None:
    settings = SlurmSettings(partition="pool", options=("--nice=5",))
    made = submit_options(
        settings, request(LauncherRequest("a", "m", 3, 1000), LauncherRequest("b"))
    )
    assert "--ntasks=2" in made
    assert "--cpus-per-task=3" in made
    assert "--mem-per-cpu=334" in made
    assert "--partition=pool" in made
    assert made[-1] == "--nice=5"
    assert {"--no-requeue", "--propagate=NONE"} <= set(made)
    assert not any(option.startswith(("--nodes", "--gres")) for option in made)


def test_replicas_with_gpus_have_a_node_each() -> None:
    made = submit_options(SlurmSettings(), request(LauncherRequest("a", accelerators=2)))
    assert {"--nodes=1", "--ntasks-per-node=1", "--gres=gpu:2"} <= set(made)


T4 = LauncherRequest("a", "m", 2, 1000, "NVIDIA_TESLA_T4", 2)
ALIKE = (T4, replace(T4, replica="b"))


def test_replicas_with_the_same_gpus_share_nodes_where_slurm_counts_by_task() -> None:
    settings = SlurmSettings(accelerators={"NVIDIA_TESLA_T4": "gpu:t4"})
    made = submit_options(settings, request(*ALIKE), by_task=True)
    assert {"--ntasks=2", "--gpus-per-task=t4:2"} <= set(made)
    assert not any(option.startswith(("--nodes", "--gres", "--ntasks-per")) for option in made)
    assert gpus_of_each(SlurmSettings(), ALIKE) == "2"


@pytest.mark.parametrize(
    ("launchers", "given"),
    [
        (ALIKE[:1], {}),
        ((T4, replace(T4, accelerators=1)), {}),
        ((T4, replace(T4, accelerators=0)), {}),
        ((T4, replace(T4, image="trainer:1")), {}),
        ((LauncherRequest("a"), LauncherRequest("b")), {}),
        (ALIKE, {"accelerators": {"NVIDIA_TESLA_T4": "shard"}}),
        (ALIKE, {"machines": {"*": ("--mem=4G",)}}),
        (ALIKE, {"machines": {"*": ("--gres=gpu:1",)}}),
        (ALIKE, {"options": ("-N2",)}),
    ],
)
def test_other_replicas_with_gpus_have_a_node_each_as_before(
    launchers: tuple[LauncherRequest, ...], given: dict[str, Any]
) -> None:
    settings, asked = SlurmSettings(**given), request(*launchers)
    assert gpus_of_each(settings, launchers) == ""
    assert submit_options(settings, asked, by_task=True) == submit_options(settings, asked)


def test_memory_for_each_processor_or_gpu_keeps_replicas_together() -> None:
    for option in ("--mem-per-cpu=4G", "--mem-per-gpu=4G", "--constraint=c8"):
        assert gpus_of_each(SlurmSettings(machines={"*": (option,)}), ALIKE) == "2"


def test_a_machine_type_adds_its_options() -> None:
    settings = SlurmSettings(machines={"n1-standard-8": ("--constraint=c8&ib", "--exclusive")})
    made = submit_options(settings, request(LauncherRequest("a", "n1-standard-8")))
    assert made[-2:] == ["--constraint=c8&ib", "--exclusive"]


def test_the_memory_of_a_machine_type_replaces_ours() -> None:
    settings = SlurmSettings(machines={"*": ("--mem=4G",)})
    made = submit_options(settings, request(LauncherRequest("a", "m", 2, 1000)))
    assert [option for option in made if option.startswith("--mem")] == ["--mem=4G"]


def test_accelerators_have_the_names_that_slurm_knows() -> None:
    settings = SlurmSettings(accelerators={"NVIDIA_TESLA_T4": "gpu:t4"})
    launcher = LauncherRequest("a", accelerator_type="NVIDIA_TESLA_T4", accelerators=2)
    assert "--gres=gpu:t4:2" in submit_options(settings, request(launcher))


def test_a_region_that_names_the_time_has_it() -> None:
    settings = SlurmSettings(machines={"*": ("--time=30",)})
    asked = request(LauncherRequest("a"))
    times = [o for o in submit_options(settings, asked, 90) if o.startswith("--time")]
    assert times == ["--time=90", "--time=30"], "sbatch takes the last one"
    assert "--time=90" in submit_options(SlurmSettings(), asked, 90)


MIXED = SlurmSettings(
    partition="pool", machines={"big": ("--constraint=big",)}, accelerators={"L4": "gpu:l4"}
)
BIG = LauncherRequest("b", "big", 8, 8000, "L4", 1)
GANG = (LauncherRequest("a", "small", 2), BIG, replace(BIG, replica="c"), LauncherRequest("d"))


def test_machine_types_with_different_options_are_components_of_a_job() -> None:
    assert fault(MIXED, GANG) is None
    words = all_options(MIXED, request(*GANG), lambda part: 10 * len(part.launchers), by_task=True)
    first, second, third = (part.split("|") for part in "|".join(words).split("|:|"))
    for part in (first, second, third):
        assert {"--job-name=footplate-s-u-1.0", "--partition=pool", "--no-requeue"} <= set(part)
    assert {"--ntasks=2", "--gpus-per-task=l4:1", "--constraint=big", "--time=20"} <= set(second)
    for part in (first, third):
        assert "--ntasks=1" in part
        assert not any(option.startswith(("--constraint", "--g")) for option in part)


def test_slurmrestd_submits_no_components() -> None:
    by_rest = replace(MIXED, server=RestServer("unix:/run/slurmrestd/socket", "ml"))
    found = fault(by_rest, GANG) or ""
    assert "big and no machine type map to different options of Slurm, and slurmrestd" in found
    assert fault(by_rest, GANG[1:3]) is None


@pytest.mark.parametrize("failing", [None, 1])
def test_each_component_has_a_step_with_its_part_of_the_ranks(
    tmp_path: Path, failing: int | None
) -> None:
    """The stand-in for srun runs the tasks of its component one after the other."""
    srun = tmp_path / "srun"
    srun.write_text(
        """#!/bin/sh
        while [ "${1#--}" != "$1" ]; do
            case $1 in --ntasks=*) TASKS=${1#*=} ;; --het-group=*) GROUP=${1#*=} ;; esac
            case $1 in --cpus-per-task=*) echo "$1" > "$OUT/cpus.$GROUP" ;; esac
            shift
        done
        cat > "$OUT/program.$GROUP"
        SLURM_PROCID=0 SLURM_JOB_ID=9$GROUP; export SLURM_PROCID SLURM_JOB_ID GROUP
        while [ "$SLURM_PROCID" -lt "$TASKS" ]; do
            "$@" < "$OUT/program.$GROUP"
            SLURM_PROCID=$((SLURM_PROCID + 1))
        done
        [ "$GROUP" != "$FAILING" ]
        """
    )
    srun.chmod(0o755)
    program = (
        b"import os\nwith open(os.environ['OUT'] + '/ranks', 'a') as file:\n"
        b"    names = ('SLURM_PROCID', 'SLURM_JOB_ID', 'GROUP')\n"
        b"    print(*map(os.environ.get, names), file=file)\n"
        b"TEXT = '$(id) `id` \\ \"'\n"
    )
    settings = replace(MIXED, scratch=str(tmp_path / "scratch"))
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "OUT": str(tmp_path),
        "SLURM_JOB_ID": "7",
        "SLURM_CPUS_PER_TASK_HET_GROUP_1": "8",
        "FAILING": str(failing),
    }
    made = script(settings, request(*GANG, program=program))
    done = subprocess.run(["sh"], input=made, env=environment, check=False)
    assert done.returncode == (failing is not None)
    ranks = sorted((tmp_path / "ranks").read_text().splitlines())
    assert ranks == ["0 7 0", "1 7 1", "2 7 1", "3 7 2"]
    assert (tmp_path / "program.2").read_bytes().rstrip() == program.rstrip()
    assert (tmp_path / "cpus.1").read_text() == "--cpus-per-task=8\n"
    assert not (tmp_path / "cpus.0").exists()


MISSING = "slurmstepd: error: execve(): python3.99: No such file or directory"


def record_comments(folder: Path) -> Path:
    """Makes a scontrol that writes its last argument to the file that is returned."""
    comments, scontrol = folder / "comments", folder / "scontrol"
    scontrol.write_text(f'#!/bin/sh\nshift 2; echo "$@" >>"{comments}"\n')
    scontrol.chmod(0o755)
    return comments


def test_the_project_and_admitted_labels_choose_how_slurm_charges_a_job() -> None:
    settings = SlurmSettings(
        account="all",
        qos="normal",
        machines={"*": ("--qos=slow",)},
        projects={"atlas": {"account": "physics", "licenses": "root:2"}},
        admit=("qos", "reservation"),
    )
    labels = {
        "footplate-slurm-qos": "high",
        "footplate-slurm-account": "chemistry",
        "footplate-slurm-reservation": "",
        "qos": "x",
    }
    asked = replace(request(LauncherRequest("a")), project="atlas", labels=labels)

    def last(asked: JobRequest) -> dict[str, str]:
        return dict(option.split("=", 1) for option in submit_options(settings, asked)[3:])

    found = last(asked)
    assert (found["--account"], found["--qos"]) == ("physics", "high")
    assert found["--licenses"] == "root:2"
    assert "--reservation" not in found
    other = last(replace(asked, project="demo", labels={}))
    assert (other["--account"], other["--qos"]) == ("all", "slow")


OF_ANOTHER = pytest.param(
    "of another user", marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
)


@pytest.mark.parametrize("kind", [OF_ANOTHER, "a link"])
def test_a_scratch_that_is_not_its_users_gets_nothing(tmp_path: Path, kind: str) -> None:
    """A directory below /tmp can be made by anybody, with links in it to files of the victim."""
    scratch, jobs = tmp_path / "scratch", tmp_path / "theirs" / "jobs"
    jobs.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (jobs / "7.log").symlink_to(victim)
    if kind == "a link":
        scratch.symlink_to(tmp_path / "theirs")
    else:
        (tmp_path / "theirs").rename(scratch)
        shutil.chown(scratch, "nobody")
    srun = tmp_path / "srun"
    srun.write_text("#!/bin/sh\necho begun\nexit 3\n")
    srun.chmod(0o755)
    made = script(SlurmSettings(scratch=str(scratch)), request(LauncherRequest("a")))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7"}
    comments = record_comments(tmp_path)
    done = subprocess.run(["sh"], input=made, env=environment, check=False)
    assert done.returncode == 1
    assert victim.read_text() == "precious"
    assert comments.read_text().endswith(f"the folder {scratch} is another user's, or a link\n")


PROGRAM = b"print('$HOME `id` \\\\ \"quoted\"')\n"


@pytest.mark.parametrize("launchers", [1, 2])
def test_the_program_reaches_the_launchers_unharmed(tmp_path: Path, launchers: int) -> None:
    """By a step of Slurm's for several, which costs time, and directly for one."""
    commands = {"srun": 'while [ "$1" != python ]; do shift; done; exec "$@"'}
    commands["python"] = 'cat > "$OUTPUT"'
    for name, line in commands.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/run\n{line}\n")
        (tmp_path / name).chmod(0o755)
    settings = SlurmSettings(scratch=str(tmp_path / "a scratch"), python="python")
    several = [LauncherRequest(str(number)) for number in range(launchers)]
    made = script(settings, request(*several, program=PROGRAM))
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "OUTPUT": str(tmp_path / "given"),
        "SLURM_JOB_ID": "7",
    }
    subprocess.run(["sh"], input=made, env=environment, check=True)
    assert (tmp_path / "given").read_bytes().rstrip() == PROGRAM.rstrip()
    assert not (tmp_path / "a scratch" / "jobs" / "7.log").exists()
    assert (tmp_path / "run").read_text().split() == ["srun", "python"][2 - min(launchers, 2) :]


def test_a_script_that_is_told_to_end_waits_for_its_launcher(tmp_path: Path) -> None:
    """Slurm kills what a script leaves behind, and a launcher has to clear up."""
    python = tmp_path / "python"
    ends = "trap 'sleep 0.3; echo ended > \"$OUTPUT\"; exit 0' TERM"
    python.write_text(f'#!/bin/sh\n{ends}\necho > "$OUTPUT.begun"\nwhile :; do sleep 0.05; done\n')
    python.chmod(0o755)
    settings = SlurmSettings(scratch=str(tmp_path / "scratch"), python=str(python))
    given = tmp_path / "script"
    given.write_bytes(script(settings, request(LauncherRequest("a"))))
    environment = {"PATH": "/usr/bin:/bin", "OUTPUT": str(tmp_path / "out"), "SLURM_JOB_ID": "7"}
    running = subprocess.Popen(["sh", given], env=environment, start_new_session=True)
    wait_until((tmp_path / "out.begun").exists)
    os.killpg(running.pid, signal.SIGTERM)
    assert running.wait(60) == 0
    assert (tmp_path / "out").read_text() == "ended\n"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            "http://10.0.0.1: refused\nthe server doesn't answer at http://10.0.0.1\n\n",
            "the server doesn't answer at http://10.0.0.1",
        ),
        (
            f"{MISSING}\nsrun: error: n1: task 0: Exited with exit code 2\n",
            MISSING,
        ),
        ("srun: error: Unable to create step\n", "srun: error: Unable to create step"),
        ('it\'s "$HOME" `id` \t\a100% *\n', 'it\'s "$HOME" `id` 100% *'),
        pytest.param("y" * 600, "y" * 480, id="long"),
        ("", None),
    ],
)
def test_a_job_that_fails_says_its_last_line(
    tmp_path: Path, written: str, words: str | None
) -> None:
    (tmp_path / "written").write_text(written)
    srun = tmp_path / "srun"
    srun.write_text(f'#!/bin/sh\ncat "{tmp_path}/written"\nexit 3\n')
    srun.chmod(0o755)
    comments = record_comments(tmp_path)
    pair = request(LauncherRequest("a"), LauncherRequest("b"))
    made = script(SlurmSettings(scratch=str(tmp_path / "s")), pair)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7"}
    done = subprocess.run(["sh"], input=made, env=environment, check=False)
    assert done.returncode == 3
    said = comments.read_text() if comments.exists() else ""
    assert read_words(said) == (words or "")
    assert said == ("" if words is None else f"Comment=footplate: {words}\n")
    assert (tmp_path / "s" / "jobs" / "7.log").read_text() == written


def test_a_python_that_does_not_exist_is_named(tmp_path: Path) -> None:
    comments = record_comments(tmp_path)
    settings = SlurmSettings(scratch=str(tmp_path / "s"), python="python3.99")
    made = script(settings, request(LauncherRequest("a")))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7"}
    assert subprocess.run(["sh"], input=made, env=environment, check=False).returncode == 127
    assert comments.read_text().endswith("python3.99: not found\n")


def run_script(folder: Path, settings: SlurmSettings, **variables: str) -> dict[str, str]:
    """The variables that the launchers of such a job have."""
    python = folder / "python"
    python.write_text('#!/bin/sh\nenv -0 > "$OUTPUT"\n')
    python.chmod(0o755)
    environment = {
        "PATH": f"{folder}:/usr/bin:/bin",
        "OUTPUT": str(folder / "given"),
        "SLURM_JOB_ID": "7",
        **variables,
    }
    made = script(replace(settings, python=str(python)), request(LauncherRequest("a")))
    shell = made.partition(b"\n")[0].removeprefix(b"#!").decode()
    subprocess.run([shell], input=made, env=environment, check=True)
    pairs = (folder / "given").read_text().strip("\0").split("\0")
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.mark.parametrize(("said", "locale"), [({}, "C.UTF-8"), ({"LANG": "de_DE"}, "de_DE")])
def test_the_locale_of_slurms_commands_is_not_that_of_programs(
    tmp_path: Path, said: dict[str, str], locale: str
) -> None:
    settings = SlurmSettings(scratch=str(tmp_path / "scratch"))
    found = run_script(tmp_path, settings, LC_ALL="C", **said)
    assert "LC_ALL" not in found
    assert found["LANG"] == locale


def test_launchers_have_the_variables_of_the_region_and_of_its_prologue(tmp_path: Path) -> None:
    hostile = 'it\'s "$HOME" `id`\nSECOND=line'
    prologue = """
    # What's "odd" in a comment
    set -eu
    module() { export MODULE_ROOT="$1" PATH="/modules/bin:$PATH"; }
    module /modules; unset USELESS; LOCAL=1
    export TEXT="two
    LINES=2" NCCL_DEBUG=INFO
    """
    settings = SlurmSettings(
        scratch=str(tmp_path / "scratch"),
        env={"NCCL_DEBUG": "WARN", "SITE": hostile},
        prologue=prologue,
    )
    found = run_script(tmp_path, settings, USELESS="1", KEPT="1")
    assert (found["SITE"], found["NCCL_DEBUG"]) == (hostile, "INFO")
    assert found["PATH"].startswith("/modules/bin:")
    assert found[SITE_VARIABLES].split() == ["NCCL_DEBUG", "SITE"]
    named = found[PROLOGUE_VARIABLES].split()
    assert sorted(named) == ["MODULE_ROOT", "NCCL_DEBUG", "PATH", "TEXT"]
    assert not {"LOCAL", "USELESS"} & found.keys()


@pytest.mark.parametrize("prologue", ["exit 3", "false", "set -e; false; true", "if then 'x"])
def test_a_prologue_that_fails_ends_the_job_before_its_launchers(
    tmp_path: Path, prologue: str
) -> None:
    settings = SlurmSettings(scratch=str(tmp_path / "scratch"), prologue=f"echo begun\n{prologue}")
    comments = record_comments(tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        run_script(tmp_path, settings)
    last = "begun" if prologue != "if then 'x" else "'"
    assert last in comments.read_text().splitlines()[-1], "the job's end says it"
    assert not (tmp_path / "given").exists()
    log = (tmp_path / "scratch" / "jobs" / "7.log").read_text()
    assert log


def test_a_probe_runs_as_a_launcher_does() -> None:
    settings = SlurmSettings(
        qos="high",
        accelerators={"NVIDIA_TESLA_T4": "gpu:t4"},
        machines={"*": ("--constraint=c8",)},
        env={"SITE": "it's"},
        prologue="echo noise; export MODULE=1",
    )
    launcher = LauncherRequest("", accelerator_type="NVIDIA_TESLA_T4", accelerators=1)
    options = node_options(settings, launcher)
    assert {"--qos=high", "--gres=gpu:t4:1", "--constraint=c8", "--ntasks=1"} <= set(options)
    assert "--time=1" in options, "Slurm ends it when nobody waits for it any more"
    program = b"import os\nprint(os.environ['SITE'], os.environ['MODULE'])\n"
    done = subprocess.run(
        ["bash"], input=node_script(settings, program), capture_output=True, check=True
    )
    assert done.stdout == b"it's 1\n"


def test_nodes_of_a_kind_are_one_line() -> None:
    nodes = ("n1: idle, 8 CPUs", "n2: idle, 8 CPUs", "n3: down, 8 CPUs")
    assert group_nodes(nodes) == ("nodes: 2 idle, 8 CPUs", "nodes: 1 down, 8 CPUs")


def test_a_script_with_components_that_is_told_to_end_waits_for_all(tmp_path: Path) -> None:
    srun = tmp_path / "srun"
    slow = "case $* in *--het-group=0*) LONG=1.5 ;; *) LONG=0.1 ;; esac"
    ends = "trap 'sleep $LONG; echo ended >> \"$OUTPUT\"; exit 3' TERM"
    loop = 'echo >> "$OUTPUT.begun"\nwhile :; do sleep 0.05; done'
    srun.write_text(f"#!/bin/sh\n{slow}\n{ends}\n{loop}\n")
    srun.chmod(0o755)
    given = tmp_path / "script"
    settings = replace(MIXED, scratch=str(tmp_path / "scratch"))
    given.write_bytes(script(settings, request(*GANG)))
    out, begun = tmp_path / "out", tmp_path / "out.begun"
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "OUTPUT": str(out), "SLURM_JOB_ID": "7"}
    running = subprocess.Popen(["sh", given], env=environment, start_new_session=True)
    wait_until(lambda: begun.exists() and len(begun.read_text()) == 3)
    os.killpg(running.pid, signal.SIGTERM)
    assert running.wait(60) == 3
    assert out.read_text() == "ended\n" * 3
