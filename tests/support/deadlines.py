"""How long tests wait for an event."""

from __future__ import annotations

EVENT_S = 240.0
"""Ends the wait for an event that never comes. No test is quicker or slower for it: only a fault
lets so much time pass, also on a machine that does eight other things."""
EVENT_MS = EVENT_S * 1000
"""The same for a browser, which counts milliseconds."""
