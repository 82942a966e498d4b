from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from footplate_reduction.frames import WireType
from footplate_reduction.limits import Limits
from footplate_reduction.settings import (
    SettingsError,
    addresses,
    check_job,
    check_token,
    reducer_settings,
    worker_settings,
)

WORKER = {
    "FOOTPLATE_REDUCERS": "10.0.0.1:7701, reducer-1 ,[fd00::1]:7703",
    "FOOTPLATE_REDUCTION_JOB": "job",
    "FOOTPLATE_REDUCTION_TOKEN": "sixteen letters!",
}


def test_a_worker_is_told_all_by_its_environment() -> None:
    variables = {
        "FOOTPLATE_REDUCTION_TIMEOUT": "2.5",
        "FOOTPLATE_REDUCTION_PATIENCE": "60",
        "FOOTPLATE_REDUCTION_BUDGET": "65536",
        "FOOTPLATE_REDUCTION_CHUNK": "4096",
        "FOOTPLATE_REDUCTION_WIRE": "bfloat16",
        "FOOTPLATE_REDUCTION_ENGINE": "native",
        "FOOTPLATE_ATTEMPT": "3",
    }
    settings = worker_settings({**WORKER, **variables})
    assert settings.reducers == (("10.0.0.1", 7701), ("reducer-1", 7700), ("fd00::1", 7703))
    assert (settings.job, settings.token) == ("job", "sixteen letters!")
    assert settings.limits == Limits(2.5, 60.0, 65536, 4096)
    assert settings.wire is WireType.BFLOAT16
    assert settings.group == "3/0"


def test_what_is_not_set_is_as_usual() -> None:
    settings = worker_settings(WORKER)
    assert settings.limits == Limits()
    assert (settings.wire, settings.group) == (None, "0")
    reducer = reducer_settings({})
    assert (reducer.host, reducer.port, reducer.lanes, reducer.stats_path) == ("", 7700, 1, None)


def test_a_group_is_named_after_what_all_workers_of_a_start_share() -> None:
    elastic = {"TORCHELASTIC_RUN_ID": "run", "TORCHELASTIC_RESTART_COUNT": "2"}
    assert worker_settings({**WORKER, **elastic}).group == "run/2"
    assert worker_settings({**WORKER, **elastic, "FOOTPLATE_ATTEMPT": "1"}).group == "1/0"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("TIMEOUT", "0"),
        ("TIMEOUT", "nan"),
        ("TIMEOUT", "soon"),
        ("PATIENCE", "inf"),
        ("BUDGET", "1e6"),
        ("BUDGET", "0"),
        ("BUDGET", "٣"),
        ("CHUNK", "-1"),
        ("WIRE", "float32"),
    ],
)
def test_a_wrong_setting_of_a_worker_is_named_with_what_is_allowed(name: str, given: str) -> None:
    with pytest.raises(SettingsError, match=f"FOOTPLATE_REDUCTION_{name} is '{given}'; it m"):
        worker_settings({**WORKER, f"FOOTPLATE_REDUCTION_{name}": given})


@pytest.mark.parametrize("read", [worker_settings, reducer_settings])
def test_the_engine_that_is_gone_is_refused(read: Callable[[Mapping[str, str]], object]) -> None:
    with pytest.raises(SettingsError, match=r"FOOTPLATE_REDUCTION_ENGINE is 'portable'"):
        read({**WORKER, "FOOTPLATE_REDUCTION_ENGINE": "portable"})


@pytest.mark.parametrize(
    ("name", "given"), [("PORT", "65536"), ("PORT", "http"), ("LANES", "0"), ("LANES", "65")]
)
def test_a_wrong_setting_of_a_reducer_is_named(name: str, given: str) -> None:
    with pytest.raises(SettingsError, match=f"FOOTPLATE_REDUCTION_{name} is '{given}'; it must"):
        reducer_settings({f"FOOTPLATE_REDUCTION_{name}": given})


@pytest.mark.parametrize(
    "text",
    ["", " , ", "host:", ":7700", "host:0", "host:70000", "a:b:c", "fd00::1", "[]:1", "a:1,a:1"],
)
def test_wrong_addresses_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="FOOTPLATE_REDUCERS"):
        addresses(text)


def test_a_short_token_and_no_job_are_refused() -> None:
    with pytest.raises(SettingsError, match="FOOTPLATE_REDUCTION_TOKEN has 15 characters"):
        check_token("x" * 15)
    with pytest.raises(SettingsError, match="FOOTPLATE_REDUCTION_JOB is not set"):
        check_job("")
