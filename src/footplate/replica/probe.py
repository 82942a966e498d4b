"""The command ``probe``: what isolation and which limits programs would have here."""

from __future__ import annotations

import json
import os

from footplate.replica.isolation import ladder
from footplate.replica.isolation.cage import Unavailable
from footplate.replica.isolation.limits import Limits

OK = 0
_TRIED = Limits("none", 1 << 30, 1)


def main(isolation: str) -> int:
    """Try, clear up, and print a JSON object.

    ``rung`` (empty: none can be had), ``reasons`` why stronger ones can't, ``faults``: why
    memory and CPU can't be limited, by their names; empty where they can.
    """
    try:
        cage, reasons = ladder.choose(isolation, os.urandom(16).hex(), limited=True)
    except Unavailable as error:
        print(json.dumps({"rung": "", "reasons": [str(error)], "faults": {}}))
        return OK
    try:
        faults = cage.limit(_TRIED)
    finally:
        cage.close()
    print(json.dumps({"rung": cage.name, "reasons": reasons, "faults": faults}))
    return OK
