"""Cloud Logging's JSON and query language, as far as job logs need them."""
