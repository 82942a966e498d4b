"""Tuning jobs: what they search for, and what follows from how their trials go. Pure."""
