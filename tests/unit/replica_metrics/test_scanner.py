"""What is found below directories, and how it is reported."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.replica_records import MetricRecord, TagsRecord
from footplate.replica.journal import Journal
from footplate.replica.metrics import metric_records as finding
from footplate.replica.metrics import watcher
from footplate.replica.metrics.event_directories import name_source, outermost
from footplate.replica.metrics.metric_records import MetricRecords
from footplate.replica.metrics.watcher import Scanner
from footplate.replica.spool import Spool
from footplate.wire.replica_v1 import decode_reports
from tests.unit.replica_metrics.event_writer import (
    event,
    record,
    scalar,
    simple,
    single,
    tensor,
    write,
)

TF2 = bytes.fromhex(
    "3e00000000000000d9d240e7090000401393c0da411a0d627261696e2e4576656e743a3252240a22"
    "74656e736f72666c6f772e636f72652e7574696c2e6576656e74735f777269746572dd4672fd3100"
    "0000000000009d8383e909e3347e1393c0da4110032a240a220a0776616c20616363420a08011200"
    "22040000403f4a0b0a090a077363616c61727324fd80d0"
)
"""A whole file of TensorFlow 2.21: ``tf.summary.scalar("val acc", 0.75, step=3)``."""
TF1 = bytes.fromhex(
    "1800000000000000a37f4b22090000801193c0da411a0d627261696e2e4576656e743a3220b319f0"
    "1d00000000000000602fdf2309f0f2bf1193c0da4110032a100a0e0a0776616c2061636315000040"
    "3f23136a02"
)
"""One of a FileWriter of TensorFlow 1.15.5 with the same value."""
TORCH = bytes.fromhex(
    "4800000000000000fe92489d09f753501493c0da411a0d627261696e2e4576656e743a32522e0a2c"
    "74656e736f72626f6172642e73756d6d6172792e7772697465722e6576656e745f66696c655f7772"
    "697465724e28cd7e1d00000000000000602fdf23093e5a501493c0da4110032a100a0e0a0776616c"
    "20616363150000403f202f10db2f000000000000006d5d1d5009e05a501493c0da4110042a220a20"
    "0a0776616c20616363420808012a040000403f4a0b0a090a077363616c617273b147f30b33000000"
    "000000000ca7205609445b501493c0da4110052a260a240a0776616c20616363420c080232080000"
    "00000000e83f4a0b0a090a077363616c617273a0dfbddf"
)
"""Of SummaryWriter of PyTorch 2.13: at steps 3 to 5, in three encodings."""


class Bench:
    """Looks through two places, and reads what the journal then holds as the server does."""

    def __init__(self, folder: Path, tags: Sequence[str] = ("m",)) -> None:
        self.job_dir, self.work = folder / "job_dir", folder / "work"
        for place in (self.job_dir, self.work):
            place.mkdir()
        self.spool = Spool(str(folder / "spool"), 1 << 26)
        self.findings = MetricRecords(Journal(self.spool, 1 << 26, lambda: 5.0), tags)
        self.looks = Scanner([str(self.job_dir), str(self.work)], self.findings)

    def look(self, most_bytes: float = math.inf) -> list[tuple[str, int, float]]:
        """Source, step and value of what one look finds."""
        self.look_only(most_bytes)
        records = [each for each in self.take() if isinstance(each, MetricRecord)]
        return [(each.source, each.step, each.value) for each in records]

    def look_only(self, most_bytes: float = math.inf) -> None:
        for _ in self.looks.look(most_bytes):
            pass

    def take(self) -> Sequence[object]:
        return decode_reports(b'{"records":[' + self._drain() + b"]}")

    def notes(self) -> list[str]:
        self.look_only()
        records: list[dict[str, Any]] = json.loads(b"[" + self._drain() + b"]")
        assert {each["kind"] for each in records if each["k"] == "event"} <= {"METRICS"}
        return [each["m"] for each in records if each["k"] == "event"]

    def _drain(self) -> bytes:
        pieces = []
        while self.spool.waiting:
            batch = self.spool.read()
            pieces.append(batch.body)
            self.spool.acknowledge(batch.last)
        return b",".join(pieces)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def told(value: float, step: int = 1, tag: str = "m") -> bytes:
    return event(simple(tag, value), step=step)


def test_files_wherever_they_lie_are_read_once(bench: Bench) -> None:
    write(bench.work / "logs" / "scalars" / "events.out.tfevents.1", told(1.0))
    write(bench.job_dir / "events.out.tfevents.2", told(2.0))
    write(bench.job_dir / "eval" / "my.tfevents", told(3.0, 2))
    write(bench.job_dir / "eval" / "model.ckpt", told(9.0))
    assert bench.look() == [(".", 1, 2.0), ("eval", 2, 3.0), ("logs/scalars", 1, 1.0)]
    assert bench.look() == []
    write(bench.job_dir / "eval" / "my.tfevents", told(4.0, 5))
    assert bench.look() == [("eval", 5, 4.0)]


@pytest.mark.parametrize(
    ("content", "steps"), [(TF1, [3]), (TF2, [3]), (TORCH, [3, 4, 5])], ids=["tf1", "tf2", "torch"]
)
def test_what_real_frameworks_wrote(tmp_path: Path, content: bytes, steps: list[int]) -> None:
    bench = Bench(tmp_path, ["val acc"])
    (bench.work / "events.out.tfevents.1").write_bytes(content)
    assert bench.look() == [(".", step, 0.75) for step in steps]


def test_a_measurement_as_the_server_reads_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["val acc", "loss"])
    held = tensor(1, single(5, math.nan))
    values = scalar("val acc", held), simple("loss", math.inf), simple("other", 1.0)
    write(bench.work / "tfevents", event(*values, step=-4, time=1e99))
    bench.look_only()
    first, second = bench.take()
    assert isinstance(first, MetricRecord)
    assert isinstance(second, MetricRecord)
    assert (first.tag, first.step, first.time.timestamp()) == ("val acc", 0, 0.0)
    assert math.isnan(first.value)
    assert (second.tag, second.value, second.source) == ("loss", math.inf, ".")


def test_times_are_those_of_the_program(bench: Bench) -> None:
    write(bench.work / "tfevents", event(simple("m", 1.0), step=2**60, time=1_700_000_000.25))
    bench.look_only()
    (record,) = bench.take()
    assert isinstance(record, MetricRecord)
    assert (record.time.timestamp(), record.step) == (1_700_000_000.25, 2**53)


def test_tags_are_matched_to_the_letter(bench: Bench) -> None:
    for tag in ("epoch_m", "M", "m ", "scope/m"):
        write(bench.work / "tfevents", told(1.0, tag=tag))
    assert bench.look() == []
    bench.findings.conclude()
    (tags,) = bench.take()
    assert isinstance(tags, TagsRecord)
    assert tags.tags == ("M", "epoch_m", "m ", "scope/m")


def test_other_tags_are_of_no_interest_once_one_is_found(bench: Bench) -> None:
    write(bench.work / "tfevents", told(1.0, tag="other"), told(1.0))
    assert bench.look() == [(".", 1, 1.0)]
    bench.findings.conclude()
    assert bench.take() == ()


def test_tags_that_were_seen_are_bounded(bench: Bench) -> None:
    events = [told(1.0, tag=f"{number:03}{'x' * 300}") for number in range(250)]
    write(bench.work / "tfevents", *events)
    bench.look()
    bench.findings.conclude()
    (tags,) = bench.take()
    assert isinstance(tags, TagsRecord)
    assert len(tags.tags) == 200
    assert all(len(tag) == 256 for tag in tags.tags)


def test_nothing_at_all_was_seen(bench: Bench) -> None:
    assert bench.look() == []
    bench.findings.conclude()
    (tags,) = bench.take()
    assert isinstance(tags, TagsRecord)
    assert tags.tags == ()


def test_a_look_of_limited_size_is_gone_on_with(bench: Bench) -> None:
    for name in ("a", "b"):
        path = bench.work / name / "tfevents"
        write(path, *(told(float(step), step) for step in range(3000)))
    found: list[int] = []
    looks = 0
    while len(found) < 6000:
        looks += 1
        steps = [step for _, step, _ in bench.look(most_bytes=50_000)]
        assert steps
        found += steps
    assert looks > 2
    assert sorted(found) == sorted([*range(3000)] * 2)
    assert bench.look(most_bytes=50_000) == []


def test_a_look_that_is_dropped_loses_nothing(bench: Bench) -> None:
    write(bench.work / "tfevents", *(told(float(step), step) for step in range(3000)))
    found = []
    for stop in range(1, 6):
        look = bench.looks.look(math.inf)
        for _ in range(stop):
            next(look, None)
    found = [each.step for each in bench.take() if isinstance(each, MetricRecord)]
    found += [step for _, step, _ in bench.look()]
    assert found == list(range(3000))


def test_a_corrupt_file_is_told_of_once_and_hides_no_other(bench: Bench) -> None:
    bad = bytearray(record(told(2.0)))
    bad[-1] ^= 1
    path = write(bench.job_dir / "eval" / "events.out.tfevents.1", told(1.0))
    begins = path.stat().st_size
    path.write_bytes(path.read_bytes() + bytes(bad))
    write(bench.work / "events.out.tfevents.2", told(3.0))
    (note,) = bench.notes()
    assert note == (
        "the service stops reading the event file events.out.tfevents.1 in eval: "
        f"the record at byte {begins} is damaged"
    )
    write(path, told(4.0))
    assert bench.notes() == []


def test_there_is_an_end_to_notes(bench: Bench) -> None:
    for number in range(50):
        (bench.work / f"tfevents.{number}").write_bytes(b"x" * 100)
    assert len(bench.notes()) == 10


def test_links_are_not_followed(bench: Bench, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "tfevents", told(1.0))
    (bench.work / "tfevents").symlink_to(outside)
    (bench.work / "folder").symlink_to(outside.parent)
    (bench.work / "loop").symlink_to(bench.work)
    os.mkfifo(bench.work / "tfevents.pipe")
    (bench.work / "tfevents.folder").mkdir()
    assert bench.look() == []


def test_a_place_that_is_not_there(bench: Bench) -> None:
    bench.job_dir.rmdir()
    write(bench.work / "tfevents", told(1.0))
    assert bench.look() == [(".", 1, 1.0)]


def test_more_entries_than_are_looked_through(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is nearer comes first; the other place is looked through all the same."""
    monkeypatch.setattr(watcher, "MOST_ENTRIES", 20)
    write(bench.job_dir / "a" / "tfevents", told(1.0))
    for number in range(30):
        (bench.job_dir / "a" / "deep" / str(number)).mkdir(parents=True)
    write(bench.work / "tfevents", told(2.0))
    assert bench.look() == [("a", 1, 1.0), (".", 1, 2.0)]
    bench = Bench(make(bench.work / "again"))
    for number in range(30):
        (bench.job_dir / str(number)).touch()
    (note,) = bench.notes()
    assert note.startswith(f"{bench.job_dir} holds more than 20 files and directories")


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_more_files_than_are_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "MOST_FILES", 3)
    for number in range(5):
        write(bench.work / f"tfevents.{number}", told(1.0))
    assert len(bench.look()) == 3
    for path in bench.work.iterdir():
        path.unlink()
    assert bench.look() == []
    write(bench.work / "tfevents.new", told(2.0))
    assert bench.look() == [(".", 1, 2.0)], "there is room again"


