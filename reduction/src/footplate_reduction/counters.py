"""Counters of a reducer's work, published for its users."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Counters:
    """The counters of one lane, which only grow. The lane's thread writes, any thread may read."""

    received_bytes: int = 0
    sent_bytes: int = 0
    collectives: int = 0
    """Chunks of a new ``seq``: how many collectives had a part here."""
    adding_s: float = 0.0
    waiting_s: float = 0.0
    """The time with chunks of some workers at hand and none complete: for the late ones."""
