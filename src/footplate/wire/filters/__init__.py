"""Filters of lists: a parser for all of them, and the filters of jobs and models."""
