"""The service's logic over the ports: load, decide, apply."""
