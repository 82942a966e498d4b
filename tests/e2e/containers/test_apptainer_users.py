"""Apptainer as an ordinary user of a node has it: in the namespaces that programs get."""

from __future__ import annotations

import os
import pwd
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import footplate
from footplate.containers.apptainer import Apptainer
from footplate.containers.discovery import ask_version, find_command
from footplate.replica.isolation.procfs import find_below
from tests.support.engines import private_registry, push_archive
from tests.support.engines.apptainer import require_apptainer
from tests.support.engines.leftovers import remove_tree
from tests.support.engines.python_image import LIBRARIES, PATHS, small_python_files
from tests.support.engines.requirements import require_registry
from tests.support.short_folder import short_folder

USER = pwd.getpwnam("games").pw_uid
"""Of any account without rights: Apptainer runs for no user without an account."""
BASE_PYTHON = os.path.realpath(sys.executable)
PROGRAM = """
id -u; echo "$GIVEN"; pwd
for file in /made /root/made /home/trainer/made /usr/bin/made /gcs/b/made; do echo x > $file; done
touch /gcs/only/made 2>/dev/null || echo kept
exit 7
"""


SHELL = """
import os, sys
from footplate.protocol.isolation_record import IsolationRecord
from footplate.replica.isolation.namespace_entry import Entry
from footplate.replica.isolation.procfs import boot_id, find
pid = int(sys.argv[1])
record = IsolationRecord(boot=boot_id(), pid=pid, pid_start=find(pid).start, nested=True)
Entry.find(record).enter()
if os.fork():
    sys.exit(os.WEXITSTATUS(os.wait()[1]))
os.execv("/bin/sh", ["sh", "-c", "id -u; ls /gcs; ps -o args= -p $PPID; ls " + sys.argv[2]])
"""
NAMESPACES = "unshare -U --map-user={user} --map-group={user} -p -f --mount-proc --kill-child"


@dataclass
class User:
    folder: Path
    apptainer: Apptainer
    fuse: bool = True

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def host(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    def start(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        """Starts a command as a supervisor starts programs, with or without a right to
        /dev/fuse.
        """
        device = self.folder / f"fuse-{self.fuse}"
        if not device.exists():
            os.mknod(device, stat.S_IFCHR, os.makedev(10, 229))
            device.chmod(0o666 if self.fuse else 0o600)
        words = f"mount --bind {device} /dev/fuse && cd {self.home} && exec setpriv --reuid={USER}"
        words += f" --regid={USER} --clear-groups --no-new-privs {NAMESPACES.format(user=USER)} "
        return subprocess.Popen(
            ("unshare", "--mount", "sh", "-c", words + shlex.join(command)),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def compose(self, *argv: str) -> tuple[list[str], dict[str, str]]:
        """Returns the command line and the variables of a container."""
        mounts = [
            {"Source": str(self.home / "b"), "Target": "/gcs/b", "ReadOnly": False},
            {"Source": str(self.home / "only"), "Target": "/gcs/only", "ReadOnly": True},
        ]
        places = {"workdir": "/home/trainer", "home": "/root", "written": f"{self.home}/written"}
        image = str(self.folder / "image/image.sif")
        command = self.apptainer.compose_command(image, argv, mounts, **places, gpus=False)
        variables = {"GIVEN": "$(id) `id`", "PATH": "/usr/bin:/bin"}
        return command, self.apptainer.compose_environment(variables, self.host, str(self.home))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Which the user can reach, unlike those of pytest."""
    with short_folder("apptainer") as folder:
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def anyone(folder: Path) -> User:
    """Has made the image's file without rights."""
    require_apptainer()
    require_registry()
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    path = find_command("apptainer", os.environ)
    user = User(folder, Apptainer(path, ask_version(path)))
    for place in (user.home, folder / "image"):
        place.mkdir()
        os.chown(place, USER, USER)
    with private_registry(folder / "registry") as registry:
        settings = {"Env": [PATHS, LIBRARIES]}
        image = push_archive(registry, "trainers/python", small_python_files(), settings)
        tmp = str(folder / "image")
        pull = user.apptainer.compose_pull(image, f"{tmp}/image.sif")
        variables = user.apptainer.compose_pull_environment(tmp, None, user.host, plain_http=True)
        process = user.start(pull, variables)
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return user


@pytest.fixture(params=[True, False], ids=["fuse", "no fuse"])
def user(
    anyone: User, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[User]:
    user = replace(anyone, fuse=bool(request.param))
    monkeypatch.setattr(os, "geteuid", lambda: USER)
    monkeypatch.setattr(os, "access", lambda *_: user.fuse)
    for name in ("written", "b", "only"):
        (user.home / name).mkdir()
        os.chown(user.home / name, USER, USER)
    yield user
    for name in ("written", "b", "only"):
        remove_tree(user.home / name)


def test_an_image_runs_without_rights(user: User) -> None:
    process = user.start(*user.compose("sh", "-c", PROGRAM))
    said, _ = process.communicate(timeout=300)
    assert (process.returncode, said) == (7, "0\n$(id) `id`\n/home/trainer\nkept\n")
    made = user.home / "b" / "made"
    assert (made.read_text(), made.stat().st_uid) == ("x\n", USER)
    assert (user.home / "written/upper/usr/bin/made").exists()


def test_a_shell_enters_the_container_and_not_the_node(user: User) -> None:
    with user.start(*user.compose("sh", "-c", "echo runs; exec sleep 600")) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "runs\n"
            [first] = find_below(process.pid)[:1]
            done = enter(user, first)
        finally:
            process.kill()
    assert done.stdout.splitlines()[:3] == ["0", "b", "only"], done.stderr
    assert "No such file" in done.stderr


def enter(user: User, first: int) -> subprocess.CompletedProcess[str]:
    """Runs SHELL as the user, for the container that the process ``first`` has made."""
    source = str(Path(footplate.__file__).parents[1])
    shell = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
    return subprocess.run(
        (*shell, BASE_PYTHON, "-c", SHELL, str(first), str(user.folder)),
        env={"PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
