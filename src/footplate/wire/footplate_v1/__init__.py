"""The JSON of Footplate's own API."""
