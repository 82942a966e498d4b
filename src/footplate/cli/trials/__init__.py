"""The trials of a tuning job, as people and scripts want to see them."""
