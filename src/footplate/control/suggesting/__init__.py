"""Suggestions for studies: made by the tuner, and stored before anybody sees them."""

from footplate.control.suggesting.suggester import Suggested, Suggester

__all__ = ["Suggested", "Suggester"]
