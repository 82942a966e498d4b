"""The command ``probe``: reports the isolation and limits available here."""

from __future__ import annotations

import json
import os

from footplate.replica.isolation import mode_selection
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.resource_limits import Limits

OK = 0
_TRIED = Limits("none", 1 << 30, 1)


def main(isolation: str) -> int:
    """Try, clear up, and print a JSON object.

    ``containment_mode`` (empty: none can be had), ``reasons`` why stronger ones can't, ``faults``:
    why memory and CPU can't be limited, by their names; empty where they can.
    """
    try:
        containment, reasons = mode_selection.choose(isolation, os.urandom(16).hex(), limited=True)
    except Unavailable as error:
        print(json.dumps({"containment_mode": "", "reasons": [str(error)], "faults": {}}))
        return OK
    try:
        faults = containment.limit(_TRIED)
    finally:
        containment.close()
    print(json.dumps({"containment_mode": containment.name, "reasons": reasons, "faults": faults}))
    return OK
