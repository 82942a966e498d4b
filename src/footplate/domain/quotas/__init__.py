"""How much the jobs of one project may hold at once in one region."""

from footplate.domain.quotas.values import ANY, Limit, Quota, Quotas, exceeded

__all__ = ["ANY", "Limit", "Quota", "Quotas", "exceeded"]
