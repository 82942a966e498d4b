"""Quotas: how much the jobs of a project may hold at once in a region."""

from footplate.domain.quotas.values import ANY, Limit, Quota, Quotas, exceeded

__all__ = ["ANY", "Limit", "Quota", "Quotas", "exceeded"]
