"""gs:// buckets and what backs them."""
