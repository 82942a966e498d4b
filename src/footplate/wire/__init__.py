"""Converts JSON to domain values and back."""
