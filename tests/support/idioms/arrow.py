"""Programs that open the directory with pyarrow."""

from __future__ import annotations

import os

import pandas
from pyarrow import fs

ROOT = os.environ["IDIOMS_ROOT"]


def case_arrow() -> None:
    folder = f"{ROOT}/arrow"[5:]
    buckets = fs.GcsFileSystem()
    with buckets.open_output_stream(folder + "/table") as file:
        file.write(b"t" * 3_000_000)
    with buckets.open_input_file(folder + "/table") as file:
        file.seek(1_000_000)
        assert len(file.read()) == 2_000_000
    named, path = fs.FileSystem.from_uri("gs://" + folder)
    assert [found.size for found in named.get_file_info(fs.FileSelector(path))] == [3_000_000]
    buckets.copy_file(folder + "/table", folder + "/kept")
    buckets.delete_file(folder + "/table")
    assert [found.path for found in buckets.get_file_info(fs.FileSelector(folder))] == [
        folder + "/kept"
    ]


def case_parquet_of_pandas() -> None:
    table = pandas.DataFrame({"a": [1, 2]})
    table.to_parquet(f"{ROOT}/parquet_of_pandas/table.parquet")
    assert pandas.read_parquet(f"{ROOT}/parquet_of_pandas/table.parquet").equals(table)
