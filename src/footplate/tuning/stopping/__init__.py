"""Which running trials are clearly worse than others, and may end before their time. Pure."""
