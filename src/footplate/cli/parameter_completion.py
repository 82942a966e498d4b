"""Tab completion of a parameter. Its code is imported only on completion."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import click
    from click.shell_completion import CompletionItem


def offered(
    what: str,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """``what``: a name of ``footplate.cli.completion_values``."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found: list[CompletionItem] = getattr(
            importlib.import_module("footplate.cli.completion_values"), what
        )(ctx, parameter, incomplete)
        return found

    return complete
