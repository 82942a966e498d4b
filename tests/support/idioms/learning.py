"""Programs of scikit-learn, XGBoost and pandas, which export as Google's samples do."""

from __future__ import annotations

import os
import pickle

import joblib
import pandas
import xgboost
from google.cloud import storage
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

ROOT = os.environ["IDIOMS_ROOT"]


def export(case: str, file: str) -> None:
    place = os.path.join(ROOT, case, file)
    blob = storage.blob.Blob.from_string(place, client=storage.Client())
    blob.upload_from_filename(file)


def fit() -> LogisticRegression:
    return LogisticRegression(max_iter=1000).fit(*load_iris(return_X_y=True))


def case_scikit_learn_by_joblib() -> None:
    joblib.dump(fit(), "model.joblib")
    export("scikit_learn_by_joblib", "model.joblib")


def case_scikit_learn_by_pickle() -> None:
    with open("model.pkl", "wb") as file:
        pickle.dump(fit(), file)
    export("scikit_learn_by_pickle", "model.pkl")


def case_scikit_learn_in_a_blob_that_is_open() -> None:
    place = os.path.join(ROOT, "scikit_learn_in_a_blob_that_is_open", "model.joblib")
    blob = storage.blob.Blob.from_string(place, client=storage.Client())
    with blob.open("wb", ignore_flush=True) as file:
        joblib.dump(fit(), file)
    with blob.open("rb") as file:
        assert joblib.load(file).classes_.tolist() == [0, 1, 2]


def case_scikit_learn_below_gcs() -> None:
    folder = ROOT.replace("gs://", "/gcs/") + "/scikit_learn_below_gcs"
    os.makedirs(folder)
    joblib.dump(fit(), folder + "/model.joblib")
    assert joblib.load(folder + "/model.joblib").classes_.tolist() == [0, 1, 2]


def case_xgboost() -> None:
    rows, classes = load_iris(return_X_y=True)
    data = xgboost.DMatrix(rows, label=classes)
    settings = {"max_depth": 2, "objective": "multi:softmax", "num_class": 3}
    xgboost.train(settings, data, num_boost_round=2).save_model("model.json")
    export("xgboost", "model.json")


def case_pandas() -> None:
    table = pandas.DataFrame({"a": [1, 2], "b": [0.5, 0.25]})
    table.to_csv(f"{ROOT}/pandas/table.csv", index=False)
    assert pandas.read_csv(f"{ROOT}/pandas/table.csv").equals(table)
