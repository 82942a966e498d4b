"""Images as files: made once, by a command without a password in its arguments."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from footplate.containers.apptainer import Apptainer
from footplate.containers.image_files import find_config, have_file
from footplate.containers.images import ImageFailure
from tests.support.http_server import serve
from tests.unit.containers.test_registry import LOGIN, SETTINGS, Registry

FAKE = """\
#!{python}
import json, os, sys
with open({calls!r}, "a") as file:
    file.write(json.dumps([sys.argv[1:], dict(os.environ)]) + "\\n")
fault = {fault!r}
if fault:
    sys.exit(fault)
sys.stderr.write("INFO:    Extracting OCI image...\\n")
with open(sys.argv[-2], "w") as file:
    file.write("squashed")
"""


@dataclass
class Node:
    folder: Path
    registry: Registry

    def command(self, fault: str = "") -> Apptainer:
        path = self.folder / "apptainer"
        calls = str(self.folder / "calls")
        path.write_text(FAKE.format(python=sys.executable, calls=calls, fault=fault))
        path.chmod(0o755)
        return Apptainer(str(path), "apptainer version 1.4.5")

    @property
    def calls(self) -> list[tuple[list[str], dict[str, str]]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    @property
    def image(self) -> str:
        return f"{self.registry.host}/team/model:1"

    @property
    def cache(self) -> str:
        return str(self.folder / "sif")

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": "/usr/bin:/bin"}

    def log_in(self) -> None:
        auth = base64.b64encode(":".join(LOGIN).encode()).decode()
        self.registry.realm = f"http://{self.registry.host}/token"
        (self.folder / ".docker").mkdir()
        config = {"auths": {self.registry.host: {"auth": auth}}}
        (self.folder / ".docker" / "config.json").write_text(json.dumps(config))


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    registry = Registry()
    with serve(registry.app) as url:
        registry.host = url.removeprefix("http://")
        yield Node(tmp_path, registry)


def test_an_image_is_downloaded_once_by_its_digest(
    node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    image = find_config(node.image, node.cache, "amd64", node.environment)
    assert image.config == SETTINGS
    place = have_file(node.command(), image, node.cache, node.environment)
    assert Path(place).read_text() == "squashed"
    assert node.registry.image.partition(":")[2] in place
    assert have_file(node.command(), image, node.cache, node.environment) == place
    [(words, environment)] = node.calls
    assert words[-1] == f"docker://{node.registry.host}/team/model@{node.registry.image}"
    assert environment["APPTAINER_NOHTTPS"] == "1", "the registry is on this machine"
    assert '"m": "pulls' in capsys.readouterr().out


def test_a_known_image_needs_no_registry(node: Node) -> None:
    image = find_config(node.image, node.cache, "amd64", node.environment)
    have_file(node.command(), image, node.cache, node.environment)
    node.registry.blobs.clear()
    assert find_config(image.reference, node.cache, "amd64", node.environment) == image


def test_a_password_is_in_no_argument(node: Node) -> None:
    node.log_in()
    image = find_config(node.image, node.cache, "amd64", node.environment)
    have_file(node.command(), image, node.cache, node.environment)
    [(words, environment)] = node.calls
    assert not any(LOGIN[1] in word for word in words)
    assert environment["APPTAINER_DOCKER_USERNAME"] == LOGIN[0]
    assert environment["APPTAINER_DOCKER_PASSWORD"] == LOGIN[1]


def test_a_missing_login_names_the_command_that_helps(node: Node) -> None:
    node.registry.realm = f"http://{node.registry.host}/token"
    with pytest.raises(ImageFailure, match=f"run `docker login {node.registry.host}`"):
        find_config(node.image, node.cache, "amd64", node.environment)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("FATAL:   While making image: disk quota exceeded", "sif has no space for"),
        ("FATAL:   While making image: mksquashfs not found", "While making image: mksquashfs"),
    ],
)
def test_a_failed_download_leaves_nothing_and_says_why(node: Node, said: str, shown: str) -> None:
    image = find_config(node.image, node.cache, "amd64", node.environment)
    with pytest.raises(ImageFailure, match=shown):
        have_file(node.command(said), image, node.cache, node.environment)
    assert not list(Path(node.cache).glob("*.sif*"))
    assert have_file(node.command(), image, node.cache, node.environment)


def test_what_a_killed_download_has_left_is_removed_by_the_next(node: Node) -> None:
    image = find_config(node.image, node.cache, "amd64", node.environment)
    place = Path(have_file(node.command(), image, node.cache, node.environment))
    [(words, environment)] = node.calls
    part, tmp = Path(words[-2]), Path(environment["APPTAINER_TMPDIR"])
    assert not tmp.exists()
    assert not part.exists()
    for left in (tmp / "build-temp-1" / "rootfs", part):
        left.parent.mkdir(parents=True, exist_ok=True)
        left.touch()
    place.unlink()
    have_file(node.command(), image, node.cache, node.environment)
    assert not tmp.exists()
    assert not part.exists()


def test_other_names_than_those_of_images_are_refused(node: Node) -> None:
    with pytest.raises(ImageFailure, match="names no image"):
        find_config("oras://x y", node.cache, "amd64", node.environment)
