"""A backup is the data directory of one moment, and a restored directory is like the original."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.backup import Made, check, files, find_newest, make_backup, prune, restore
from footplate.backup.manifest import read_manifest
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import DataLoss, FailedPrecondition, InvalidArgument
from footplate.domain.names import JobUid
from footplate.ports.object_storage import Draft
from footplate.server.clock import SystemClock
from footplate.server.data_dir import SQLITE, DataDir
from footplate.settings import load_settings
from footplate.store import open_store
from tests.support.jobs import make_job

OWN = {"audit.jsonl": "{}\n", "certificate_authority.pem": "key", "footplate.toml": 'token = "x"'}
LOG = "logs/u1.jsonl"
CHANGING = {"replicas", "servers", "footplate.lock", "footplate.db-wal", "footplate.db-shm"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """What a server has kept, as it is after `kill -9`."""
    data_dir = DataDir(tmp_path / "data")
    data_dir.make()
    data_dir.secret()
    data_dir.settle(data_dir.identity(), SQLITE)
    store = open_store(f"sqlite:///{data_dir.database_file}")
    store.create(make_job("projects/p/jobs/j1", uid="u1"), ())
    store.close()
    for name, content in OWN.items():
        (data_dir.root / name).write_text(content)
        (data_dir.root / name).chmod(0o600)
    (data_dir.root / LOG).write_text("line\n")
    (data_dir.root / "cache").mkdir()
    (data_dir.root / "cache/environment").touch()
    with opened(data_dir.root) as buckets:
        buckets.create_bucket("stage", project="ads")
        buckets.put(Draft("stage", "m/model", "application/x-model", {"owner": "ann"}), [b"hello"])
        buckets.put(Draft("stage", "folder/", "text/x-folder", {"k": "v"}), [])
    written = data_dir.buckets / "stage/by-a-program"
    written.write_bytes(b"written")
    written.chmod(0o750)
    os.utime(written, ns=(1, 1_000_000_000_000_000_001))
    (data_dir.buckets / "stage/link").symlink_to("by-a-program")
    return data_dir.root


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def opened(root: Path) -> closing[FolderBuckets]:
    return closing(FolderBuckets(root / "buckets", SystemClock()))


def back_up(data: Path, backups: Path) -> Made:
    return make_backup(load_settings({}, {"data_dir": str(data)}), backups, lambda _: None)


def restored(backups: Path, tmp_path: Path, name: str = "restored") -> Path:
    restore(find_newest(backups), tmp_path / name, lambda _: None)
    return tmp_path / name


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """All that a file system says of each file, but for the databases."""
    return {path: seen for path, seen in _describe(root) if path.split("/")[0] not in CHANGING}


def _describe(root: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    for path in root.rglob("*"):
        name, status = str(path.relative_to(root)), path.lstat()
        if ".footplate" in name or name.startswith(("cache", "footplate.db")):
            continue
        content: object = ""
        if path.is_symlink():
            content = path.readlink()
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        yield name, (status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, content)


def test_a_restored_directory_is_like_the_original(
    data: Path, backups: Path, tmp_path: Path
) -> None:
    with opened(data) as buckets:
        before = buckets.list("stage").objects
    made = back_up(data, backups)
    root = restored(backups, tmp_path)
    assert made.skipped == {}
    assert tree(root) == {path: s for path, s in tree(data).items() if path != "replicas"}
    with closing(open_store(f"sqlite:///{root}/footplate.db")) as store:
        assert store.get_by_uid(JobUid("u1")).name.job_id == "j1"
    with opened(root) as buckets:
        assert buckets.list("stage").objects == before
        assert buckets.bucket("stage").project == "ads"
    assert not (root / "cache").exists()
    assert stat.S_IMODE((root / "footplate.db").stat().st_mode) == 0o600
    DataDir(root).make()


def test_only_its_owner_can_read_a_backup(data: Path, backups: Path) -> None:
    (data / "buckets/stage/by-a-program").chmod(0o666)
    back_up(data, backups)
    modes = {path.stat().st_mode & 0o077 for path in (backups, *backups.rglob("*"))}
    assert modes == {0}


def test_a_second_backup_copies_what_has_changed(data: Path, backups: Path, tmp_path: Path) -> None:
    first = back_up(data, backups)
    path = data / "buckets/stage/by-a-program"
    status = path.stat()
    path.write_bytes(b"WRITTEN")  # of the same size and time
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    (data / "buckets/stage/link").unlink()
    second = back_up(data, backups)
    same = [folder / "data/buckets/stage/m/model" for folder in (first.folder, second.folder)]
    assert same[0].samefile(same[1])
    databases = {"footplate.db", "objects.db"}
    new = [p for p in second.folder.rglob("*") if p.is_file() and p.stat().st_nlink == 1]
    assert {p.name for p in new} == {*databases, "by-a-program", "manifest.jsonl"}
    assert second.new_files == 3
    root = restored(backups, tmp_path)
    assert (root / "buckets/stage/by-a-program").read_bytes() == b"WRITTEN"
    assert not (root / "buckets/stage/link").is_symlink()
    root = restored(first.folder, tmp_path, "first")
    assert (root / "buckets/stage/by-a-program").read_bytes() == b"written"
    assert prune(backups, 1) == [first.folder]
    assert find_newest(backups) == second.folder


def test_an_object_that_is_replaced_meanwhile_is_as_its_record_says(
    data: Path, backups: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first look at the files, the copy of the records, and the second look."""
    model = data / "buckets/stage/m/model"
    put = Draft("stage", "m/model", "text/plain", {"at": "second"})
    late = Draft("stage", "late", "text/plain", {"at": "late"})
    looks = 0
    walk = files.walk

    def interrupted(*args: object) -> Iterator[files.Found]:
        nonlocal looks
        looks += 1
        if looks == 2:  # the records have been copied
            with opened(data) as buckets:
                buckets.put(put, [b"newer"])
                buckets.put(late, [b"late"])
                buckets.delete("stage", "folder/")
        yield from walk(*args)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr("footplate.backup.snapshot.walk", interrupted)
    back_up(data, backups)
    assert looks == 2
    assert model.read_bytes() == b"newer"
    with opened(restored(backups, tmp_path)) as buckets:
        info, file = buckets.open("stage", "m/model")
        with file:
            assert file.read() == b"hello"
        assert (info.content_type, info.metadata) == ("application/x-model", {"owner": "ann"})
        assert buckets.stat("stage", "late").size_bytes == 4


