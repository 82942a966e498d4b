"""The kernel's count of kills for want of memory, from either version of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.replica.container.runner import OomCounter, RefusalCounter


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("memory.events", "low 0\nmax 3\noom 2\noom_kill {}\noom_group_kill 0\n"),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n"),
    ],
)
def test_the_count_survives_its_group(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text.format(0))
    counter = OomCounter([str(tmp_path / "absent"), str(tmp_path)])
    counter.read()
    assert (counter.counts, counter.kills) == (True, 0)

    (tmp_path / file).write_text(text.format(2))
    counter.read()
    (tmp_path / file).write_text("")  # as a removed group reads
    counter.read()
    assert counter.kills == 2


def test_without_a_group_nothing_counts(tmp_path: Path) -> None:
    counter = OomCounter([str(tmp_path)])
    counter.read()
    assert (counter.counts, counter.kills) == (False, 0)


def test_refused_processes_are_counted_by_the_group_of_their_number(tmp_path: Path) -> None:
    (tmp_path / "pids.events").write_text("max 3\n")
    counter = RefusalCounter([str(tmp_path)])
    counter.read()
    assert (counter.counts, counter.kills) == (True, 3)
    assert not RefusalCounter([]).counts