def test_more_measurements_than_are_taken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "MOST_MEASUREMENTS", 100)
    bench.findings = MetricRecords(Journal(bench.spool, 1 << 26, lambda: 5.0), ["m"])
    bench.looks = Scanner([str(bench.work)], bench.findings)
    write(bench.work / "tfevents", *(told(float(step), step) for step in range(3000)))
    bench.look_only()
    *found, note = bench.take()
    assert len(found) == 100
    assert getattr(note, "message", "").startswith("the program wrote 100 measurements")
    assert bench.findings.full
    assert bench.notes() == []


def test_folders_whose_names_are_no_text(bench: Bench) -> None:
    write(bench.work / os.fsdecode(b"\xff\xfe") / "tfevents", told(1.0))
    assert bench.look() == [("\ufffd\ufffd", 1, 1.0)]


def test_names_of_sources() -> None:
    assert name_source("") == "."
    assert name_source("hypertune") == "./hypertune"
    assert name_source("x" * 2000 + "/eval") == ("x" * 2000 + "/eval")[-1024:]


def test_no_place_is_looked_through_twice(tmp_path: Path) -> None:
    base, logs, other = (str(tmp_path / name) for name in ("base", "base/logs", "base-2"))
    assert outermost([logs, base, other, base]) == [base, other]
    assert outermost(["/", other]) == ["/"]


