"""The token of slurmrestd: a JWT in a file, which others may replace at any time."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

from footplate.backends.engine.engine import EngineUnavailable

MAX_BYTES = 64 * 1024
_OTHERS = 0o077


def read_token(file: str) -> str:
    """Raises EngineUnavailable: there is none."""
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(MAX_BYTES).decode("ascii").strip()
    except OSError as error:
        raise EngineUnavailable(f"token_file {file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise EngineUnavailable(f"token_file {file} has no token in it") from error
    token = text.removeprefix("SLURM_JWT=")  # as `scontrol token` prints it
    if not token or not token.isprintable() or len(token.split()) != 1:
        raise EngineUnavailable(f"token_file {file} has no token in it")
    return token


def read_end_s(token: str) -> float | None:
    """Returns when it expires, in seconds of the Unix clock; None if it doesn't say."""
    try:
        body = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return float(claims["exp"])
    except (ValueError, IndexError, KeyError, TypeError):
        return None


def explain_end(file: str, user: str, token: str, now_s: float) -> str | None:
    """Returns what to do about a token that has expired; None if it hasn't."""
    end_s = read_end_s(token)
    if end_s is None or end_s > now_s:
        return None
    end = datetime.fromtimestamp(end_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"the token of {user} in {file} has expired at {end}; {way_out(file, user)}"


def way_out(file: str, user: str) -> str:
    return f"write a new one: scontrol token username={user} lifespan=SECONDS > {file}"


def find_leak(file: str) -> str | None:
    """Returns what is wrong with the rights of the file; None if nothing is."""
    try:
        mode = Path(file).stat().st_mode & 0o777
    except OSError:
        return None  # reading it has said so
    if mode & _OTHERS:
        return (
            f"token_file {file} has the mode {mode:04o}, so other users can read it; run: chmod 600"
        )
    return None
