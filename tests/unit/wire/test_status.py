"""Errors in Google's shape."""

import json

from footplate.domain.errors import Code, InvalidArgument, NotFound, Violation
from footplate.wire.status import MAX_VIOLATIONS, error_json, status_json


def test_an_error_names_every_field() -> None:
    error = InvalidArgument.of((Violation("a.b", "wrong"), Violation("c", "missing")))
    assert error_json(error) == {
        "error": {
            "code": 400,
            "message": "a.b: wrong; c: missing",
            "status": "INVALID_ARGUMENT",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.BadRequest",
                    "fieldViolations": [
                        {"field": "a.b", "description": "wrong"},
                        {"field": "c", "description": "missing"},
                    ],
                }
            ],
        }
    }


def test_without_fields_there_are_no_details() -> None:
    assert error_json(NotFound("gone")) == {
        "error": {"code": 404, "message": "gone", "status": "NOT_FOUND"}
    }


def test_a_status_within_a_resource_is_never_a_success() -> None:
    assert status_json(Code.OK, "x") == {"code": 2, "message": "x"}
    assert status_json(Code.CANCELLED, "x") == {"code": 1, "message": "x"}


def test_an_error_of_megabytes_is_cut_to_what_can_be_read() -> None:
    many = tuple(Violation("f" * 10_000, "d" * 100_000) for _ in range(1000))
    answer = error_json(InvalidArgument.of(many))
    assert len(json.dumps(answer)) < 500_000
    assert len(json.dumps(answer).split('"field"')) == MAX_VIOLATIONS + 1
