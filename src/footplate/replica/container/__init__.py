"""Programs that are container images: started by the container engine of this machine.

The supervisor stays outside the container and speaks the Docker API over the engine's Unix socket.
Podman's service and dockerd answer it alike.
"""
