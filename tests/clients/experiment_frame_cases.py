"""What a notebook shows of an experiment, as data frames of pandas, under ``footplate run``.

Run in a process of its own, by tests/support/own_process.py.
"""

from __future__ import annotations

import os

from google.cloud import aiplatform

OVER = os.environ.get("SDK_TRANSPORT", "grpc")
if OVER == "rest":
    aiplatform.init(project="demo", api_transport="rest")


def case_runs_and_their_series() -> None:
    aiplatform.init(project="demo", location="us-central1", experiment=f"{OVER}-frames")
    for name, rate in (("run-1", 0.1), ("run-2", 0.2)):
        aiplatform.start_run(name)
        aiplatform.log_params({"rate": rate})
        aiplatform.log_metrics({"accuracy": rate * 2})
        for _ in range(3):
            aiplatform.log_time_series_metrics({"loss": rate})
        aiplatform.end_run()
    frame = aiplatform.get_experiment_df().sort_values("run_name")
    assert frame.to_dict("records") == [
        {
            "experiment_name": f"{OVER}-frames",
            "run_name": name,
            "run_type": "system.ExperimentRun",
            "state": "COMPLETE",
            "param.rate": rate,
            "metric.accuracy": rate * 2,
            "time_series_metric.loss": rate,
        }
        for name, rate in (("run-1", 0.1), ("run-2", 0.2))
    ]
    run = aiplatform.ExperimentRun("run-1", experiment=f"{OVER}-frames")
    found = run.get_time_series_data_frame()[["step", "loss"]].to_dict("list")
    assert found == {"step": [1, 2, 3], "loss": [0.1, 0.1, 0.1]}
