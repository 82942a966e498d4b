"""footplate doctor: whole outputs of machines that lack things, and of this one."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from footplate.cli.doctor.assessment import (
    Finding,
    Verdict,
    conclusion,
    jobs_can_run,
    judge_database,
    judge_disk,
    judge_engine,
    judge_gpus,
    judge_isolation,
    judge_port,
    judge_pythons,
    judge_reduction,
)
from footplate.cli.doctor.measurements import examine_buckets
from footplate.containers.discovery import REMEDY
from footplate.settings import load_settings
from tests.support.engines import private_podman
from tests.support.engines.requirements import require_engine
from tests.support.forked_process import run_footplate

PODMAN = {"Components": [{"Name": "Podman Engine"}]}
PODMAN_INFO = {
    "ServerVersion": "4.3.1",
    "Driver": "overlay",
    "CgroupVersion": "2",
    "CgroupDriver": "systemd",
    "SecurityOptions": ["name=seccomp,profile=default", "name=rootless"],
    "DockerRootDir": "/home/ada/.local/share/containers",
}
DOCKER_INFO = {
    "ServerVersion": "28.2.2",
    "Driver": "overlay2",
    "CgroupVersion": "2",
    "CgroupDriver": "systemd",
    "SecurityOptions": [],
    "DockerRootDir": "/docker",
}


def shown(findings: list[Finding]) -> str:
    return "\n".join([*(finding.line() for finding in findings), "", conclusion(findings)])


def test_a_machine_that_has_everything() -> None:
    findings = [
        judge_disk("/srv/footplate", 400 * 10**9, 500 * 10**9, ""),
        judge_isolation({"containment_mode": "cgroup", "reasons": []}, "auto"),
        judge_engine("", DOCKER_INFO, {"Components": [{"Name": "Engine"}]}),
        judge_gpus(["NVIDIA L4", "NVIDIA L4"], (), hidden=False),
        judge_pythons({"3.11": "/usr/bin/python3.11", "3.7": "/opt/py37"}, ""),
        judge_reduction(installed=True),
        judge_port("127.0.0.1", 8470, None, ""),
        judge_database("postgresql://ada:***@db/fp", "PostgreSQL 16.2", ""),
    ]
    assert (
        shown(findings)
        == """\
OK       disk          400.0 of 500.0 GB free for /srv/footplate
OK       isolation     cgroup: the kernel kills all processes of the program by their control \
group; the program sees only its own processes
OK       containers    Docker 28.2.2, root, cgroups v2 (systemd), storage overlay2 in /docker
OK       gpus          2 NVIDIA L4
OK       python        3.7, 3.11 for packages
OK       reduction     reduction servers can run
OK       port          port 8470 of 127.0.0.1 is free
OK       database      PostgreSQL 16.2 at postgresql://ada:***@db/fp

Jobs can run here."""
    )


def test_a_machine_that_lacks_things_names_each_way_out() -> None:
    rootless = {**PODMAN_INFO, "CgroupVersion": "1", "CgroupDriver": "cgroupfs"}
    findings = [
        judge_disk("/home/ada/fp", 2 * 10**9, 20 * 10**9, ""),
        judge_isolation({"containment_mode": "subreaper", "reasons": ["no unshare"]}, "auto"),
        judge_engine(f"the server found no container engine on this machine; {REMEDY}", {}, {}),
        judge_engine("", rootless, PODMAN),
        judge_engine("", {**PODMAN_INFO, "Driver": "vfs"}, PODMAN),
        judge_gpus([], ["the server can't identify its GPUs"], hidden=True),
        judge_pythons({"3.11": "/usr/bin/python3.11", "3.10": None, "3.7": None}, ""),
        judge_pythons({"3.11": None}, ""),
        judge_reduction(installed=False),
    ]
    assert (
        shown(findings)
        == f"""\
LIMITED  disk          2.0 of 20.0 GB free for /home/ada/fp: a runtime with PyTorch takes up to \
5 GB; remove files, or set cache_dir to another disk
LIMITED  isolation     subreaper: all processes of the program are killed; if the supervisor was \
killed before, only processes that still have its variable in their environment; not guaranteed: \
the program sees all processes, and can signal those of its user; memory and CPU can't be \
limited (no unshare); install util-linux, or run the service as root
LIMITED  containers    container images can't run: the server found no container engine on this \
machine; {REMEDY}
LIMITED  containers    Podman 4.3.1, rootless, cgroups v1 (cgroupfs), storage overlay in \
/home/ada/.local/share/containers: the engine can't limit CPUs and memory; start the machine with \
cgroups v2 (systemd.unified_cgroup_hierarchy=1)
LIMITED  containers    Podman 4.3.1, rootless, cgroups v2 (systemd), storage vfs in \
/home/ada/.local/share/containers: vfs copies the image for each container; install \
fuse-overlayfs, or use a filesystem that has overlay
LIMITED  gpus          this machine has no GPUs; in emulate mode, jobs that ask for GPUs run \
without them; the server can't identify its GPUs
LIMITED  python        3.11 for packages; not 3.7, 3.10; uv python install 3.7 3.10
LIMITED  python        this machine has no Python 3.11, which Python packages need; jobs with a \
container image don't; uv python install 3.11
LIMITED  reduction     jobs with reduction servers can't run: the package footplate-reduction \
isn't installed with its C++ library; install g++, then run pip install ./reduction in \
the clone of Footplate

