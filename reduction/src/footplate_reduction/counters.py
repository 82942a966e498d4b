"""Counters of a reducer's work, published for its users."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Counters:
    """The counters of one lane. They only grow; its thread writes them, any thread reads them."""

    received_bytes: int = 0
    sent_bytes: int = 0
    collectives: int = 0
    """Chunks of a new ``seq``: how many collectives had a part here."""
    adding_s: float = 0.0
    waiting_s: float = 0.0
    """With chunks of some workers at hand and none of them complete: for the late ones."""
