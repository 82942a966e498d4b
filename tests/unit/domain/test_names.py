from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.names import (
    CustomJobName,
    GcsUri,
    JobUid,
    ModelName,
    TrainingJobName,
    TuningJobName,
    attempt_id,
    check_project,
    check_training_job_id,
    parse_attempt_id,
    parse_job_name,
    parse_model_name,
    trial_run_name,
    tuning_job_name,
)

segment = st.text(st.characters(exclude_characters="/:\n", codec="utf-8"), min_size=1)


@given(
    st.builds(TrainingJobName, segment, segment)
    | st.builds(CustomJobName, segment, segment, segment)
)
def test_names_go_round(name: TrainingJobName | CustomJobName) -> None:
    assert parse_job_name(str(name)) == name


@given(
    st.builds(TrainingJobName, segment, segment)
    | st.builds(TuningJobName, segment, segment, segment),
    st.integers(1, 10**9),
)
def test_the_job_of_a_trial_names_its_tuning_job(
    name: TrainingJobName | TuningJobName, number: int
) -> None:
    assert tuning_job_name(trial_run_name(name, number)) == name


@given(st.text(max_size=60))
def test_any_text_is_a_name_or_not_found(text: str) -> None:
    with contextlib.suppress(NotFound):
        assert str(parse_job_name(text)) == text


@pytest.mark.parametrize("project", ["demo", "123", "example.com:ml", "a.co.uk:my-project-1"])
def test_projects_may_have_a_domain(project: str) -> None:
    check_project(project)
    for name in (
        TrainingJobName(project, "j"),
        TuningJobName(project, "us-central1", "1"),
        ModelName(project, "us-central1", "m"),
    ):
        parse = parse_model_name if isinstance(name, ModelName) else parse_job_name
        assert parse(str(name)) == name


@pytest.mark.parametrize(
    "project", ["", ":ml", "example.com:", "a.b:c.d:e", "nodot:ml", "-a.com:x", "a.com:" + "x" * 99]
)
def test_what_is_no_project_is_refused_with_the_rule(project: str) -> None:
    with pytest.raises(InvalidArgument, match=r"given; allowed: letters, digits.*example\.com:ID"):
        check_project(project)


@pytest.mark.parametrize("job_id", ["a", "A1_b", "x" * 128])
def test_good_job_ids(job_id: str) -> None:
    check_training_job_id(job_id)


@pytest.mark.parametrize("job_id", ["", "1a", "_a", "a-b", "a b", "ä", "x" * 129, "a\n", "a/b"])
def test_bad_job_ids_are_refused_with_the_rule(job_id: str) -> None:
    with pytest.raises(
        InvalidArgument, match=r"jobId: .* given; allowed: letters, digits"
    ) as caught:
        check_training_job_id(job_id)
    assert caught.value.violations[0].field == "jobId"


def test_attempts() -> None:
    assert parse_attempt_id(attempt_id(JobUid("ab-c"), 12)) == ("ab-c", 12)
    for bad in ("", "a", "a-", "-1", "a-x", "a-²"):
        with pytest.raises(NotFound):
            parse_attempt_id(bad)


@pytest.mark.parametrize("uri", ["gs://b/p/q", "gs://b/", "gs://b/p/"])
def test_gcs_uris_go_round(uri: str) -> None:
    assert str(GcsUri.parse(uri, "x")) == uri


@pytest.mark.parametrize("uri", ["", "gs:/b/p", "gs://", "gs:///p", "s3://b/p", "/b/p"])
def test_other_uris_are_refused(uri: str) -> None:
    with pytest.raises(InvalidArgument, match=r"jobDir: .* allowed: gs://BUCKET/PATH"):
        GcsUri.parse(uri, "jobDir")
