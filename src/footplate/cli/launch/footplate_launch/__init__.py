"""Points Google's clients in this process to Footplate, and away from the real service."""
