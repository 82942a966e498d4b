"""What a program gets from its supervisor, and what becomes of its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.protocol.promised import VIEW, Promised
from footplate.protocol.ticket import ProbeQuestion, SupervisorTicket
from footplate.replica.program_spec import compose_build_environment, compose_environment
from footplate.server.clock import SystemClock
from tests.support.deadlines import EVENT_S
from tests.support.replica_context import make_task
from tests.support.supervisor_process import Supervised, command_task, python_task, wait_until

Make = Callable[..., Supervised]

SHOW = """
import json, os, sys
print(json.dumps({"cwd": os.getcwd(), "environment": dict(os.environ), "args": sys.argv[1:],
                  "stdin": sys.stdin.read()}))
"""


def shown(replica: Supervised) -> dict[str, object]:
    value: dict[str, object] = json.loads(replica.api.lines()[0])
    return value


def test_a_program_runs_and_its_end_is_reported(make_replica: Make) -> None:
    replica = make_replica(python_task("print('hello')"))
    end = replica.supervise()
    assert (end["kind"], end["code"], end["cause"]) == ("EXITED", 0, "")
    assert replica.api.phases() == ["PREPARING", "RUNNING"]
    assert replica.api.records[0]["k"] == "state"
    assert replica.api.lines() == ["hello"]
    assert replica.gone == {"reason": "EXITED 0"}


def test_a_program_has_its_own_directory_and_the_tasks_environment(make_replica: Make) -> None:
    task = python_task(SHOW, "--name", "a b", environment=[["A", "1"], ["B", "x=y"], ["A", "2"]])
    replica = make_replica(task)
    replica.supervise()
    value = shown(replica)
    environment = value["environment"]
    assert isinstance(environment, dict)
    assert value["cwd"] == str(replica.home / "work")
    assert value["args"] == ["--name", "a b"]
    assert value["stdin"] == ""
    assert (environment["A"], environment["B"]) == ("2", "x=y")
    assert environment["PYTHONUNBUFFERED"] == "1"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, None),
        ({"no_proxy": "intern"}, "intern"),
        ({"HTTPS_PROXY": "http://p"}, "localhost,127.0.0.1,::1"),
        ({"http_proxy": "http://p", "NO_PROXY": "a,127.0.0.1"}, "a,127.0.0.1,localhost,::1"),
        ({"all_proxy": "http://p", "no_proxy": "*"}, "*"),
    ],
)
def test_no_proxy_is_asked_for_this_machine(given: dict[str, str], wanted: str | None) -> None:
    """What listens there, others of the gang and the buckets, a proxy can't reach."""
    found = compose_environment(make_task(), [], given, {}, "mark")
    assert found.get("no_proxy") == wanted
    if wanted and wanted != "intern":
        assert found["NO_PROXY"] == wanted


def test_what_builds_packages_gets_no_secrets_of_the_server() -> None:
    host = {
        "PGPASSWORD": "p",
        "AWS_SECRET_ACCESS_KEY": "k",
        "FOOTPLATE_TOKEN": "t",
        "PYTHONPATH": "/x",
        "VIRTUAL_ENV": "/y",
        "PATH": "/bin",
        "UV_DEFAULT_INDEX": "i",
        "PIP_INDEX_URL": "j",
        "CC": "clang",
    }
    found = compose_build_environment(host)
    assert set(found) == {"PATH", "UV_DEFAULT_INDEX", "PIP_INDEX_URL", "CC"}


def test_nothing_of_the_servers_environment_leaks(make_replica: Make) -> None:
    replica = make_replica(python_task(SHOW))
    replica.supervise(PYTHONPATH="/nowhere", FOOTPLATE_PORT="1", SECRET="s", LC_TIME="C", TZ="UTC")
    environment = shown(replica)["environment"]
    assert isinstance(environment, dict)
    assert environment["TZ"] == "UTC"
    assert environment["LC_TIME"] == "C"
    assert not {"PYTHONPATH", "FOOTPLATE_PORT", "SECRET"} & set(environment)
    ticket = (replica.home / "ticket.json").read_text()
    assert not [name for name, value in environment.items() if json.loads(ticket)["token"] in value]


