from __future__ import annotations

import re
from dataclasses import MISSING, Field, fields
from datetime import timedelta
from enum import Enum
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.machine_hours import Prices
from footplate.domain.quotas import Quota
from footplate.domain.sites import Mode
from footplate.settings import ISOLATIONS, Settings, load_settings, strays

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
    assert "footplate.toml: no such setting; did you mean port?" in str(caught.value)


@pytest.mark.parametrize("value", ["shared", "namespaces"])
def test_a_removed_setting_says_what_to_do(tmp_path: Path, value: str) -> None:
    (tmp_path / "footplate.toml").write_text(f'network = "{value}"\n')
    with pytest.raises(InvalidArgument) as caught:
        load_settings({"FOOTPLATE_NETWORK": value}, {"data_dir": tmp_path})
    text = (
        "this setting no longer exists; remove this setting: replicas share this machine's "
        "network, and each replica listens on the port that CLUSTER_SPEC names"
    )
    assert [(each.field, each.description) for each in caught.value.violations] == [
        ("network", f"{tmp_path / 'footplate.toml'}: {text}"),
        ("network", f"environment: {text}"),
    ]


def test_an_open_door_needs_a_token(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="without a token"):
        load_settings({}, {"data_dir": tmp_path, "host": "0.0.0.0"})

    settings = load_settings({"FOOTPLATE_TOKEN": "t"}, {"data_dir": tmp_path, "host": "0.0.0.0"})
    assert settings.token == "t"


def test_prices_are_a_table_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text(
        """
        [prices]
        currency = "EUR"
        machines = { n1-standard-4 = 0.19 }
        """
    )
    prices = load_settings({}, {"data_dir": tmp_path}).prices
    assert prices == Prices("EUR", {"n1-standard-4": 0.19})
    with pytest.raises(InvalidArgument, match="prices"):
        load_settings({"FOOTPLATE_PRICES": "EUR"}, {"data_dir": tmp_path})


def test_quotas_are_tables_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text(
        """
        [[quotas]]
        project = "ads"
        region = "us-central1"
        vcpus = 64
        NVIDIA_TESLA_T4 = 0

        [[quotas]]
        jobs = 1_000_000_000
        """
    )

    assert load_settings({}, {"data_dir": tmp_path}).quotas == (
        Quota("ads", "us-central1", {"vcpus": 64, "NVIDIA_TESLA_T4": 0}),
        Quota("*", "*", {"jobs": 10**9}),
    )


