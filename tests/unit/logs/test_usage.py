"""Files of utilisation: torn, full, old."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.names import JobUid
from footplate.domain.usage import CPU
from footplate.logs.usage import FileUsage
from tests.support.usage_contract import (
    ALL,
    JOB,
    MASTER,
    START,
    make_sample,
    make_samples,
    times,
)

DAY = timedelta(days=1)


def open_history(directory: Path, most: int = 2048) -> FileUsage:
    return FileUsage(directory, lambda: START + DAY, most)


def file_of(directory: Path) -> Path:
    return directory / JOB / f"{MASTER}.jsonl"


def test_another_process_goes_on_where_one_died(tmp_path: Path) -> None:
    open_history(tmp_path).append(JOB, 1, MASTER, make_samples(1, 3))
    history = open_history(tmp_path)
    history.append(JOB, 1, MASTER, make_samples(2, 4))
    points = history.read(JOB, MASTER, ALL)
    assert times(points) == [10, 20, 30, 40]
    assert points[3].seconds == 10.0, "it counts from the sample before, which another one kept"


def test_wherever_a_write_was_torn_the_rest_comes_again(tmp_path: Path) -> None:
    open_history(tmp_path).append(JOB, 1, MASTER, make_samples(1, 3))
    whole = file_of(tmp_path).read_bytes()
    begin = len(b"".join(whole.splitlines(keepends=True)[:2]))
    for end in range(begin, len(whole)):
        file_of(tmp_path).write_bytes(whole[:end])
        history = open_history(tmp_path)
        assert history.last(JOB, 1, MASTER) == 2
        history.append(JOB, 1, MASTER, make_samples(1, 3))
        assert file_of(tmp_path).read_bytes() == whole


def test_a_file_stays_small_however_long_the_job_runs(tmp_path: Path) -> None:
    history = open_history(tmp_path, most=64)
    sizes = []
    for first in range(1, 2001, 10):
        history.append(JOB, 1, MASTER, make_samples(first, first + 9))
        sizes.append(len(history.read(JOB, MASTER, ALL)))
    assert max(sizes) <= 64
    assert min(sizes[6:]) >= 12, "and not too small"
    assert not list(tmp_path.glob("*/*.part"))
    points = history.read(JOB, MASTER, ALL)
    assert times(points)[-1] == 20_000
    assert sum(point.seconds for point in points) == pytest.approx(20_000)
    assert {point.figures[CPU].mean for point in points} == {0.5}


def test_what_was_condensed_goes_on_in_another_process(tmp_path: Path) -> None:
    history = open_history(tmp_path, most=8)
    history.append(JOB, 1, MASTER, make_samples(1, 9))
    history = open_history(tmp_path, most=8)
    assert history.last(JOB, 1, MASTER) == 9
    history.append(JOB, 1, MASTER, make_samples(8, 10))
    points = history.read(JOB, MASTER, ALL)
    assert (times(points)[-1], points[-1].seconds) == (100, 10.0)


def test_a_death_before_the_new_file_is_in_place_changes_nothing(tmp_path: Path) -> None:
    open_history(tmp_path, most=8).append(JOB, 1, MASTER, make_samples(1, 8))
    before = file_of(tmp_path).read_bytes()
    file_of(tmp_path).with_suffix(".part").write_bytes(before[:100])
    history = open_history(tmp_path, most=8)
    assert history.replicas(JOB) == (MASTER,)
    history.append(JOB, 1, MASTER, make_samples(8, 9))
    assert times(history.read(JOB, MASTER, ALL))[-1] == 90


def test_clocks_that_lie_don_t_upset_the_order(tmp_path: Path) -> None:
    history = FileUsage(tmp_path, lambda: START + timedelta(seconds=50))
    ahead, back = make_sample(2, 9000.0), make_sample(3, 20.0)
    history.append(JOB, 1, MASTER, [make_sample(1), ahead, back])
    assert times(history.read(JOB, MASTER, ALL)) == [10, 50, 50]


def test_lines_that_are_none_of_ours_are_passed_over(tmp_path: Path) -> None:
    history = open_history(tmp_path)
    history.append(JOB, 1, MASTER, make_samples(1, 2))
    with file_of(tmp_path).open("ab") as file:
        file.write(b'nonsense\n[1,2]\n[1,2,3,4,5,6,7]\n{"a": 1}\n\xff\n')
    assert times(open_history(tmp_path).read(JOB, MASTER, ALL)) == [10, 20]


def test_lines_of_earlier_versions_have_two_counters_more(tmp_path: Path) -> None:
    open_history(tmp_path).append(JOB, 1, MASTER, make_samples(1, 2))
    rows = [json.loads(line) for line in file_of(tmp_path).read_text().splitlines()]
    for row in rows:
        row[-1][4:4] = [70, 80]  # what the network received and sent
    file_of(tmp_path).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    history = open_history(tmp_path)
    history.append(JOB, 1, MASTER, make_samples(3, 3))
    points = history.read(JOB, MASTER, ALL)
    assert times(points) == [10, 20, 30]
    assert points[-1].figures[CPU].mean == 0.5, "it counts from the last of them"


def test_where_nothing_can_be_kept_it_is_said(tmp_path: Path) -> None:
    (tmp_path / JOB).write_text("in the way")
    history = open_history(tmp_path)
    with pytest.raises(Unavailable, match="utilisation"):
        history.append(JOB, 1, MASTER, make_samples(1, 2))
    (tmp_path / JOB).unlink()
    history.append(JOB, 1, MASTER, make_samples(1, 2))
    assert len(history.read(JOB, MASTER, ALL)) == 2


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "x" * 200])
def test_no_name_leads_elsewhere(tmp_path: Path, name: str) -> None:
    history = open_history(tmp_path / "usage")
    with pytest.raises(InvalidArgument):
        history.append(JOB, 1, name, make_samples(1, 1))
    with pytest.raises(InvalidArgument):
        history.delete(JobUid(name))
