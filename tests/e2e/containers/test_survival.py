"""What package programs survive, containers survive: the same tests, with an image as program."""

from __future__ import annotations

from tests.e2e.service.test_survival import (
    test_a_lost_machine_means_a_restart,
    test_deaths_one_after_another_before_the_server_is_up,
    test_four_deaths_in_a_row,
    test_jobs_that_wait_are_taken_up_too,
    test_the_program_ends_while_the_server_is_away,
)

__all__ = [
    "test_a_lost_machine_means_a_restart",
    "test_deaths_one_after_another_before_the_server_is_up",
    "test_four_deaths_in_a_row",
    "test_jobs_that_wait_are_taken_up_too",
    "test_the_program_ends_while_the_server_is_away",
]
