"""Tuning jobs: their trials suggested, run, judged, and their ends decided."""
