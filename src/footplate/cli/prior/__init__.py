"""Finished studies of elsewhere, as studies that a tuning job can learn from."""
