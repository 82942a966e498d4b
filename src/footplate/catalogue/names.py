"""Rules for the names of catalogue entries."""

from __future__ import annotations

import re

MACHINE_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,62}")
MACHINE_TYPE_FORM = "small letters, digits, - and _, such as n1-standard-4"
ACCELERATOR = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
ACCELERATOR_FORM = "capital letters, digits and _, such as NVIDIA_TESLA_T4"
REGION = re.compile(r"(?=.{1,63}\Z)[a-z]+(-[a-z]+)*[0-9]*")
REGION_FORM = "small letters and -, then digits, such as us-central1"
ZONE = re.compile(r"[a-z][a-z0-9]{0,30}")
ZONE_FORM = "the end of a zone's name, after its region: small letters and digits, such as a"
SCALE_TIERS = ("BASIC", "STANDARD_1", "PREMIUM_1", "BASIC_GPU", "BASIC_TPU")
"""Those that a job of ml v1 can name, but for CUSTOM."""
SCALE_TIER = re.compile("|".join(SCALE_TIERS))
SCALE_TIER_FORM = f"a scale tier other than CUSTOM: {', '.join(SCALE_TIERS)}"
RUNTIME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}")
RUNTIME_FORM = "letters, digits, blanks, ., - and _, such as 2.30"
RUNTIME_VERSION = re.compile(r"\d{1,4}\.\d{1,4}")
IMAGE = re.compile(r"[a-z][a-z-]{0,62}\.\d{1,4}-\d{1,4}(\.py\d{2,4})?")
PYTHON = re.compile(r"\d\.\d{1,3}")
VCPUS = re.compile(r"[1-9][0-9]{0,5}")
