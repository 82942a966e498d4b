"""The real gcloud, as it is found on PATH, pointed at a real server."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from tests.support.forked_process import run_forked
from tests.support.gcloud import find_gcloud

MEBIBYTE = 1 << 20
Gcloud = Callable[..., str]


@pytest.fixture
def gcloud(url: str, tmp_path: Path) -> Gcloud:
    program = find_gcloud()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
        "CLOUDSDK_CORE_PROJECT": "demo",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": f"{url}/storage/v1/",
        "CLOUDSDK_STORAGE_PROCESS_COUNT": "1",
        "CLOUDSDK_STORAGE_RESUMABLE_THRESHOLD": "1M",
        "CLOUDSDK_STORAGE_PARALLEL_COMPOSITE_UPLOAD_THRESHOLD": "4M",
        "CLOUDSDK_STORAGE_PARALLEL_COMPOSITE_UPLOAD_COMPONENT_SIZE": "2M",
    }

    def run(*words: object) -> str:
        command = (program, "--quiet", "storage", *map(str, words))
        done = run_forked(command, env=environment, cwd=tmp_path, timeout=300)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    return run


def test_trees_go_up_and_down(gcloud: Gcloud, buckets: FolderBuckets, tmp_path: Path) -> None:
    contents = {"one": b"1", "sub/ü: 2": b"", "sub/big": os.urandom(3 * MEBIBYTE)}
    for name, content in contents.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_bytes(content)
    gcloud("cp", "--recursive", "tree", "gs://stage/there")
    listed = gcloud("ls", "--recursive", "gs://stage/**").split("\n")
    assert listed[:-1] == [f"gs://stage/there/{name}" for name in sorted(contents)]
    assert gcloud("ls", "gs://stage/there") == "gs://stage/there/one\ngs://stage/there/sub/\n"
    gcloud("rsync", "--recursive", "gs://stage/there", "back")
    for name, content in contents.items():
        assert (tmp_path / "back" / name).read_bytes() == content
    gcloud("mv", "gs://stage/there/one", "gs://stage/moved")
    assert gcloud("cat", "gs://stage/moved") == "1"
    gcloud("rm", "--recursive", "gs://stage/there")
    assert [info.name for info in buckets.list("stage").objects] == ["moved"]


def test_an_upload_in_parallel_parts(
    gcloud: Gcloud, buckets: FolderBuckets, tmp_path: Path
) -> None:
    content = os.urandom(5 * MEBIBYTE)
    (tmp_path / "big").write_bytes(content)
    gcloud("cp", "big", "gs://stage/big")
    with buckets.read("stage", "big") as file:
        assert file.read() == content
    assert [info.name for info in buckets.list("stage").objects] == ["big"]


def test_buckets(gcloud: Gcloud) -> None:
    gcloud("buckets", "create", "gs://made")
    assert gcloud("ls") == "gs://made/\ngs://stage/\n"
    gcloud("buckets", "create", "gs://in-europe", "--location=europe-west4")
    assert "location: EUROPE-WEST4" in gcloud("buckets", "describe", "gs://in-europe")
    gcloud("rm", "--recursive", "gs://made", "gs://in-europe")
    assert gcloud("ls") == "gs://stage/\n"


def test_what_is_not_there_or_cannot_be(gcloud: Gcloud, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(RuntimeError, match="gs://nowhere not found: 404"):
        gcloud("cp", "file", "gs://nowhere/file")
    with pytest.raises(RuntimeError, match="matched no objects"):
        gcloud("cat", "gs://stage/file")
    with pytest.raises(RuntimeError, match="this bucket is a folder"):
        gcloud("cp", "file", "gs://stage/a//b")
