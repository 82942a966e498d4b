"""Programs that take the directory to pieces, and Google's client or gcsfs to the rest."""

from __future__ import annotations

import os
import re
import urllib.parse

import fsspec
import gcsfs
from google.cloud import storage

ROOT = os.environ["IDIOMS_ROOT"]


def upload(bucket: str, name: str) -> None:
    blob = storage.Client().bucket(bucket).blob(name)
    blob.upload_from_string("m" * 1000)
    assert blob.download_as_bytes() == b"m" * 1000


def case_blob_from_string() -> None:
    uri = os.path.join(ROOT, "blob_from_string", "model")
    blob = storage.blob.Blob.from_string(uri, client=storage.Client())
    blob.upload_from_string("m" * 1000)
    assert blob.exists()
    assert blob.download_as_bytes() == b"m" * 1000


def case_client_takes_the_uri() -> None:
    uri = f"{ROOT}/client_takes_the_uri/model"
    storage.blob.Blob.from_string(uri, client=storage.Client()).upload_from_string("m")
    with open("client-takes", "wb") as file:
        storage.Client().download_blob_to_file(uri, file)
    assert os.path.getsize("client-takes") == 1


def case_split_by_slashes() -> None:
    uri = f"{ROOT}/split_by_slashes/model"
    upload(uri.split("/")[2], "/".join(uri.split("/")[3:]))


def case_cut_off_five_letters() -> None:
    bucket, _, name = f"{ROOT}/cut_off_five_letters/model"[5:].partition("/")
    upload(bucket, name)


def case_urlparse() -> None:
    uri = urllib.parse.urlparse(f"{ROOT}/urlparse/model")
    assert uri.scheme == "gs"
    upload(uri.netloc, uri.path.lstrip("/"))


def case_regular_expression() -> None:
    found = re.match(r"^gs://([^/]+)/(.+)$", f"{ROOT}/regular_expression/model")
    assert found
    upload(*found.groups())


def case_list_blobs() -> None:
    bucket, _, prefix = f"{ROOT}/list_blobs/"[5:].partition("/")
    for name in "ab":
        upload(bucket, prefix + name)
    found = storage.Client().get_bucket(bucket).list_blobs(prefix=prefix)
    assert [blob.name for blob in found] == [prefix + "a", prefix + "b"]


def case_a_folder_is_uploaded_file_by_file() -> None:
    os.makedirs("exported/assets")
    for path in ("exported/model", "exported/assets/words"):
        with open(path, "w") as file:
            file.write("m")
    bucket, _, prefix = f"{ROOT}/a_folder_is_uploaded_file_by_file"[5:].partition("/")
    for folder, _, files in os.walk("exported"):
        for name in files:
            path = os.path.join(folder, name)
            place = os.path.join(prefix, os.path.relpath(path, "exported"))
            storage.Client().bucket(bucket).blob(place).upload_from_filename(path)


def case_gcsfs() -> None:
    buckets = gcsfs.GCSFileSystem()
    with buckets.open(f"{ROOT}/gcsfs/model", "wb") as file:
        file.write(b"m" * 1000)
    assert buckets.cat(f"{ROOT}/gcsfs/model") == b"m" * 1000
    assert buckets.ls(f"{ROOT}/gcsfs") == [f"{ROOT}/gcsfs/model"[5:]]


def case_fsspec() -> None:
    with fsspec.open(f"{ROOT}/fsspec/model", "w") as file:
        file.write("m" * 1000)
    buckets, path = fsspec.core.url_to_fs(f"{ROOT}/fsspec")
    assert buckets.exists(path + "/model")
    buckets.get(path + "/model", "by-fsspec")
    assert os.path.getsize("by-fsspec") == 1000
