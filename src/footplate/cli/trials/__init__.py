"""The trials of a tuning job, for people and scripts."""
