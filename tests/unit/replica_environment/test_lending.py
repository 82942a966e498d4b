"""A directory lent to a build's user comes back without what he could use later."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.installation import check_real, lent
from footplate.replica.isolation.users import User

UID = 1999000001


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_it_comes_back_with_all_that_is_in_it(tmp_path: Path) -> None:
    layer, outside = tmp_path / "layer", tmp_path / "outside"
    (layer / "lib").mkdir(parents=True)
    outside.write_text("ours")
    (layer / "hard").hardlink_to(outside)
    with lent(str(layer), User(UID, UID)):
        assert (layer.stat().st_uid, (layer / "lib").stat().st_uid) == (UID, UID)
        assert outside.stat().st_uid == 0
        (layer / "lib" / "module.py").write_text("")
        os.chown(layer / "lib" / "module.py", UID, UID)
        (layer / "lib" / "module.py").chmod(0o4777)
        (layer / "lib").chmod(0o777)
        (layer / "link").symlink_to(outside)
    assert {path.lstat().st_uid for path in layer.rglob("*")} == {0}
    assert (layer / "lib" / "module.py").stat().st_mode & 0o7777 == 0o755
    assert (layer / "lib").stat().st_mode & 0o777 == 0o755
    assert outside.read_text() == "ours"


def test_it_stays_as_it_is_without_a_user(tmp_path: Path) -> None:
    with lent(str(tmp_path), None):
        assert tmp_path.stat().st_uid == os.geteuid()


def test_a_directory_that_became_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "lib").symlink_to("real")
    check_real([str(tmp_path / "real")])
    with pytest.raises(PreparationError, match="has replaced"):
        check_real([str(tmp_path / "lib")])
