"""The programs of AI Platform Training's built-in algorithms.

The package runs in the environment of a job, and needs nothing of the service there. The service
itself uses only ``algorithms``, ``parameters``, ``arguments`` and ``metric_names``, which need the
standard library alone.
"""
