"""Docker and Podman on a machine of ours: one client of the Docker API, for server and supervisors.

Standard library only, on Python 3.8: it is part of the supervisor's archive. Importing the package
``docker`` would cost each start of a container a quarter of a second.
"""