def test_a_program_gets_no_descriptor_but_its_three(
    make_replica: Make, containment_mode: str
) -> None:
    code = "import os; print([fd for fd in range(3, 200) if os.path.exists(f'/proc/self/fd/{fd}')])"
    replica = make_replica(python_task(code), isolation=containment_mode)
    replica.api.start()
    reading, writing = os.pipe()
    replica.run(pass_fds=(writing,))
    os.close(writing)
    replica.finish()
    assert replica.api.lines() == ["[]"]
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_a_module_is_run_with_arguments_from_its_directory(make_replica: Make) -> None:
    task = python_task("")
    task["program"] = {"kind": "python", "module": "json.tool", "args": ["--help"]}
    replica = make_replica(task)
    assert replica.supervise()["code"] == 0
    assert "json.tool" in replica.api.lines()[0]


def test_directories_are_made_before(make_replica: Make, tmp_path: Path) -> None:
    directory = tmp_path / "a" / "job"
    code = "import sys; open(sys.argv[1] + '/model', 'w').write('m')"
    replica = make_replica(python_task(code, str(directory), directories=[str(directory)]))
    assert replica.supervise()["code"] == 0
    assert (directory / "model").read_text() == "m"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mount namespaces")
def test_tmp_is_private_and_buckets_are_under_gcs(
    make_replica: Make, containment_mode: str
) -> None:
    code = "import os; open('/tmp/x', 'w'); print(os.listdir('/gcs'), os.path.exists('/tmp/x'))"
    replica = make_replica(python_task(code), isolation=containment_mode)
    (replica.directory / "buckets" / "models").mkdir()
    replica.supervise()
    if replica.api.events("ISOLATION")[1:]:
        pytest.skip(replica.api.events("ISOLATION")[1])
    assert replica.api.lines() == ["['models'] True"]
    assert (replica.home / "tmp" / "x").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mount namespaces")
def test_where_no_view_was_promised_there_is_tmpdir(
    make_replica: Make, archive: Path, tmp_path: Path, containment_mode: str
) -> None:
    code = "import os; print(os.environ['TMPDIR'])"
    promised = find_promised(archive, tmp_path, containment_mode)
    promised.faults[VIEW] = "no namespaces here"
    replica = make_replica(python_task(code), isolation=containment_mode, promised=promised)
    assert replica.supervise()["code"] == 0
    assert replica.api.lines() == [str(replica.home / "tmp")]
    assert replica.api.events("ISOLATION")[1].endswith(": no namespaces here")
    assert "/dev/shm and /tmp aren't private" in replica.api.events("ISOLATION")[1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mount namespaces")
def test_a_program_without_the_view_that_was_promised_does_not_start(
    make_replica: Make, archive: Path, tmp_path: Path, containment_mode: str
) -> None:
    promised = find_promised(archive, tmp_path, containment_mode)
    if promised.fault(VIEW):
        pytest.skip(promised.fault(VIEW))
    replica = make_replica(python_task(""), isolation=containment_mode, promised=promised)
    (replica.home / "root").mkdir()
    (replica.home / "root" / "tmp").touch()  # a file, where a directory is to be
    end = replica.supervise()
    assert end["kind"] == "UNPREPARED"
    assert "can't be started: " in end["cause"]
    assert "/tmp" in end["cause"]
    assert replica.api.phases() == ["PREPARING"]


def find_promised(archive: Path, folder: Path, isolation: str) -> Promised:
    question = ProbeQuestion(SupervisorTicket(isolation=isolation), str(folder))
    facts = json.dumps(question.encode())
    argv = [sys.executable, "-I", "-S", str(archive), "probe", facts]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    return Promised.decode(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("code", "kind", "number", "cause"),
    [
        ("raise ValueError('bad')", "EXITED", 1, "ValueError: bad (at <string>:1 in <module>)"),
        ("import sys; print('no', file=sys.stderr); sys.exit(42)", "EXITED", 42, "no"),
        ("import os; os.kill(os.getpid(), 11)", "SIGNALLED", 11, ""),
        ("import os; os.kill(os.getpid(), 15)", "SIGNALLED", 15, ""),
        (
            "import nowhere",
            "EXITED",
            1,
            "ModuleNotFoundError: No module named 'nowhere' (at <string>:1 in <module>)",
        ),
    ],
)
def test_the_end_is_told_exactly(
    make_replica: Make, containment_mode: str, code: str, kind: str, number: int, cause: str
) -> None:
    end = make_replica(python_task(code), isolation=containment_mode).supervise()
    assert (end["kind"], end["code"], end["cause"]) == (kind, number, cause)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (command_task(["/nowhere/python"]), "/nowhere/python"),
        (command_task([]), "command line"),
        (command_task(["true", "a\0b"]), "command line"),
        (command_task(["true"], environment=[["A=B", "x"]]), "A=B"),
        (command_task(["true"], environment=[["A", "\0"]]), "'A'"),
        (command_task(["true"], environment=[["A", "x" * 3_000_000]]), "Argument list too long"),
        (command_task(["true"], directories=["/dev/null/x"]), "/dev/null/x"),
        (command_task(["true"], packages=[{"file": "a.tar.gz"}]), "runtime"),
        ({"program": {"kind": "magic"}}, "magic"),
        ({"program": None}, "program"),
    ],
)
def test_what_cannot_be_started_says_why(
    make_replica: Make, task: dict[str, object], words: str
) -> None:
    replica = make_replica(task)
    end = replica.supervise()
    assert end["kind"] == "UNPREPARED"
    assert words in end["cause"]
    assert replica.api.phases() == ["PREPARING"]


