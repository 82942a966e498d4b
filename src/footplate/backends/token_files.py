"""The files with the tokens of engines, named by the key ``token_file`` of a region."""

from __future__ import annotations

from pathlib import Path

from footplate.backends.engine.engine import EngineUnavailable

MAX_BYTES = 64 * 1024
_OTHERS = 0o077


def read_token(file: str, prefix: str = "") -> str:
    """Returns the token in the file, perhaps behind ``prefix``. Raises EngineUnavailable if there
    is none.
    """
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(MAX_BYTES).decode("ascii").strip()
    except OSError as error:
        raise EngineUnavailable(f"token_file {file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise EngineUnavailable(f"token_file {file} has no token in it") from error
    token = text.removeprefix(prefix)
    if not token or not token.isprintable() or len(token.split()) != 1:
        raise EngineUnavailable(f"token_file {file} has no token in it")
    return token


def find_leak(file: str) -> str | None:
    """Returns what is wrong with the file's permissions; None if nothing is."""
    try:
        mode = Path(file).stat().st_mode & 0o777
    except OSError:
        return None  # reading it has said so
    if mode & _OTHERS:
        return (
            f"token_file {file} has the mode {mode:04o}, so other users can read it; run: chmod 600"
        )
    return None