Jobs can run here, with limits: see disk, isolation, containers, containers, containers, gpus, \
python, python, reduction."""
    )


def test_what_no_job_can_run_without_fails() -> None:
    findings = [
        judge_disk("/data", 10, 100, "this user may not write to /data"),
        judge_disk("/data", 10**6, 10**9, ""),
        judge_isolation({"containment_mode": "", "reasons": ["no cgroup here"]}, "cgroup"),
        judge_port("127.0.0.1", 80, None, "port: 80 given: this user may not listen there"),
        judge_database("postgresql://db/fp", "", "connection refused"),
    ]
    assert {finding.verdict for finding in findings} == {Verdict.FAILED}
    assert not jobs_can_run(findings)
    assert (
        shown(findings)
        == """\
FAILED   disk          /data: this user may not write to /data; choose another directory \
with --data-dir or FOOTPLATE_DATA_DIR
FAILED   disk          0.0 of 1.0 GB free for /data; remove files, or choose another --data-dir
FAILED   isolation     no cgroup here; set isolation = auto
FAILED   port          port: 80 given: this user may not listen there
FAILED   database      postgresql://db/fp: connection refused; start the database, or correct the \
setting database_url

No job can run here: see disk, disk, isolation, port, database."""
    )


def doctor(tmp_path: Path, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    inherited = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    data = {"FOOTPLATE_DATA_DIR": str(tmp_path / "data"), "FOOTPLATE_CONTAINER_ENGINE": "none"}
    variables = {**inherited, **data, "FOOTPLATE_PORT": "0", **environ}
    return run_footplate("doctor", *options, env=variables, timeout=120)


def test_this_machine_can_run_jobs(tmp_path: Path) -> None:
    done = doctor(tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["jobsCanRun"] is True
    parts = {finding["part"]: finding for finding in told["findings"]}
    assert list(parts) == [
        "disk", "isolation", "containers", "gpus", "python", "reduction", "port", "database",
    ]  # fmt: skip
    assert parts["containers"] == {
        "part": "containers",
        "verdict": "LIMITED",
        "text": (
            "container images can't run: the setting container_engine is none; set it to a "
            "socket's path"
        ),
    }


def test_bound_buckets_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "srv").mkdir()
    (tmp_path / "data").mkdir()
    table = f'[[buckets]]\nname = "data"\ntarget = "{tmp_path}/srv"\nread_only = true\n'
    (tmp_path / "data" / "footplate.toml").write_text(table)
    settings = load_settings({}, {"data_dir": tmp_path / "data"})
    finding = examine_buckets(settings)
    assert (finding.verdict, finding.text) == (
        Verdict.OK,
        f"data is {tmp_path}/srv (read-only)",
    )
    (tmp_path / "srv").rmdir()
    finding = examine_buckets(settings)
    assert finding.verdict == Verdict.FAILED
    assert "is not a folder of this machine" in finding.text


def test_a_store_that_is_away_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "made-up")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
    table = f'[[buckets]]\nname = "data"\ntarget = "s3://real"\nendpoint = "{endpoint}"\n'
    (tmp_path / "footplate.toml").write_text(table)
    finding = examine_buckets(load_settings({}, {"data_dir": tmp_path}))
    assert finding.verdict == Verdict.LIMITED
    assert "s3://real doesn't answer now" in finding.text


def test_the_exit_code_says_that_no_job_can_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    url = "postgresql+psycopg://ada:secret@127.0.0.1:1/fp"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = doctor(tmp_path, FOOTPLATE_PORT=port, FOOTPLATE_DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert f"FAILED   port          port: {port} given: another program listens" in done.stdout
    assert any(
        line.startswith("FAILED   database      postgresql+psycopg://ada:***@") for line in lines
    )
    assert "secret" not in done.stdout
    assert lines[-1] == "No job can run here: see port, database."
    nowhere = doctor(tmp_path, f"--data-dir={tmp_path}/file/data")
    assert nowhere.returncode == 1
    assert "Traceback" not in nowhere.stderr
    assert "FAILED " in nowhere.stdout or "Not a directory" in nowhere.stderr


def test_a_real_engine_is_described(tmp_path: Path) -> None:
    require_engine("podman")
    with private_podman(tmp_path / "podman") as engine:
        done = doctor(tmp_path, FOOTPLATE_CONTAINER_ENGINE=str(engine.socket))
    line = next(line for line in done.stdout.splitlines() if " containers " in line)
    assert line.startswith("OK       containers    Podman ")
    assert ", root, cgroups v" in line
    assert line.endswith(f"storage overlay in {tmp_path}/podman/graph")
