"""Studies of AI Platform Optimizer: ``projects.locations.studies`` of ml v1."""
