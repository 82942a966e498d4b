"""Which settings of the user a private service shares."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.cli.local_runs.serving import private_settings
from footplate.domain.errors import InvalidArgument
from footplate.domain.sites import Mode

OWN = """\
host = "0.0.0.0"
token = "theirs"
port = 8470
mode = "enforce"
isolation = "subreaper"
max_replicas = 1
gpus = "simulated:NVIDIA_L4=2"
stop_grace_s = 3
database_url = "postgresql+psycopg://me@db/footplate"
[[quotas]]
vcpus = 4
"""


def test_it_shares_environments_and_bounds_and_nothing_that_rations(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "private"
    home.mkdir()
    (home / "footplate.toml").write_text(OWN)

    made = private_settings({"FOOTPLATE_DATA_DIR": str(home)}, folder, 5, "mine")

    assert (made.cache, made.isolation, made.stop_grace_s) == (home / "cache", "subreaper", 3)
    assert (made.host, made.port, made.token) == ("127.0.0.1", 0, "mine")
    assert (made.mode, made.max_replicas, made.gpus) == (Mode.EMULATE, 5, "none")
    assert (made.data_dir, made.quotas, made.allow_root) == (folder, (), ("*",))
    assert made.database == f"sqlite:///{folder}/footplate.db"


def test_a_cache_that_is_named_is_shared(tmp_path: Path) -> None:
    environ = {"FOOTPLATE_CACHE_DIR": str(tmp_path / "c"), "HOME": str(tmp_path)}
    assert private_settings(environ, tmp_path, 1, "t").cache == tmp_path / "c"


def test_a_wrong_setting_of_the_user_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="isolation: environment: 'x' given"):
        private_settings({"FOOTPLATE_ISOLATION": "x"}, tmp_path, 1, "t")


def test_gpus_are_those_of_the_machine_if_they_are_asked_for(tmp_path: Path) -> None:
    environ = {"FOOTPLATE_GPUS": "auto", "HOME": str(tmp_path)}
    made = private_settings(environ, tmp_path, 1, "t", gpus=True)
    assert (made.gpus, made.gpu_type) == ("auto", "NVIDIA_TESLA_T4")
