"""Kubernetes as an engine: bare Pods, one for each replica."""

from footplate.backends.kubernetes.engine import KubernetesEngine
from footplate.backends.kubernetes.manifests import PodSettings

__all__ = ["KubernetesEngine", "PodSettings"]
