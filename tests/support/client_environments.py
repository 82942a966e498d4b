"""Environments of clients and engines for tests, each from a list of ``requirements/clients``."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import uv

from footplate.testing.service import outside

_ROOT = Path(__file__).resolve().parents[2]
_CLIENTS = _ROOT / "requirements" / "clients"
_LIMIT_S = 900.0

INSTALLED = "2.7.0"
"""The version of the SDK that the tests' own Python has."""


def python_of(version: str) -> str:
    """A Python that has this version of the SDK."""
    return sys.executable if version == INSTALLED else environment_of(f"aiplatform-{version}")


def environment_of(name: str, lists: Path = _CLIENTS) -> str:
    """Its Python; made once, with uv, by the process of the tests that comes first."""
    requirements = lists / f"{name}.txt"
    content = requirements.read_bytes()
    folder = _ROOT / ".cache" / "clients" / requirements.stem
    folder.parent.mkdir(parents=True, exist_ok=True)
    python, made_of = folder / "bin" / "python", folder / "made-of.txt"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made_of.exists() or made_of.read_bytes() != content:
            binary = uv.find_uv_bin()
            make = (binary, "venv", "-q", "--clear", f"--python={sys.executable}", folder)
            fill = (binary, "pip", "sync", "-q", f"--python={python}", "--require-hashes")
            environment = outside(os.environ)
            subprocess.run(make, check=True, env=environment, timeout=_LIMIT_S)
            subprocess.run((*fill, requirements), check=True, env=environment, timeout=_LIMIT_S)
            made_of.write_bytes(content)
    return str(python)
