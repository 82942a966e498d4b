"""The directory that ``footplate run`` puts on the path of Python programs.

This folder goes onto PYTHONPATH. Its code runs in the user's interpreter, whichever that is
(Python 3.8 or later), and imports nothing of Footplate.
"""
