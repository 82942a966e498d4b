"""Messages that the server, launchers and supervisors exchange.

Both sides import it, supervisors as part of their archive: it needs nothing but the standard
library of Python 3.8, and nothing else of this package.
"""
