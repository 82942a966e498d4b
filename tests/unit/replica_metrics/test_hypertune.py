"""The file of cloudml-hypertune, written by itself and by others."""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypertune
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.replica.metrics import hypertune as reading
from footplate.replica.metrics.hypertune import HypertuneFile


class Collector:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = HypertuneFile(str(path))

    def look(self, *, anyway: bool = True) -> list[tuple[str, int, float]]:
        found: list[tuple[str, int, float]] = []

        def take(tag: str, step: int, value: float, time: float, source: str) -> None:
            assert source == "hypertune"
            found.append((tag, step, value))

        self.file.look(take, anyway=anyway)
        return sorted(found, key=repr)


@pytest.fixture
def collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collector:
    path = tmp_path / "metrics" / "output.metrics"
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(path))
    return Collector(path)


def tell(reporter: Any, tag: str, value: float, step: int | None = None) -> None:
    reporter.report_hyperparameter_tuning_metric(tag, value, step)


def line(**fields: object) -> bytes:
    told = {"timestamp": 5.0, "trial": "0", "global_step": "1", "checkpoint_path": "", **fields}
    return json.dumps(told).encode() + b"\n"


def test_each_report_is_told_once(collector: Collector) -> None:
    reporter = hypertune.HyperTune()
    assert collector.look() == []
    tell(reporter, "val acc", 0.5, 10)
    assert collector.look() == [("val acc", 10, 0.5)]
    tell(reporter, "val acc", 0.5, 20)
    tell(reporter, "loss", 1e-12)
    assert collector.look() == [("loss", 0, 1e-12), ("val acc", 20, 0.5)]
    assert collector.look() == []


def test_values_that_are_not_numbers(collector: Collector) -> None:
    reporter = hypertune.HyperTune()
    for step, value in enumerate((math.nan, math.inf, -math.inf)):
        tell(reporter, "m", value, step)
    first, *others = collector.look()
    assert math.isnan(first[2])
    assert others == [("m", 1, math.inf), ("m", 2, -math.inf)]
    assert collector.look() == []


def test_more_reports_than_the_file_keeps(collector: Collector) -> None:
    reporter, found = hypertune.HyperTune(), []
    for step in range(250):
        tell(reporter, "m", step, step)
        if step % 60 == 59:
            found += collector.look()
    found += collector.look()
    assert sorted(step for _, step, _ in found) == list(range(250))


def test_another_reporter_begins_the_file_anew(collector: Collector) -> None:
    tell(hypertune.HyperTune(), "m", 1.0, 1)
    assert collector.look() == [("m", 1, 1.0)]
    tell(hypertune.HyperTune(), "m", 2.0, 2)
    assert collector.look() == [("m", 2, 2.0)]


def test_moments_in_which_it_is_being_written(collector: Collector) -> None:
    reporter = hypertune.HyperTune()
    for step in range(3):
        tell(reporter, "m", step, step)
    whole, found = collector.path.read_bytes(), []
    for end in range(len(whole) + 1):
        collector.path.write_bytes(whole[:end])
        found += collector.look()
    collector.path.write_bytes(b"")
    found += collector.look()
    collector.path.write_bytes(whole)
    assert collector.look() == []
    assert found == [("m", step, float(step)) for step in range(3)]


