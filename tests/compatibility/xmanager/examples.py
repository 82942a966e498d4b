"""XManager's own launcher, of a script in the steps of its README, and its Vizier."""

import os

from google.cloud import aiplatform_v1beta1 as aip
from google.cloud import storage

from example_results import example, run_example

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
os.environ["GOOGLE_CLOUD_BUCKET_NAME"] = "xmanager"


def main() -> None:
    storage.Client(PROJECT).create_bucket("xmanager", location=REGION)
    # Debian's docker has no buildx, which its own way to call docker needs.
    command = ["xmanager", "launch", "launcher.py", "--", "--noxm_use_docker_command"]
    print(run_example("xmanager launch", command))
    with example("a study of xmanager.vizier, measured by its VizierWorker"):
        search()


def search() -> None:
    from xmanager.vizier.vizier_cloud import study_factory, vizier_worker

    values = aip.StudySpec.ParameterSpec.DoubleValueSpec(min_value=-2.0, max_value=2.0)
    spec = aip.StudySpec(
        algorithm=aip.StudySpec.Algorithm.RANDOM_SEARCH,
        parameters=[
            aip.StudySpec.ParameterSpec(parameter_id=name, double_value_spec=values)
            for name in "xy"
        ],
        metrics=[
            aip.StudySpec.MetricSpec(
                metric_id="loss", goal=aip.StudySpec.MetricSpec.GoalType.MINIMIZE
            )
        ],
    )
    factory = study_factory.NewStudy(spec, display_name="polynomial", location=REGION)
    study = factory.study()
    for number in range(2):
        request = aip.SuggestTrialsRequest(
            parent=study, suggestion_count=1, client_id="work unit %d" % number
        )
        # The first one loads its models: more than the 5 s that are usual on a busy machine.
        suggesting = factory.vz_client.suggest_trials(request=request, timeout=60)
        trial = suggesting.result().trials[0]
        worker = vizier_worker.VizierWorker(trial.name)
        worker.add_trial_measurement(1, {"loss": sum(p.value**2 for p in trial.parameters)})
        worker.complete_trial()
    best = factory.vz_client.list_optimal_trials(request={"parent": study}).optimal_trials
    assert best[0].state == aip.Trial.State.SUCCEEDED, best


main()
