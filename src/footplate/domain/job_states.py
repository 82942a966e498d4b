"""The states of a job, of which each API has its own names."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """A job's state in its life; terminal states never change."""

    QUEUED = "QUEUED"
    PREPARING = "PREPARING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLING = "CANCELLING"
    CANCELLED = "CANCELLED"

    @property
    def terminal(self) -> bool:
        return self in _TERMINAL


_TERMINAL = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})


_PREFIXES = ("JOB_STATE_", "PIPELINE_STATE_")
_SYNONYMS = {"PENDING": "PREPARING", "PREPARING": "PENDING"}
"""Vertex AI and AI Platform name the state before the program starts differently."""


def state_spellings(text: str) -> tuple[str, ...]:
    """Returns the spellings of a state in all APIs and screens, beginning with ``text`` itself."""
    name = text.upper()
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    words = [name, _SYNONYMS[name]] if name in _SYNONYMS else [name]
    return (text, *(prefix + word for word in words for prefix in ("", *_PREFIXES)))


class Phase(Enum):
    """The phase of one replica of the current attempt, as far as the service knows."""

    WAITING = "WAITING"
    """Its supervisor was asked for, and hasn't reported yet."""
    PREPARING = "PREPARING"
    """Its supervisor is there, and makes the environment."""
    READY = "READY"
    """Its environment is made; it waits for the others of its gang."""
    RUNNING = "RUNNING"
    """Its program runs."""
    LOST = "LOST"
    """Its supervisor is dead, and how its program ended isn't known; something may be left."""
    EXITED = "EXITED"
    """Its program has ended, and its exit is known."""
    GONE = "GONE"
    """The backend confirms that nothing of it is left."""
