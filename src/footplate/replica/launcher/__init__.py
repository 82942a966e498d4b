"""The launcher: starts a replica's supervisor on a node that an engine has assigned.

An engine (Slurm, for one) starts ``bootstrap.py`` for each replica of an allocation, and knows
nothing else of replicas. The server says what the launcher does.
"""
