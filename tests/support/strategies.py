"""Hypothesis strategies for jobs and all they are made of."""

from __future__ import annotations

from hypothesis import strategies as st

from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import (
    Address,
    ClusterVariable,
    ContainerProgram,
    Directory,
    DiskSpec,
    Ending,
    Exit,
    ExitKind,
    Job,
    JobEvent,
    JobSpec,
    MachineSpec,
    PythonProgram,
    Replica,
    Scheduling,
    WorkerPool,
)
from footplate.domain.names import CustomJobName, JobUid, TrainingJobName, TuningJobName
from tests.support.plain_strategies import (
    any_text,
    counts,
    pairs,
    seconds,
    segments,
    text_tuples,
    texts,
    times,
)
from tests.support.study_strategies import searches

training_names = st.builds(TrainingJobName, segments, segments)
custom_names = st.builds(CustomJobName, segments, segments, segments)
tuning_names = st.builds(TuningJobName, segments, segments, segments)
labels = st.dictionaries(texts, texts, max_size=3).map(lambda pairs: tuple(pairs.items()))

programs = st.one_of(
    st.builds(PythonProgram, any_text, text_tuples, any_text, text_tuples),
    st.builds(ContainerProgram, any_text, st.none() | text_tuples, st.none() | text_tuples),
)
pools = st.builds(
    WorkerPool,
    cluster_role=any_text,
    replica_prefix=any_text,
    machine=st.builds(MachineSpec, any_text, st.none() | any_text, counts),
    replica_count=counts,
    program=programs,
    environment=pairs,
    disk=st.builds(DiskSpec, any_text, counts),
)
schedulings = st.builds(
    Scheduling,
    seconds,
    st.none() | seconds,
    st.integers(),
    max_restarts=counts,
    max_retries=counts,
    restarts_together=st.booleans(),
)
directories = st.builds(Directory, st.none() | any_text, any_text, leaf=any_text)
specs = st.builds(
    JobSpec,
    region=texts,
    pools=st.lists(pools, max_size=3).map(tuple),
    scheduling=schedulings,
    job_dir=st.none() | any_text,
    directories=st.lists(directories, max_size=3).map(tuple),
    directory_form=st.sampled_from(DirectoryForm),
    environment=pairs,
    cluster_variables=st.frozensets(st.sampled_from(ClusterVariable)),
    chief_role=any_text,
    cluster_job=any_text,
    trial=st.none() | any_text,
    metrics=text_tuples,
    search=st.none() | searches,
    service_account=st.none() | any_text,
    network=st.none() | any_text,
    web_access=st.booleans(),
)
exits = st.builds(Exit, st.sampled_from(ExitKind), st.integers(-1000, 1000), any_text, any_text)
replicas = st.builds(
    Replica,
    any_text,
    st.sampled_from(Phase),
    st.none() | exits,
    ended_at=st.none(),
    loss=any_text,
    overdue=st.booleans(),
) | st.builds(
    Replica,
    any_text,
    st.sampled_from(Phase),
    st.none() | exits,
    text_tuples,
    st.none() | st.builds(Address, any_text, counts, st.lists(counts, max_size=2).map(tuple)),
    restart=counts,
    losses=counts,
    echoes=counts,
    upset_at=st.none() | times,
    ended_at=times,
    ended_as=counts,
)
endings = st.builds(Ending, st.sampled_from(State), st.sampled_from(Code), any_text)
events = st.builds(JobEvent, times, any_text, any_text, counts, any_text, st.none() | texts)
jobs = st.builds(
    Job,
    uid=segments.map(JobUid),
    name=training_names | custom_names | tuning_names,
    display_name=texts,
    spec=specs,
    request=texts,
    create_time=times,
    update_time=times,
    labels=labels,
    state=st.sampled_from(State),
    start_time=st.none() | times,
    end_time=st.none() | times,
    attempt=counts,
    replicas=st.lists(replicas, max_size=3).map(tuple),
    ending=st.none() | endings,
    tuning_job=st.none() | segments.map(JobUid),
    version=counts,
)
"""Whole, and each field on its own: more kinds of jobs than a life can lead to."""
