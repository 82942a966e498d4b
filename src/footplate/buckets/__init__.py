"""Storage for gs:// buckets."""
