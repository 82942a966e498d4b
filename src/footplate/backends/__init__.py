"""Where the replicas of a region run."""
