"""gcloud's options of list commands: filter, sort, limit, format."""
