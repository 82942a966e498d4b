"""The supervisor beside each replica: standard library only, Python 3.8 and later."""
