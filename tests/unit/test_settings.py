from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.settings import Settings, load_settings

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def test_defaults(tmp_path: Path) -> None:
    settings = load_settings({"XDG_DATA_HOME": str(tmp_path)})

    assert settings == Settings(data_dir=tmp_path / "footplate")
    assert settings.database == f"sqlite:///{tmp_path}/footplate/footplate.db"


def test_the_option_beats_the_environment_beats_the_file(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text("port = 1\nmax_replicas = 1\nstop_grace_s = 1.5\n")
    environ = {
        "FOOTPLATE_DATA_DIR": str(tmp_path),
        "FOOTPLATE_PORT": "2",
        "FOOTPLATE_MAX_REPLICAS": "2",
    }

    settings = load_settings(environ, {"port": 3, "token": None})

    assert (settings.port, settings.max_replicas, settings.stop_grace_s) == (3, 2, 1.5)


def test_every_wrong_setting_is_named_with_its_origin(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text("prot = 1\nheartbeat_s = -1\n")
    environ = {"FOOTPLATE_PORT": "http", "FOOTPLATE_ISOLATION": "docker"}

    with pytest.raises(InvalidArgument) as caught:
        load_settings(environ, {"data_dir": tmp_path})

    assert [v.field for v in caught.value.violations] == [
        "prot",
        "heartbeat_s",
        "port",
        "isolation",
    ]
    assert "environment: 'http' given; allowed: a whole number from 0 to 65535" in str(caught.value)
    assert "footplate.toml: no such setting; there are" in str(caught.value)


def test_an_open_door_needs_a_token(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="without a token"):
        load_settings({}, {"data_dir": tmp_path, "host": "0.0.0.0"})

    settings = load_settings({"FOOTPLATE_TOKEN": "t"}, {"data_dir": tmp_path, "host": "0.0.0.0"})
    assert settings.token == "t"


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text("port =")

    with pytest.raises(InvalidArgument, match=r"footplate\.toml: is not TOML"):
        load_settings({}, {"data_dir": tmp_path})


def test_a_file_in_the_place_of_the_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").touch()

    with pytest.raises(InvalidArgument, match=r"data/footplate\.toml: Not a directory"):
        load_settings({}, {"data_dir": tmp_path / "data"})


def test_every_setting_is_documented_and_nothing_else() -> None:
    documented = re.findall(r"^\| `(\w+)` \|", REFERENCE.read_text(), re.MULTILINE)

    assert sorted(documented) == sorted(field.name for field in fields(Settings))
