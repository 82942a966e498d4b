"""Other people's clients, unmodified, on a plain service: a folder for each, and what runs them."""
