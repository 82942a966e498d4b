"""Job directories that are paths of the machine."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from footplate.server.job_services import HostDirectories

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "jobs"
    made.mkdir()
    return made


def test_below_a_root(root: Path) -> None:
    directories = HostDirectories((root,))

    for path in (root, root / "a" / "b", root / "a" / "b" / ""):
        assert directories.fault(str(path)) is None

    assert list(root.iterdir()) == []


def test_a_root_that_is_made_later(tmp_path: Path) -> None:
    assert HostDirectories((tmp_path / "later",)).fault(str(tmp_path / "later" / "out")) is None


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/out", "/proc/x", "/tmp/out", "/", "/x/jobs"])
def test_without_roots_no_path_is_allowed(path: str) -> None:
    fault = HostDirectories(()).fault(path)

    assert fault == (
        "allowed: gs://BUCKET/PATH; the setting job_dir_roots of the server allows "
        "no directories of this machine"
    )


def test_beside_the_root(root: Path) -> None:
    fault = HostDirectories((root,)).fault(f"{root}2/out") or ""

    assert f"allows paths below {root} only" in fault


def test_a_link_that_leads_out_of_the_root(root: Path) -> None:
    (root / "link").symlink_to("/etc")

    assert HostDirectories((root,)).fault(str(root / "link" / "out")) is not None


@pytest.mark.parametrize("path", ["link", "link/out", "deep/link/out"])
def test_a_link_below_the_root_is_not_followed(root: Path, path: str) -> None:
    """A program may change where it leads."""
    (root / "deep" / "own").mkdir(parents=True)
    link = root / path.removesuffix("/out")
    link.symlink_to(root / "deep" / "own")

    fault = HostDirectories((root,)).fault(str(root / path))

    assert fault == f"{link} is a link; allowed: paths below {root} without links"


def test_the_root_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to(root)

    assert HostDirectories((tmp_path / "short",)).fault(str(tmp_path / "short" / "out")) is None


@pytest.mark.parametrize("path", ["/proc/x", "/sys/x", "/dev/shm/x"])
def test_the_kernels_own_file_systems(path: str) -> None:
    assert "one of the kernel" in (HostDirectories((Path("/"),)).fault(path) or "")


@pytest.mark.parametrize("end", ["", "/out/deep"])
def test_a_file_in_the_way(root: Path, end: str) -> None:
    (root / "file").touch()

    fault = HostDirectories((root,)).fault(f"{root}/file{end}")

    assert fault == f"{root}/file is a file; allowed: a directory"


def test_a_name_that_no_file_system_takes(root: Path) -> None:
    assert "255 bytes" in (HostDirectories((root,)).fault(f"{root}/{'x' * 256}") or "")


def test_a_directory_of_somebody_else() -> None:
    with TemporaryDirectory(dir="/var/tmp") as folder:
        root = Path(folder)
        root.chmod(0o555)

        fault = ask_as_nobody(HostDirectories((root,)), str(root / "out"))

        assert f"can't write into {root}" in fault


def ask_as_nobody(directories: HostDirectories, path: str) -> str:
    """In a child, as root writes everywhere."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(NOBODY)
            os.write(writing, (directories.fault(path) or "").encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as told:
        text = told.read()
    os.waitpid(child, 0)
    return text
