"""``RESOURCE=LIMIT`` on a command line."""

from __future__ import annotations

import click


class LimitValue(click.ParamType[tuple[str, int]]):
    """Which resources there are the server knows."""

    name = "limit"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        resource, _, amount = str(value).partition("=")
        try:
            return resource.strip(), int(amount)
        except ValueError:
            self.fail(f"{value!r} given; allowed: RESOURCE=NUMBER, such as vcpus=64", param, ctx)
