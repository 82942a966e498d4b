"""Early stopping: which running trials are clearly worse than others. Pure."""
