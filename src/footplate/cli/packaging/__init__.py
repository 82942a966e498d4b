"""Packages local code as source distributions and stages them. Never writes to a user's tree."""
