"""Checks the reports of supervisors.

They come from whoever has a replica's token, which a program may get hold of: everything in them is
checked. What an honest program can print is never refused, for a supervisor sends its reports until
they are taken.
"""

from footplate.wire.replica_v1.fields import MAX_OPEN_PORTS, MAX_TEXT_LENGTH
from footplate.wire.replica_v1.records import (
    MAX_LINE_LENGTH,
    MAX_RECORDS,
    decode_image,
    decode_reports,
)

__all__ = [
    "MAX_LINE_LENGTH",
    "MAX_OPEN_PORTS",
    "MAX_RECORDS",
    "MAX_TEXT_LENGTH",
    "decode_image",
    "decode_reports",
]
