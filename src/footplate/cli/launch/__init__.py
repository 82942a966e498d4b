"""What ``footplate run`` puts on the path of the Python programs that it starts.

This folder goes onto PYTHONPATH. Its code runs in the user's interpreter, whichever that is
(Python 3.8 or later), and imports nothing of Footplate.
"""