def test_every_wrong_quota_is_named_with_its_table(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text(
        """
        port = -1
        [[quotas]]
        project = 7
        vcpus = -1
        jobs = true
        [[quotas]]
        region = ""
        progect = "ads"
        TPU_V2 = 1_000_000_001
        TPU_V3 = "8"
        [[quotas]]
        project = "ads"
        """
    )

    with pytest.raises(InvalidArgument) as caught:
        load_settings({}, {"data_dir": tmp_path})

    number = "allowed: a whole number from 0 to 1000000000"
    assert [(v.field, v.description) for v in caught.value.violations[1:]] == [
        (field, f"{tmp_path}/footplate.toml: {text}")
        for field, text in (
            ("quotas[0].project", "7 given; allowed: a name, or *"),
            ("quotas[0].vcpus", f"-1 given; {number}"),
            ("quotas[0].jobs", f"True given; {number}"),
            ("quotas[1].region", "'' given; allowed: a name, or *"),
            ("quotas[1].progect", "unknown key; did you mean project?"),
            ("quotas[1].TPU_V2", f"1000000001 given; {number}"),
            ("quotas[1].TPU_V3", f"'8' given; {number}"),
            (
                "quotas[2]",
                ("this table has no limit; allowed: one limit or more, such as vcpus = 64"),
            ),
        )
    ]


@pytest.mark.parametrize("text", ["quotas = 3", "quotas = [3]", "[quotas]\nvcpus = 3"])
def test_quotas_are_nothing_but_tables(tmp_path: Path, text: str) -> None:
    (tmp_path / "footplate.toml").write_text(text)

    with pytest.raises(InvalidArgument, match=r"quotas: .*allowed: \[\[quotas\]\] tables"):
        load_settings({}, {"data_dir": tmp_path})


def test_quotas_are_not_in_the_environment(tmp_path: Path) -> None:
    environ = {"FOOTPLATE_DATA_DIR": str(tmp_path), "FOOTPLATE_QUOTAS": "vcpus=3"}

    with pytest.raises(InvalidArgument, match=r"environment: 'vcpus=3' given; allowed: .* file"):
        load_settings(environ)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text("port =")

    with pytest.raises(InvalidArgument, match=r"footplate\.toml: is not TOML"):
        load_settings({}, {"data_dir": tmp_path})


def test_a_file_in_the_place_of_the_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").touch()

    for given in (tmp_path / "data", tmp_path / "data" / "below"):
        with pytest.raises(InvalidArgument) as caught:
            load_settings({}, {"data_dir": given})
        assert str(caught.value) == (
            f"data_dir: '{given}' given, but the file footplate.toml in it can't be "
            "read: Not a directory; choose another folder with --data-dir or FOOTPLATE_DATA_DIR"
        )


ROWS = dict(re.findall(r"^\| `([a-z_]+)` \| (.*?) \|", REFERENCE.read_text("utf-8"), re.MULTILINE))
"""The page's settings, with what it says their defaults are."""


def test_every_setting_is_documented_and_nothing_else() -> None:
    assert sorted(ROWS) == sorted(field.name for field in fields(Settings))


@pytest.mark.parametrize("field", fields(Settings), ids=lambda field: field.name)
def test_its_documented_default_is_what_holds(field: Field[object]) -> None:
    """A value stands as one writes it; what nobody need set is described in words."""
    default = field.default
    if default is MISSING or default is None or default == ():
        assert not re.fullmatch(r"`[^`]*`", ROWS[field.name])
    elif isinstance(default, Enum):
        assert ROWS[field.name] == f"`{default.value}`"
    elif isinstance(default, float):
        assert ROWS[field.name] == f"`{default:g}`"
    else:
        assert ROWS[field.name] == f"`{default}`"


def test_a_setting_of_few_values_has_each_of_them_documented() -> None:
    text = REFERENCE.read_text("utf-8")
    values = (*ISOLATIONS, *(mode.value for mode in Mode))
    assert {value for value in values if f"`{value}`" not in text} == set()


def test_the_example_is_a_file_that_is_taken(tmp_path: Path) -> None:
    example = "\n".join(re.findall(r"```toml\n(.*?)```", REFERENCE.read_text("utf-8"), re.DOTALL))
    (tmp_path / "footplate.toml").write_text(example)

    settings = load_settings({}, {"data_dir": tmp_path})

    assert (settings.port, settings.max_replicas, settings.quotas[0].limits) == (
        8471,
        4,
        {"jobs": 10},
    )


def test_a_variable_that_is_nearly_a_setting_is_told() -> None:
    environ = {
        "FOOTPLATE_MAX_REPLICA": "4",
        "FOOTPLATE_CACHEDIR": "/cache",
        "FOOTPLATE_MAX_REPLICAS": "4",
        "FOOTPLATE_DATA_DIR": "/data",
    }
    assert strays(environ) == [
        (
            "the variable FOOTPLATE_CACHEDIR is set, but Footplate has no such setting; did you "
            "mean FOOTPLATE_CACHE_DIR?"
        ),
        (
            "the variable FOOTPLATE_MAX_REPLICA is set, but Footplate has no such setting; did "
            "you mean FOOTPLATE_MAX_REPLICAS?"
        ),
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("URL", "PROJECT", "RUN_URL", "RUNTIME_SLICE", "REPLICA_MARK", "ATTEMPT", "RESTART"),
        *("REDUCTION_HOST", "REDUCTION_PORT", "REDUCTION_JOB", "REDUCTION_TOKEN", "REDUCERS"),
    ],
)
def test_variables_of_clients_and_programs_are_none(name: str) -> None:
    assert strays({f"FOOTPLATE_{name}": "x"}) == []


@pytest.mark.parametrize(
    ("given", "ads", "others"),
    [
        ("90d", 90, 90),
        ("ads=30d,*=12w", 30, 84),
        ({"ads": "forever", "*": "1d"}, None, 1),
        ({"ads": "24h"}, 1, None),
    ],
)
def test_jobs_are_kept_by_project(
    tmp_path: Path, given: object, ads: int | None, others: int | None
) -> None:
    settings = load_settings({}, {"data_dir": tmp_path, "keep_jobs": given, "keep_logs": given})
    for keep in (settings.keep_jobs, settings.keep_logs):
        assert keep is not None
        found = [keep.of("ads"), keep.of("vision")]
        assert found == [None if d is None else timedelta(days=d) for d in (ads, others)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("90", "keep_jobs: option: '90' given; allowed: a number with a unit: 45s, 90m, 12h"),
        ("ads=soon", "keep_jobs.ads: option: 'soon' given; allowed: a number with a unit"),
        ("=1d", "keep_jobs: option: a project is missing before '='"),
        (90, "keep_jobs: option: 90 given"),
    ],
)
def test_wrong_ages_are_named(tmp_path: Path, given: object, said: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(said)):
        load_settings({}, {"data_dir": tmp_path, "keep_jobs": given})
