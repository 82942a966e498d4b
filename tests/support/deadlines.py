"""How long tests wait for an event."""

from __future__ import annotations

import os

EVENT_S = float(os.environ.get("TEST_EVENT_S", "240"))
"""Ends the wait for an event that never comes. No test is quicker or slower for it: only a fault
lets so much time pass, also on a machine that does eight other things. Who looks for faults, as
``tools/mutants.py`` does, waits less."""
EVENT_MS = EVENT_S * 1000
"""The same for a browser, which counts milliseconds."""
