"""Event files that grow, are cut, are replaced, and are none."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.replica.metrics import event_file
from footplate.replica.metrics.event_file import Corrupt, EventFile
from tests.unit.replica_metrics.event_writer import HEADER, event, masked, record, simple, write

ONE, TWO, THREE = (event(simple("m", value), step=1) for value in (1.0, 2.0, 3.0))


class Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = EventFile(str(path), "here")
        self.pieces = 0

    def look(self, wants: bytes = b"") -> list[bytes]:
        """What is new, as a look finds it; without the header."""
        taken: list[bytes] = []
        status = self.path.lstat()
        if not self.file.changed(status):
            return []
        self.pieces = 0
        while self.file.read(status.st_size, lambda body: wants in body, taken.append):
            self.pieces += 1
        self.file.settle(status)
        return [body for body in taken if body != HEADER]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.out.tfevents.1.host"


def test_each_record_is_read_once(path: Path) -> None:
    reader = Reader(write(path, ONE))
    assert reader.look() == [ONE]
    assert reader.look() == []
    write(path, TWO, THREE)
    assert reader.look() == [TWO, THREE]


def test_a_file_that_grows_byte_by_byte(path: Path) -> None:
    whole = record(HEADER) + record(ONE) + record(TWO)
    path.touch()
    reader, found = Reader(path), []
    with path.open("ab", buffering=0) as file:
        for byte in whole:
            file.write(bytes([byte]))
            found += reader.look()
    assert found == [ONE, TWO]


def test_many_records_are_read_in_pieces(path: Path) -> None:
    bodies = [event(simple("m", float(step)), step=step) for step in range(4000)]
    reader = Reader(write(path, *bodies))
    assert reader.look() == bodies
    assert reader.pieces > 1


def test_a_record_longer_than_a_piece(path: Path) -> None:
    long = event(simple("x" * 200_000, 1.0))
    assert Reader(write(path, long, ONE)).look() == [long, ONE]


def test_a_huge_record_is_passed_over_once_it_is_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_file, "LONGEST_RECORD_BYTES", 1000)
    huge = record(event(simple("x" * 2000, 1.0)))
    reader = Reader(write(path, ONE))
    with path.open("ab") as file:
        file.write(huge[:1500])
    assert reader.look() == [ONE]
    with path.open("ab") as file:
        file.write(huge[1500:])
    write(path, TWO)
    assert reader.look() == [TWO]


@pytest.mark.parametrize("place", [0, 8, 15, -5, -1], ids=str)
def test_what_follows_a_corrupt_record_is_given_up(path: Path, place: int) -> None:
    bad = bytearray(record(TWO))
    bad[place] ^= 1
    write(path, ONE)
    with path.open("ab") as file:
        file.write(bad)
    write(path, THREE)
    reader = Reader(path)
    begins = len(record(HEADER) + record(ONE))
    with pytest.raises(Corrupt, match=f"the record at byte {begins} is damaged"):
        reader.look()
    write(path, THREE)
    assert reader.look() == []
    path.unlink()
    assert Reader(write(path, TWO)).look() == [TWO]


def test_only_what_is_wanted_is_checked(path: Path) -> None:
    bad = bytearray(record(TWO))
    bad[-1] ^= 1
    path.write_bytes(bytes(bad) + record(THREE))
    assert Reader(path).look(wants=THREE) == [THREE]


def test_a_file_in_its_place_is_read_from_its_beginning(path: Path) -> None:
    reader = Reader(write(path, ONE, TWO))
    assert reader.look() == [ONE, TWO]
    other = write(path.with_name("other"), ONE, TWO, THREE)
    other.replace(path)
    assert reader.look() == [ONE, TWO, THREE]
    path.write_bytes(record(THREE))
    assert reader.look() == [THREE]


def test_what_is_put_in_its_place_is_not_opened(path: Path, tmp_path: Path) -> None:
    reader = Reader(path)
    target = write(tmp_path / "elsewhere", ONE)
    path.symlink_to(target)
    assert reader.look() == []
    path.unlink()
    os.mkfifo(path)
    assert reader.look() == []
    path.unlink()
    path.mkdir()
    assert reader.look() == []


def test_a_length_without_an_end(path: Path) -> None:
    length = (1 << 63).to_bytes(8, "little")
    path.write_bytes(record(ONE) + length + masked(length) + bytes(500))
    reader = Reader(path)
    assert reader.look() == [ONE]
    assert reader.look() == []


@given(st.binary(max_size=400), st.integers(0, 3))
def test_whatever_a_file_holds(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, whole: int
) -> None:
    path = tmp_path_factory.mktemp("any") / "tfevents"
    path.write_bytes(record(ONE) * whole + data)
    with suppress(Corrupt):
        assert Reader(path).look()[:whole] == [ONE] * whole


@given(st.data())
def test_whatever_is_damaged_nothing_false_is_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A single byte is always noticed."""
    path = tmp_path_factory.mktemp("any") / "tfevents"
    written = bytearray(record(ONE) + record(TWO) + record(THREE))
    written[data.draw(st.integers(0, len(written) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(written)
    reader = EventFile(str(path), ".")
    taken: list[bytes] = []
    with suppress(Corrupt):
        while reader.read(len(written), lambda _: True, taken.append):
            pass
    assert taken == [ONE, TWO, THREE][: len(taken)]
    assert len(taken) < 3