@pytest.mark.parametrize("written", [b"", TF1[:40], TF2[:78], TORCH[:88]])
def test_a_file_to_which_no_summary_was_ever_flushed_is_told_of(
    bench: Bench, written: bytes
) -> None:
    """It holds the version and the source of its writer at most."""
    (bench.work / "logs").mkdir()
    (bench.work / "logs" / "events.out.tfevents.1").write_bytes(written)
    bench.look_only()
    bench.looks.note_unwritten()
    (said,) = bench.notes()
    assert said == (
        "the event file events.out.tfevents.1 in logs holds no summary: the writer was never "
        "flushed; call its flush() or close() before the program ends"
    )


def test_files_with_other_tags_are_not_unwritten(bench: Bench) -> None:
    (bench.work / "events.out.tfevents.1").write_bytes(TF1)
    bench.look_only()
    bench.looks.note_unwritten()
    assert bench.notes() == []


def test_nobody_minds_an_unwritten_file_beside_the_metric(bench: Bench) -> None:
    (bench.work / "events.out.tfevents.1").write_bytes(TF1[:40])
    write(bench.work / "events.out.tfevents.2", told(1.0))
    bench.look_only()
    bench.looks.note_unwritten()
    assert bench.notes() == []


@pytest.mark.parametrize("part", ["job_dir", "job_dir/eval"])
def test_event_files_behind_a_link_are_not_read(bench: Bench, tmp_path: Path, part: str) -> None:
    """Those of another project's bucket, say: the directory was another one at the start."""
    write(bench.job_dir / "eval" / "tfevents", told(1.0))
    write(tmp_path / "theirs" / "eval" / "tfevents", told(2.0))
    assert bench.look() == [("eval", 1, 1.0)]
    (tmp_path / part).rename(tmp_path / "aside")
    end = tmp_path / "theirs"
    (tmp_path / part).symlink_to(end if part == "job_dir" else end / "eval")
    write(end / "eval" / "tfevents.2", told(3.0))
    assert bench.look() == []
