"""Local code as source distributions, and where they are staged. Never writes in a user's tree."""
