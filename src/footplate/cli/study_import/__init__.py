"""Imports finished studies from other tools, so that tuning jobs can learn from them."""
