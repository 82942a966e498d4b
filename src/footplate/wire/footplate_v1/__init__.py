"""The JSON of Footplate's own API."""

from footplate.wire.footplate_v1.verdicts import read_verdict, verdict_json

__all__ = ["read_verdict", "verdict_json"]
