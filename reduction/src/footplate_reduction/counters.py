"""Counters of a reducer's work, published for its users."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Counters:
    """The figures of one lane; each only grows. Written by the lane's thread, read by any."""

    received_bytes: int = 0
    sent_bytes: int = 0
    collectives: int = 0
    """Chunks of a new ``seq``: how many collectives had a part here."""
    adding_s: float = 0.0
    waiting_s: float = 0.0
    """The time with chunks of some workers at hand and none complete: for the late ones."""
