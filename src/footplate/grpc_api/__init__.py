"""The gRPC port: each call becomes the request over REST that Google's rules give for it."""
