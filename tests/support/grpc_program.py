"""A program that makes one gRPC call: it prints ``answered``, or the code and the text."""

GRPC_CALL = """
import os, sys
certificate, address, *proxy = sys.argv[1:]
if proxy:
    os.environ["https_proxy"] = proxy[0]
import grpc
roots = grpc.ssl_channel_credentials(certificate.encode())
with grpc.secure_channel(address, roots) as channel:
    call = channel.unary_unary("/google.cloud.location.Locations/ListLocations")
    try:
        call(b"\\x0a\\x0dprojects/demo", timeout=60)
        print("answered", flush=True)
    except grpc.RpcError as error:
        print(error.code().name, error.details(), flush=True)
"""
"""Its arguments: the authority's certificate in PEM, HOST:PORT, and the proxy's address or none."""
