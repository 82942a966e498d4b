"""The JSON of Footplate's own API."""

from footplate.wire.footplate_v1.package_checks import (
    encode_check_request,
    package_checks_json,
    read_check_request,
    read_package_checks,
)
from footplate.wire.footplate_v1.verdicts import read_verdict, verdict_json

__all__ = [
    "encode_check_request",
    "package_checks_json",
    "read_check_request",
    "read_package_checks",
    "read_verdict",
    "verdict_json",
]
