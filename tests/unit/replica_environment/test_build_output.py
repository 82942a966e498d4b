"""What a build leaves is taken only if it is a file of its own, in directories of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.replica.environment.build_output import open_made
from tests.support.environments import BACKEND, Bench, lock, make_sdist, make_wheel
from tests.unit.replica_environment.test_command import make_runtime

LEAVES_A_LINK = """
    import shutil
    os.makedirs(os.path.dirname({target!r}), exist_ok=True)
    shutil.move(os.path.join(wheel_directory, name), {target!r})
    os.symlink({target!r}, os.path.join(wheel_directory, name))
    return name
"""
"""In a temporary directory of its own, where another file has this name in its view."""


def test_a_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "made").write_text("by a build")
    with open(open_made(str(tmp_path), "a/b/made"), encoding="utf-8") as file:
        assert file.read() == "by a build"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("link/made", "link"),
        ("a/link", "no regular file"),
        ("a/second", "is not an ordinary file, or has other links to it"),
        ("a/pipe", "no regular file"),
        ("a/none", "No such file"),
    ],
)
def test_nothing_else_is(tmp_path: Path, place: str, reason: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "made").write_text("somebody else's")
    (tmp_path / "top" / "a").mkdir(parents=True)
    (tmp_path / "top" / "link").symlink_to(outside)
    (tmp_path / "top" / "a" / "link").symlink_to(outside / "made")
    (tmp_path / "top" / "a" / "second").hardlink_to(outside / "made")
    os.mkfifo(tmp_path / "top" / "a" / "pipe")
    with pytest.raises(OSError, match=reason):
        open_made(str(tmp_path / "top"), place)


def test_a_build_that_leaves_a_link_to_another_wheel_has_made_none(
    bench: Bench, wheels: Path, tmp_path: Path
) -> None:
    """The service would unpack it for the program, which may not read it."""
    alpha = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ""})
    runtime = make_runtime(bench, ("whole", lock(alpha), ()))
    (tmp_path / "private").mkdir()
    other = make_wheel(tmp_path / "private", "trainer", files={"trainer/model.py": "SECRET = 1"})
    ending = LEAVES_A_LINK.format(target=str(other)).replace("{", "{{").replace("}", "}}")
    backend = BACKEND.replace("    return name\n", ending)
    outcome = bench.prepare(
        bench.make_home(runtime, make_sdist(tmp_path, "trainer", backend=backend))
    )
    assert outcome.error == "the build of trainer-0.1.tar.gz made no wheel"


def test_what_is_locked_without_a_wheel_is_built_and_the_others_are_unpacked(
    bench: Bench, wheels: Path, tmp_path: Path
) -> None:
    """Builds have an empty cache: they would download all that is locked."""
    alpha = make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ""})
    odd = make_sdist(wheels, "odd_one", files={"odd.py": ""})
    text = lock(alpha, odd).replace(".tar.gz", "")
    runtime = make_runtime(bench, ("whole", text, ()))
    trainer = make_sdist(tmp_path, "trainer", files={"trainer/task.py": ""})
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    assert outcome.code == 0, outcome
    (made,) = Path(bench.cache).glob("runtimes/*/lib/python*/site-packages")
    assert (made / "odd.py").exists()
    assert (made / "alpha.py").stat().st_nlink > 1, "linked to uv's cache"
    assert not list(Path(bench.cache).glob("runtimes/*/wheels.txt"))
