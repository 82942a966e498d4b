"""Buckets that ``--bind`` adds to the settings file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from footplate.buckets.bindings import BucketBinding
from footplate.cli.storage.binding import bind
from footplate.domain.errors import FailedPrecondition, InvalidArgument
from footplate.settings import load_settings

CLOUD = "gs://cloud-samples-data"
CREATE = ("storage", "buckets", "create")


def test_a_bucket_is_bound_by_the_settings_that_the_server_reads(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FOOTPLATE_URL")
    words = (*CREATE, CLOUD, "--bind", CLOUD, "--read-only", "--data-dir", str(tmp_path))
    done = invoke(*words)
    assert done.exit_code == 0, done.stderr
    assert f"Bound {CLOUD}/ to {CLOUD} in {tmp_path}/footplate.toml." in done.stderr
    assert "footplate down; footplate up" in done.stderr
    assert (tmp_path / "footplate.toml").stat().st_mode & 0o777 == 0o600
    assert load_settings({}, {"data_dir": str(tmp_path)}).buckets == (
        BucketBinding("cloud-samples-data", CLOUD, read_only=True),
    )


@pytest.mark.parametrize(
    ("before", "separator"),
    [("# ours\nport = 8000\n", "\n"), ("port = 8000", "\n\n"), ("[[buckets]]\n", "\n")],
)
def test_what_stands_in_the_file_stays(tmp_path: Path, before: str, separator: str) -> None:
    other = 'name = "other"\ntarget = "s3://other"\n' if "buckets" in before else ""
    file = tmp_path / "footplate.toml"
    file.write_text(before + other)
    file.chmod(0o640)
    assert bind(tmp_path, "samples", f"{CLOUD}/census", read_only=False) == file
    added = f'[[buckets]]\nname = "samples"\ntarget = "{CLOUD}/census"\n'
    assert file.read_text() == before + other + separator + added
    assert file.stat().st_mode & 0o777 == 0o640
    names = [each.name for each in load_settings({}, {"data_dir": str(tmp_path)}).buckets]
    assert names == (["other"] if other else []) + ["samples"]


@pytest.mark.parametrize(
    ("bucket", "target", "said"),
    [
        ("UPPER", CLOUD, "can't be the name of a bucket"),
        ("samples", "cloud-samples-data", "allowed: an absolute path"),
        ("samples", "/no/such/folder", "is not a folder of this machine"),
        ("mine", CLOUD, "the data directory has a bucket of that name"),
        ("twice", CLOUD, "each name once"),
    ],
)
def test_what_the_server_would_refuse_is_not_written(
    tmp_path: Path, bucket: str, target: str, said: str
) -> None:
    (tmp_path / "buckets" / "mine").mkdir(parents=True)
    bind(tmp_path, "twice", CLOUD, read_only=False)
    before = (tmp_path / "footplate.toml").read_text()
    with pytest.raises(InvalidArgument, match=said):
        bind(tmp_path, bucket, target, read_only=False)
    assert (tmp_path / "footplate.toml").read_text() == before


def test_a_store_whose_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server would not start with it."""
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.delitem(sys.modules, "footplate.buckets.s3_store", raising=False)
    with pytest.raises(InvalidArgument, match=r"pip install 'footplate\[s3\]'"):
        bind(tmp_path, "samples", "s3://samples", read_only=False)
    assert not (tmp_path / "footplate.toml").exists()


def test_an_array_in_one_line_is_left_to_its_writer(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text("buckets = []\n")
    with pytest.raises(FailedPrecondition, match=r"add this table:\n\n\[\[buckets\]\]\nname"):
        bind(tmp_path, "samples", CLOUD, read_only=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--read-only",), "--read-only is allowed only with --bind"),
        (("--bind", CLOUD), "without --url and FOOTPLATE_URL"),
        (("--bind", CLOUD, "gs://two"), "--bind takes one bucket"),
        (("--bind", CLOUD, "-l", "EU"), "combined with --location"),
    ],
)
def test_wrong_usage(invoke: Callable[..., Result], words: tuple[str, ...], said: str) -> None:
    result = invoke(*CREATE, "gs://one", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
