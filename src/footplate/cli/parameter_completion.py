"""Tab completion of a parameter. Its code is imported only on completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import click
    from click.shell_completion import CompletionItem


def offered(
    what: str,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """``what``: a key of its COMPLETIONS."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        # Imported here: only who presses tab has a use for it.
        from footplate.cli.completion_values import COMPLETIONS

        return COMPLETIONS[what](ctx, parameter, incomplete)

    return complete
