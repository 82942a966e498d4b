"""Leads Google's clients in this process to Footplate, and keeps them from the real service."""
