"""Buckets that are bound to folders elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from footplate.backends.region_bindings import RegionBinding
from footplate.buckets.bindings import (
    BucketBinding,
    RemoteTarget,
    check_folders,
    read_bindings,
)
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import (
    AlreadyExists,
    FailedPrecondition,
    InvalidArgument,
    PermissionDenied,
    Unavailable,
)
from footplate.domain.names import GcsUri
from footplate.ports.object_storage import Checksums, Draft
from footplate.server import remote_buckets
from footplate.server.clock import SystemClock
from footplate.server.credential_files import find_credential_files
from footplate.server.remote_buckets import open_remotes


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "srv"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "b.txt").write_text("there")
    return folder


def bind(tmp_path: Path, *bindings: BucketBinding) -> FolderBuckets:
    return FolderBuckets(tmp_path / "data" / "buckets", SystemClock(), bindings=bindings)


@pytest.fixture
def read_only(tmp_path: Path, target: Path) -> Iterator[FolderBuckets]:
    made = bind(tmp_path, BucketBinding("data", str(target), read_only=True))
    yield made
    made.close()


@pytest.fixture
def buckets(tmp_path: Path, target: Path) -> Iterator[FolderBuckets]:
    made = bind(tmp_path, BucketBinding("data", str(target)))
    yield made
    made.close()


def test_what_lies_in_the_folder_is_in_the_bucket(buckets: FolderBuckets, target: Path) -> None:
    (bucket,) = buckets.buckets()
    assert (bucket.name, bucket.target, bucket.read_only) == ("data", str(target), False)
    assert [found.name for found in buckets.list("data").objects] == ["a/b.txt"]
    assert buckets.local_path(GcsUri("data", "a/b.txt")) == target / "a" / "b.txt"
    buckets.write("data", "c/d", [b"new"])
    assert (target / "c" / "d").read_bytes() == b"new"
    assert sorted(path.name for path in target.iterdir()) == ["a", "c"]


def test_one_to_read_refuses_every_write(read_only: FolderBuckets, target: Path) -> None:
    draft = Draft("data", "a/b.txt")
    for write in (
        lambda: read_only.write("data", "new", [b"x"]),
        lambda: read_only.update(draft),
        lambda: read_only.delete("data", "a/b.txt"),
        lambda: read_only.begin_upload(draft),
    ):
        with pytest.raises(PermissionDenied, match=r"'data' is read-only.*read_only"):
            write()
    assert read_only.bucket("data").read_only
    with read_only.read("data", "a/b.txt") as file:
        assert file.read() == b"there"
    assert [path.name for path in target.iterdir()] == ["a"]


def test_an_upload_that_outlives_its_right_to_write(tmp_path: Path, target: Path) -> None:
    before = bind(tmp_path, BucketBinding("data", str(target)))
    upload_id = before.begin_upload(Draft("data", "late"))
    before.append(upload_id, 0, [b"x"])
    before.close()
    after = bind(tmp_path, BucketBinding("data", str(target), read_only=True))
    with pytest.raises(PermissionDenied):
        after.finish_upload(upload_id, Checksums())
    after.close()
    assert not (target / "late").exists()


def test_no_call_makes_or_deletes_it(buckets: FolderBuckets, target: Path) -> None:
    with pytest.raises(AlreadyExists):
        buckets.create_bucket("data")
    buckets.delete("data", "a/b.txt")
    with pytest.raises(FailedPrecondition, match="remove its entry from the setting buckets"):
        buckets.delete_bucket("data")
    assert target.is_dir()


def test_a_folder_that_goes_away_is_no_missing_bucket(buckets: FolderBuckets, target: Path) -> None:
    target.rename(target.with_name("moved"))
    assert buckets.bucket("data").target == str(target)
    assert [bucket.name for bucket in buckets.buckets()] == ["data"]
    with pytest.raises(Unavailable, match=f"bound to the path {target}, which is not a folder now"):
        buckets.list("data")
    with pytest.raises(Unavailable):
        buckets.write("data", "x", [b""])


def die_while_uploading(buckets: FolderBuckets, target: Path) -> Path:
    """The temporary file of a server that was killed."""

    def chunks() -> Iterator[bytes]:
        yield b"half"
        (left,) = target.glob(".footplate-upload-*")
        record = next((target.parent / "data/buckets/.footplate/staged-outside").iterdir())
        copies = [(path, path.read_bytes()) for path in (left, record)]
        kept.extend(copies)

    kept: list[tuple[Path, bytes]] = []
    buckets.write("data", "a/b.txt", chunks())
    buckets.close()
    for path, content in kept:
        path.write_bytes(content)
    return kept[0][0]


def test_what_a_dead_server_left_is_no_object_and_goes(tmp_path: Path, target: Path) -> None:
    left = die_while_uploading(bind(tmp_path, BucketBinding("data", str(target))), target)
    reader = bind(tmp_path, BucketBinding("data", str(target), read_only=True))
    assert [found.name for found in reader.list("data").objects] == ["a/b.txt"]
    reader.close()
    assert left.exists()
    bind(tmp_path, BucketBinding("data", str(target))).close()
    assert not left.exists()


def test_objects_named_like_temporary_files_are_objects(tmp_path: Path, target: Path) -> None:
    name = ".footplate-upload-0123"
    (target / name).write_text("by others")
    buckets = bind(tmp_path, BucketBinding("data", str(target)))
    buckets.create_bucket("own")
    for bucket in ("data", "own"):
        buckets.write(bucket, f"{name}4", [b"by the API"])
    assert [found.name for found in buckets.list("data").objects] == [name, f"{name}4", "a/b.txt"]
    assert [found.name for found in buckets.list("own").objects] == [f"{name}4"]
    buckets.close()
    bind(tmp_path, BucketBinding("data", str(target))).close()
    assert (target / name).exists()


def test_the_project_comes_from_the_entry_or_stays(tmp_path: Path, target: Path) -> None:
    for project, found in ((None, None), ("ads", "ads"), (None, "ads"), ("ops", "ops")):
        buckets = bind(tmp_path, BucketBinding("data", str(target), project=project))
        assert buckets.bucket("data").project == found
        buckets.close()


def test_without_its_entry_it_is_gone_and_the_folder_stays(tmp_path: Path, target: Path) -> None:
    bind(tmp_path, BucketBinding("data", str(target))).close()
    after = bind(tmp_path)
    assert after.buckets() == ()
    after.close()
    assert (target / "a" / "b.txt").exists()


def test_entries_are_read() -> None:
    tables = [
        {"name": "data", "target": "/srv", "read_only": True},
        {"name": "own", "target": "~/x"},
    ]
    assert read_bindings(tables) == (
        BucketBinding("data", "/srv", read_only=True),
        BucketBinding("own", "~/x"),
    )


@pytest.mark.parametrize(
    ("table", "field", "said"),
    [
        ({"target": "/srv"}, "name", "required"),
        ({"name": "Data", "target": "/srv"}, "name", "'Data' can't be the name of a bucket"),
        ({"name": 7, "target": "/srv"}, "name", "7 given"),
        ({"name": "data"}, "target", "required; allowed: an absolute path"),
        ({"name": "data", "target": "srv"}, "target", "'srv' given; allowed: an absolute path"),
        ({"name": "data", "target": "s3:/x"}, "target", "s3://BUCKET/PREFIX"),
        ({"name": "data", "target": "gs://buc", "endpoint": "b"}, "endpoint", "allowed: a URL"),
        (
            {"name": "data", "target": "/s", "endpoint": "http://b"},
            "endpoint",
            "only with a target",
        ),
        ({"name": "data", "target": "/s", "read_only": 1}, "read_only", "1 given; allowed: true"),
        ({"name": "data", "target": "/s", "project": ""}, "project", "'' given"),
        ({"name": "data", "target": "/s", "readonly": True}, "readonly", "did you mean read_only?"),
    ],
)
def test_a_wrong_entry_names_its_key(table: dict[str, object], field: str, said: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read_bindings([{"name": "first", "target": "/first"}, table])
    (violation,) = caught.value.violations
    assert violation.field == f"buckets[1].{field}"
    assert said in violation.description


def test_a_name_is_given_once() -> None:
    table = {"name": "data", "target": "/srv"}
    with pytest.raises(
        InvalidArgument, match=r"buckets\[1\]\.name: 'data' is already the name of buckets\[0\]"
    ):
        read_bindings([table, {**table, "target": "/other"}])


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("s3://b.c", RemoteTarget("s3", "b.c", "")),
        ("s3://bucket/", RemoteTarget("s3", "bucket", "")),
        ("gs://bucket/a/b", RemoteTarget("gs", "bucket", "a/b/")),
        ("gs://bucket/a/b//", RemoteTarget("gs", "bucket", "a/b/")),
        ("/s3://bucket", None),
    ],
)
def test_a_target_is_a_folder_or_a_store(target: str, found: RemoteTarget | None) -> None:
    (binding,) = read_bindings([{"name": "data", "target": target}])
    assert binding.remote == found
    assert (binding.folder is None) == (found is not None)


@pytest.mark.parametrize(
    ("target", "module", "extra"),
    [("s3://bucket", "boto3", "s3"), ("gs://bucket", "google", "gcs")],
)
def test_a_store_whose_packages_are_missing(
    monkeypatch: pytest.MonkeyPatch, target: str, module: str, extra: str
) -> None:
    def refuse(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(remote_buckets, "import_module", refuse)
    with pytest.raises(InvalidArgument, match=rf"buckets\[0\]\.target: .*'footplate\[{extra}\]'"):
        open_remotes((BucketBinding("data", target),))


def test_the_places_of_credentials_are_those_of_the_stores_in_use() -> None:
    environ = {
        "HOME": "/home/ada",
        "AWS_CONFIG_FILE": "/etc/aws",
        "GOOGLE_APPLICATION_CREDENTIALS": "/etc/key.json",
    }
    s3, gs = BucketBinding("one", "s3://bucket"), BucketBinding("two", "gs://bucket")
    assert find_credential_files((BucketBinding("data", "/srv"),), environ) == ([], [])
    assert find_credential_files((s3,), environ) == ([Path("/home/ada/.aws")], [Path("/etc/aws")])
    assert find_credential_files((gs,), {**environ, "CLOUDSDK_CONFIG": "/cfg"}) == (
        [Path("/home/ada/.config/gcloud"), Path("/cfg")],
        [Path("/etc/key.json")],
    )


def test_the_credentials_of_engines_are_hidden_as_well() -> None:
    pods = RegionBinding("asia-east1", "kubernetes", kubeconfig="/etc/kubeconfig")
    slurm = RegionBinding("europe-west4", "slurm", slurmrestd="unix:/s", token_file="/etc/jwt")
    found = find_credential_files((), {}, (pods, slurm, RegionBinding("us-east1", "ray")))
    assert found == ([], [Path("/etc/kubeconfig"), Path("/etc/jwt")])


@pytest.mark.parametrize("value", [3, [3], {"name": "data"}])
def test_entries_are_tables(value: object) -> None:
    with pytest.raises(TypeError, match="tables in footplate"):
        read_bindings(value)


def test_folders_that_can_be_no_buckets(tmp_path: Path, target: Path) -> None:
    data = tmp_path / "data"
    for name in ("inside", "buckets/plain"):
        (data / name).mkdir(parents=True)
    bindings = (
        BucketBinding("missing", str(tmp_path / "nowhere")),
        BucketBinding("inner", str(data / "inside")),
        BucketBinding("outer", str(tmp_path)),
        BucketBinding("plain", str(target)),
        BucketBinding("nested", str(target / "a")),
    )
    with pytest.raises(InvalidArgument) as caught:
        check_folders(bindings, data)
    found = {violation.field: violation.description for violation in caught.value.violations}
    assert "is not a folder of this machine; make it" in found["buckets[0].target"]
    assert "overlaps the data directory" in found["buckets[1].target"]
    assert "overlaps the data directory" in found["buckets[2].target"]
    assert "the data directory has a bucket of that name" in found["buckets[3].name"]
    assert "the folder of another bucket" in found["buckets[4].target"]
    check_folders((BucketBinding("data", str(target)),), data)
