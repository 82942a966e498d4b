"""Suggestions for studies: computed by the tuner, and stored before anybody sees them."""

from footplate.control.suggestions.suggester import Suggested, Suggester

__all__ = ["Suggested", "Suggester"]
