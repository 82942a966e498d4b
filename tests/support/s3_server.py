"""An S3 server in a thread of the test's own process (moto), on loopback."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from moto.server import ThreadedMotoServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "made-up",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-server",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@dataclass(frozen=True)
class S3Server:
    url: str
    client: Any
    """A client of boto3."""
    credentials: Mapping[str, str]
    """Variables of the environment."""

    def make_bucket(self, name: str) -> str:
        self.client.create_bucket(Bucket=name)
        return name

    def put(self, bucket: str, key: str, content: bytes, **more: object) -> None:
        self.client.put_object(Bucket=bucket, Key=key, Body=content, **more)

    def read(self, bucket: str, key: str) -> bytes:
        content: bytes = self.client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return content

    def keys(self, bucket: str) -> list[str]:
        answer = self.client.list_objects_v2(Bucket=bucket)
        return [each["Key"] for each in answer.get("Contents", ())]


@contextmanager
def running_s3() -> Iterator[S3Server]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=url,
        region_name=CREDENTIALS["AWS_DEFAULT_REGION"],
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    try:
        yield S3Server(url, client, CREDENTIALS)
    finally:
        client.close()
        server.stop()
