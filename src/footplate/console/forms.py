"""Reads the fields of a form that a page has sent."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request

from footplate.domain.errors import InvalidArgument

_MAX_FIELDS = 50


async def read_form(request: Request, most_bytes: int) -> dict[str, str]:
    """Returns the fields that aren't empty, the first of each name. Raises InvalidArgument."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > most_bytes:
            raise InvalidArgument(f"the form is longer than {most_bytes} bytes")
    try:
        fields = parse_qs(raw.decode("utf-8", "replace"), max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise InvalidArgument(f"the form has more than {_MAX_FIELDS} fields") from None
    return {name: values[0].replace("\0", "") for name, values in fields.items()}
