"""The table on terminals: what gives way, and what never does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from footplate.cli.trials.table import narrow_table
from footplate.wire.footplate_v1.trials import TrialList

from .conftest import answer, measured, trial

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


def lines(width: int) -> list[tuple[str, str]]:
    parameters = {"learning_rate": 0.00123456, "optimizer": "adam"}
    view = TrialList.decode(
        answer(  # type: ignore[arg-type]  # JSON by hand
            trial(1, parameters=parameters, final=measured(0.21234567, 100)),
            trial(2, "INFEASIBLE", parameters=parameters, infeasibleReason="exit code 1 " * 4),
            trial(3, "ACTIVE", parameters={"optimizer": "\x1b]0;evil\x07"}),
            best=[1],
        )
    )
    return narrow_table(view, view.trials, NOW, width)


def test_all_in_one_line_where_there_is_room() -> None:
    (heading, bold), (best, green), (failed, red), (_, cyan) = lines(200)
    assert heading.split()[-3:] == ["TIME", "MACHINE_TIME", "WHY"]
    assert best.startswith("* 1    SUCCEEDED  0.212346  100   0.00123456")
    assert failed.endswith("exit code 1 exit code 1 exit code 1 exit code 1")
    assert (bold, green, red, cyan) == ("bold", "bold green", "red", "cyan")


@pytest.mark.parametrize("width", range(50, 130, 10))
def test_results_and_parameters_are_never_cut(width: int) -> None:
    text = "\n".join(line for line, _ in lines(width))
    assert "0.212346" in text
    assert "0.00123456" in text
    assert "FAILED" in text
    assert text.count("exit code 1") + text.count("exit\n") + text.count("code\n") >= 4


def test_times_give_way_first() -> None:
    headings = [" ".join(lines(width)[0][0].split()) for width in (90, 72, 60)]
    assert headings[0].endswith("optimizer TIME MACHINE_TIME")
    assert headings[1].endswith("optimizer TIME")
    assert headings[2].endswith("STEP learning_rate optimizer")


def test_a_long_text_is_cut_where_there_is_no_room() -> None:
    optimizer = "x" * 300
    view = TrialList.decode(
        answer(trial(1, parameters={"optimizer": optimizer}))  # type: ignore[arg-type]  # JSON by hand
    )
    assert optimizer in narrow_table(view, view.trials, NOW, 400)[1][0]
    lines = [line for line, _ in narrow_table(view, view.trials, NOW, 60)]
    assert max(map(len, lines)) <= 60
    assert f"{'x' * 17}..." in lines[1]


def test_no_name_dresses_up_what_follows_it() -> None:
    view = TrialList.decode(
        answer(trial(1, parameters={"optimizer": "\x1b[8mhidden"}))  # type: ignore[arg-type]  # JSON by hand
    )
    (_, (line, _)) = narrow_table(view, view.trials, NOW, 80)
    assert "\\x1b[8mhidden" in line


def test_names_can_not_act_on_the_terminal() -> None:
    assert not any("\x1b" in line or "\x07" in line for line, _ in lines(100))
