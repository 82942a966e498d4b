"""Bayesian search with Gaussian process models."""