def test_it_is_only_read_when_it_has_changed(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(hypertune.HyperTune(), "m", 1.0, 1)
    assert collector.look(anyway=False) == [("m", 1, 1.0)]

    def refuse(*_: object) -> bytes:
        raise AssertionError("it was read again")

    monkeypatch.setattr(reading, "read_piece", refuse)
    assert collector.look(anyway=False) == []
    os.utime(collector.path, (1, 1))
    with pytest.raises(AssertionError, match="read again"):
        collector.look(anyway=False)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"m": 0.5}, [("m", 1, 0.5)]),
        ({"m": "x"}, []),
        ({"m": None}, []),
        ({"m": True}, []),
        ({"m": {"a": [1]}}, []),
        ({"m": "1", "global_step": None}, [("m", 0, 1.0)]),
        ({"m": "1", "global_step": "nan"}, [("m", 0, 1.0)]),
        ({"m": "1", "global_step": "-7"}, [("m", -7, 1.0)]),
        ({"m": "1", "timestamp": "soon"}, [("m", 1, 1.0)]),
        ({"m": "1", "timestamp": math.nan}, [("m", 1, 1.0)]),
        ({"m": "1", "timestamp": "nan"}, [("m", 1, 1.0)]),
        ({"m": "1", "global_step": "inf"}, [("m", 0, 1.0)]),
        ({"m": 10**400}, []),
        ({"": "1", "a b": "2"}, [("", 1, 1.0), ("a b", 1, 2.0)]),
    ],
)
def test_lines_of_other_writers(
    collector: Collector, fields: dict[str, object], found: list[Any]
) -> None:
    collector.path.parent.mkdir()
    collector.path.write_bytes(line(**fields))
    assert collector.look() == found
    assert collector.look() == []


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\xff\xfe\x00",
        b"[" * 10_000,
        b'{"a":' * 3000,
        b"[1, 2]",
        b"7" * 16_000,
        b"{" + b'"x": 1,' * 5_000 + b'"m": "1"}',
        b"\x00" * 5_000,
    ],
    ids=range(8),
)
def test_hostile_lines_hide_no_others(collector: Collector, bad: bytes) -> None:
    collector.path.parent.mkdir()
    collector.path.write_bytes(line(m="1") + bad + b"\n" + line(m="2", global_step="2"))
    assert collector.look() == [("m", 1, 1.0), ("m", 2, 2.0)]


def test_of_a_huge_file_the_end_is_read(collector: Collector) -> None:
    collector.path.parent.mkdir()
    with collector.path.open("wb") as file:
        file.write(line(m="1"))
        file.truncate(1 << 40)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + line(m="2", global_step="2"))
    assert collector.look() == [("m", 2, 2.0)]


def test_the_end_of_a_file_is_its_last_mebibyte(collector: Collector) -> None:
    collector.path.parent.mkdir()
    last = line(m="2", global_step="2")
    more = b"x" * ((1 << 20) - len(last) - 1) + b"\n" + last
    collector.path.write_bytes(line(m="1") + more)
    assert collector.look() == [("m", 2, 2.0)]


def test_a_file_that_only_grows_is_not_remembered_for_ever(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_LINES", 10)
    collector.path.parent.mkdir()
    found = []
    with collector.path.open("ab", buffering=0) as file:
        for step in range(200):
            file.write(line(m="1", global_step=str(step)))
            found += collector.look()
    assert [step for _, step, _ in found] == list(range(200))


def test_what_is_put_in_its_place(collector: Collector, tmp_path: Path) -> None:
    path = collector.path
    path.parent.mkdir()
    (tmp_path / "target").write_bytes(line(m="1"))
    path.symlink_to(tmp_path / "target")
    assert collector.look() == []
    path.unlink()
    os.mkfifo(path)
    assert collector.look() == []
    path.unlink()
    path.mkdir()
    assert collector.look() == []
    path.rmdir()
    path.symlink_to("/dev/zero")
    assert collector.look() == []
    path.unlink()
    path.parent.rmdir()
    assert collector.look() == []


@given(st.binary(max_size=300))
def test_whatever_it_holds(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "output.metrics"
    path.write_bytes(data + b"\n" + line(m="1"))
    assert ("m", 1, 1.0) in Collector(path).look()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
names = st.sampled_from(["timestamp", "global_step", "trial", "m"]) | st.text(max_size=3)


@given(st.lists(st.dictionaries(names, json_values), max_size=4))
def test_whatever_its_objects_are(
    tmp_path_factory: pytest.TempPathFactory, objects: list[object]
) -> None:
    path = tmp_path_factory.mktemp("any") / "output.metrics"
    with suppress(UnicodeEncodeError):
        path.write_text("\n".join(json.dumps(each) for each in objects))
        collector = Collector(path)
        collector.look()
        assert collector.look() == [], "each is told once"
