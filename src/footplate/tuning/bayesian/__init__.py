"""Bayesian search: a model of the metric says where to look next."""
