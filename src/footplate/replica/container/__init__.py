"""Programs in container images, run by this machine's container engine.

The supervisor stays outside the container and speaks the Docker API over the engine's Unix socket.
Podman's service and dockerd answer it alike.
"""
