"""The command lines of Apptainer and SingularityCE: nothing of a user's may become an option."""

from __future__ import annotations

import csv
import io
import os

import pytest

from footplate.containers.apptainer import Apptainer, find_unusable

APPTAINER = Apptainer("/usr/bin/apptainer", "apptainer version 1.4.5")
SINGULARITY = Apptainer("/usr/bin/singularity", "singularity-ce version 4.1.5")
LOGIN = ("ada", "pass word")


def compose(command: Apptainer, *mounts: tuple[str, str, bool], gpus: bool = False) -> list[str]:
    given = [{"Source": a, "Target": b, "ReadOnly": only} for a, b, only in mounts]
    places = {"workdir": "/app", "home": "/root", "written": "/scratch/root"}
    argv = ["--nv", "a,b", "$x", ""]
    return command.compose_command("/cache/image.sif", argv, given, **places, gpus=gpus)


def test_a_program_and_its_arguments_come_after_the_image() -> None:
    words = compose(APPTAINER)
    assert words[:3] == ["/usr/bin/apptainer", "--silent", "exec"]
    assert words[-5:] == ["/cache/image.sif", "--nv", "a,b", "$x", ""]
    assert {"--containall", "--cleanenv", "--no-eval", "--no-home"} < set(words)
    assert words[words.index("--overlay") + 1] == "/scratch/root"
    assert words[words.index("--pwd") + 1] == "/app"


def test_paths_of_mounts_may_have_all_characters() -> None:
    words = compose(APPTAINER, ('/data/a,ro"b', "/gcs/a,b", False), ("/data/c", "/gcs/c", True))
    found = [words[index + 1] for index, word in enumerate(words) if word == "--mount"][:2]
    assert [next(csv.reader(io.StringIO(text))) for text in found] == [
        ["type=bind", 'source=/data/a,ro"b', "destination=/gcs/a,b"],
        ["type=bind", "source=/data/c", "destination=/gcs/c", "ro"],
    ]


def test_root_of_the_node_keeps_few_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    words = compose(APPTAINER)
    assert "--no-privs" in words
    assert "CAP_SYS_ADMIN" not in words[words.index("--add-caps") + 1]
    assert "--fakeroot" not in words


def test_other_users_are_root_inside_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert {"--fakeroot", "--ignore-subuid"} < set(compose(APPTAINER))
    assert "--fakeroot" in compose(SINGULARITY)
    assert "--ignore-subuid" not in compose(SINGULARITY), "it has no such option"


def test_without_fuse_the_image_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "--unsquash" in compose(APPTAINER)
    assert "--tmp-sandbox" in compose(SINGULARITY)


def test_gpus_are_those_of_the_maker_that_the_node_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not {"--nv", "--rocm"} & set(compose(APPTAINER)[:-5])
    monkeypatch.setattr(os.path, "exists", lambda _: False)
    assert "--nv" in compose(APPTAINER, gpus=True)[:-5]
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/dev/kfd")
    assert "--rocm" in compose(APPTAINER, gpus=True)[:-5]


@pytest.mark.parametrize(
    ("command", "prefix"), [(APPTAINER, "APPTAINER"), (SINGULARITY, "SINGULARITY")]
)
def test_values_travel_in_the_environment(command: Apptainer, prefix: str) -> None:
    variables = {"A": "$(id)\n", "HOME": "/here", "a.b": "1", "LD_PRELOAD": "/x.so"}
    host = {"PATH": "/bin", "HOME": "/home/ml", "APPTAINER_BIND": "/", "TOKEN": "secret"}
    assert command.compose_environment(variables, host, "/tmp/x") == {
        "PATH": "/bin",
        "HOME": "/home/ml",
        f"{prefix}_TMPDIR": "/tmp/x",
        f"{prefix}ENV_A": "$(id)\n",
        f"{prefix}ENV_LD_PRELOAD": "/x.so",
    }
    assert find_unusable(variables) == ["a.b"]


def test_a_login_is_in_no_argument() -> None:
    words = APPTAINER.compose_pull("example.com/a/b@sha256:0", "/cache/x.sif")
    assert words[-1] == "docker://example.com/a/b@sha256:0"
    assert not set(LOGIN) & set(words)
    found = APPTAINER.compose_pull_environment("/cache", LOGIN, {"PATH": "/bin"}, plain_http=True)
    assert found == {
        "PATH": "/bin",
        "APPTAINER_TMPDIR": "/cache",
        "APPTAINER_DOCKER_USERNAME": "ada",
        "APPTAINER_DOCKER_PASSWORD": "pass word",
        "APPTAINER_NOHTTPS": "1",
    }
