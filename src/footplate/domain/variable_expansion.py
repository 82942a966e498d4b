"""Expands variables that refer to other variables.

Rule: ``$(NAME)`` is the value of a variable that was set before, ``$$(NAME)`` is the text
``$(NAME)``, and a reference to what isn't set stays as it is. Source: the reference page of
EnvVar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_REFERENCE = re.compile(r"\$\$\(|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")


def expand(
    given: Iterable[tuple[str, str]], own: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Returns the ``given`` variables, then the user's ``own``, expanded; a later name wins."""
    values = dict(given)
    for name, text in own:
        values[name] = expand_text(text, values)
    return tuple(values.items())


def expand_text(text: str, values: Mapping[str, str]) -> str:
    """Replaces the references to variables in ``text`` by their values."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "$("
        return values.get(name, match.group(0))

    return _REFERENCE.sub(value, text)