def test_an_isolation_that_does_not_exist_is_named(make_replica: Make) -> None:
    end = make_replica(command_task(["true"]), isolation="cgroups").supervise()
    assert end["kind"] == "UNPREPARED"
    assert "'cgroups' given; allowed: auto, cgroup, namespace" in end["cause"]


def test_the_time_limit_ends_a_program_that_ignores_it(
    make_replica: Make, containment_mode: str
) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on'); time.sleep(600)"
    task = python_task(code, time_limit_s=0.5, stop_grace_s=0.2)
    replica = make_replica(task, isolation=containment_mode)
    end = replica.supervise()
    assert (end["kind"], end["cause"]) == (
        "TIME_LIMIT",
        ("the program ran longer than its limit of 0.5 s"),
    )


def test_a_later_attempt_has_the_rest_of_the_time(make_replica: Make) -> None:
    task = python_task("import time; time.sleep(600)", time_limit_s=0.51, attempt=2)
    end = make_replica(task).supervise()
    words = "the program ran longer than 0.5 s, which earlier starts left of its limit"
    assert (end["kind"], end["cause"]) == ("TIME_LIMIT", words)


GRACEFUL = """
import signal, sys, time
def stop(*_):
    print("saved")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("ready")
time.sleep(600)
"""


def test_a_stop_leaves_the_program_time_to_save(make_replica: Make, containment_mode: str) -> None:
    replica = make_replica(python_task(GRACEFUL), isolation=containment_mode)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.process.send_signal(signal.SIGTERM)
    assert replica.finish()["kind"] == "STOPPED"
    assert replica.api.lines() == ["ready", "saved"]


def test_the_server_can_ask_for_a_stop(make_replica: Make) -> None:
    replica = make_replica(python_task(GRACEFUL, heartbeat_s=0.05))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    replica.api.stop_wanted = True
    assert replica.finish()["kind"] == "STOPPED"


def test_a_stop_before_the_task_is_known(make_replica: Make) -> None:
    replica = make_replica(command_task(["true"]))
    replica.run()
    wait_until((replica.home / "spool").exists, "the supervisor")
    replica.process.send_signal(signal.SIGTERM)
    replica.api.start()
    assert replica.finish()["kind"] == "STOPPED"
    assert replica.api.phases() == ["PREPARING"]


def test_a_home_has_one_supervisor_once(make_replica: Make) -> None:
    replica = make_replica(python_task(GRACEFUL))
    replica.api.start()
    first = replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    assert replica.run().wait(EVENT_S) == 3
    assert replica.sweep() == 3
    first.send_signal(signal.SIGTERM)
    assert first.wait(EVENT_S) == 0
    assert replica.run().wait(EVENT_S) == 3
    assert replica.sweep() == 0
    assert not replica.api.faults


def test_directories_of_a_running_program_stay_in_their_bucket(
    make_replica: Make, tmp_path: Path
) -> None:
    with closing(FolderBuckets(tmp_path / "buckets", SystemClock())) as buckets:
        buckets.create_bucket("stage")
        out = tmp_path / "buckets/stage/job"
        code = "import os, time\nwhile not os.path.exists('enough'): time.sleep(0.01)"
        replica = make_replica(python_task(code, directories=[str(out / "model")]))
        replica.api.start()
        replica.run()
        wait_until(lambda: "RUNNING" in replica.api.phases(), "the program")
        buckets.write("stage", "job/old", [b"x"])
        buckets.delete("stage", "job/old")
        assert (out / "model").is_dir()
        (replica.home / "work/enough").touch()
        replica.finish()
        buckets.write("stage", "job/old", [b"x"])
        buckets.delete("stage", "job/old")
        assert not out.exists()