def test_nothing_that_a_program_puts_there_leads_out_or_stops_it(
    data: Path, backups: Path, tmp_path: Path
) -> None:
    stage = data / "buckets/stage"
    (stage / "out").symlink_to("/etc")
    os.mkfifo(stage / "pipe")
    deep = stage
    for _ in range(files.MAX_LEVELS + 5):
        deep = deep / "d"
        if len(str(deep)) < 3000:
            deep.mkdir()
    with (stage / "sparse").open("wb") as file:
        file.truncate(1 << 40)
        file.seek(1 << 30)
        file.write(b"x")
    (stage / os.fsdecode(b"\xff\n")).write_bytes(b"odd")
    made = back_up(data, backups)
    assert made.skipped["buckets/stage/pipe"] == "this is neither a file nor a folder nor a link"
    assert len(made.skipped) == 2
    root = restored(backups, tmp_path)
    assert (root / "buckets/stage/out").readlink() == Path("/etc")
    sparse = (root / "buckets/stage/sparse").stat()
    assert sparse.st_size == 1 << 40
    assert sparse.st_blocks * 512 < 8 << 20
    assert (root / os.fsdecode(b"buckets/stage/\xff\n")).read_bytes() == b"odd"


def test_what_becomes_a_link_meanwhile_is_not_followed(data: Path, backups: Path) -> None:
    secret = data.parent / "secret-of-root"
    secret.mkdir()
    (secret / "key").write_text("secret")
    paths = []
    for found in files.walk(data / "buckets", lambda _: True):
        paths.append(found.path)
        if found.path == "stage/by-a-program":
            _replace(data / "buckets/stage/by-a-program", secret / "key")
            with pytest.raises(files.UnfitError):
                files.copy(found, backups)
        if found.path == "stage/m":
            _replace(data / "buckets/stage/m", secret)
            with pytest.raises(files.UnfitError):
                files.describe(found)
    assert "stage/m" in paths
    assert "stage/m/key" not in paths


def _replace(path: Path, target: Path) -> None:
    path.rename(path.parents[2] / f"moved-{path.name}")
    path.symlink_to(target)


def test_a_damaged_backup_is_noticed(data: Path, backups: Path, tmp_path: Path) -> None:
    made = back_up(data, backups)
    assert check(made.folder, lambda _: None).damaged == ()
    path = made.folder / "data/buckets/stage/m/model"
    path.write_bytes(b"jello")
    assert check(made.folder, lambda _: None).damaged == ("buckets/stage/m/model",)
    with pytest.raises(DataLoss, match="--skip-damaged"):
        restored(backups, tmp_path)
    with pytest.raises(FailedPrecondition, match="was complete"):
        DataDir(tmp_path / "restored").make()
    done = restore(made.folder, tmp_path / "most", lambda _: None, skip_damaged=True)
    assert done.damaged == ("buckets/stage/m/model",)
    assert (tmp_path / "most" / LOG).exists()
    DataDir(tmp_path / "most").make()


@pytest.mark.parametrize(
    ("path", "other"),
    [("logs", "../logs"), ("logs", "/logs"), (LOG, "logs/../../x"), (LOG, "buckets/stage/link/x")],
)
def test_a_list_of_files_that_leads_out_is_refused(
    data: Path, backups: Path, path: str, other: str
) -> None:
    made = back_up(data, backups)
    manifest = made.folder / "manifest.jsonl"
    manifest.write_text(manifest.read_text().replace(f'"path": "{path}"', f'"path": "{other}"'))
    with pytest.raises(DataLoss, match="is damaged"):
        read_manifest(made.folder)
    manifest.write_text("\n".join(manifest.read_text().splitlines()[:-1]))
    with pytest.raises(DataLoss):
        read_manifest(made.folder)


def test_what_is_refused(data: Path, backups: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="outside the data directory"):
        back_up(data, data / "backups")
    with pytest.raises(InvalidArgument, match="isn't the data directory of a service"):
        back_up(tmp_path / "elsewhere", backups)
    with pytest.raises(InvalidArgument, match="a folder without backups"):
        find_newest(tmp_path)
    made = back_up(data, backups)
    with pytest.raises(FailedPrecondition, match="isn't empty"):
        restore(made.folder, data, lambda _: None)
    with (
        DataDir(data).claimed(),
        pytest.raises(FailedPrecondition, match="a server uses"),
    ):
        restore(made.folder, data, lambda _: None)


@pytest.mark.parametrize("name", ["footplate.db", "buckets/.footplate/objects.db"])
@pytest.mark.parametrize("how", ["gone", "empty", "text"])
def test_a_lost_database_makes_no_backup(data: Path, backups: Path, name: str, how: str) -> None:
    """Nor does it take the place of one that is whole."""
    path = data / name
    if how == "gone":
        path.unlink()
    else:
        path.write_text("hello " * 1000 if how == "text" else "")
    with pytest.raises(DataLoss, match="the command made no backup"):
        back_up(data, backups)
    assert [path.name for path in backups.iterdir()] == [".unfinished"]
