"""Handles Ctrl-C: prints what goes on without the command, and how to follow or end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

INTERRUPTED = 130
"""What a shell says of a program that Ctrl-C ended."""

_KEY = "footplate.interruption"


def at_interrupt(text: str) -> None:
    """Sets the message that Ctrl-C prints."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None:
        ctx.meta[_KEY] = text


def job_goes_on(job_id: str, commands: Mapping[str, str]) -> str:
    """Returns the message for Ctrl-C while the job runs on. ``commands`` are by verb."""
    return (
        f"Interrupted; job {job_id} continues.\n"
        f"  follow it: {commands['stream-logs']}\n"
        f"  end it:    {commands['cancel']}"
    )


def describe_interrupt(ctx: click.Context) -> str:
    """Returns the message for Ctrl-C, on a line after the terminal's ``^C``."""
    return f"\n{ctx.meta.get(_KEY, 'Interrupted.')}"
