"""A directory of the cache goes whole: by a rename, or, where that fails, its marker first."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.replica.cache_locks import MARKER
from footplate.replica.environment import cache_removal
from footplate.replica.environment.cache_removal import discard, empty_trash, set_aside


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    path = tmp_path / "entry"
    (path / "lib").mkdir(parents=True)
    (path / MARKER).write_text("{}")
    (path / "lib" / "file").write_text("x")
    return path


def test_what_is_set_aside_lies_in_the_trash_until_that_is_emptied(entry: Path) -> None:
    moved = Path(set_aside(str(entry)))
    assert not entry.exists()
    assert (moved / "lib" / "file").read_text() == "x"
    empty_trash(str(entry.parent))
    assert not moved.exists()
    assert set_aside(str(entry)) == str(entry), "there is nothing any more"


def test_without_a_trash_the_marker_goes_first(
    entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry.parent / ".trash").write_text("a file, below which nothing can be made")
    left: list[set[str]] = []
    remove = cache_removal.remove

    def watched(path: str) -> None:
        left.append({each.name for each in Path(path).glob("*")})
        remove(path)

    monkeypatch.setattr(cache_removal, "remove", watched)
    discard(str(entry))
    assert left == [{"lib"}, set()]
    assert not entry.exists()


def test_an_entry_without_a_marker_goes_all_the_same(entry: Path) -> None:
    (entry.parent / ".trash").write_text("")
    (entry / MARKER).unlink()
    discard(str(entry))
    assert not entry.exists()
