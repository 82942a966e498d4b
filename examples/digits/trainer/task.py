"""Learn to read handwritten digits, as one would write it for the cloud.

The data set (1,797 images of 8 x 8 pixels) comes with scikit-learn.
"""

import argparse
import logging
import os
import sys

import hypertune
import joblib
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", type=find_path, default=os.environ.get("AIP_MODEL_DIR", "."))
    parser.add_argument("--regularization", type=float, default=1.0)
    parser.add_argument("--max-iter", type=int, default=200)
    return parser.parse_args()


def train(regularization, max_iter):
    images, digits = load_digits(return_X_y=True)
    logging.info("%d images of %d pixels", *images.shape)
    train_x, test_x, train_y, test_y = train_test_split(
        images, digits, test_size=0.25, random_state=0
    )
    model = make_pipeline(
        StandardScaler(), LogisticRegression(C=1.0 / regularization, max_iter=max_iter)
    )
    model.fit(train_x, train_y)
    return model, accuracy_score(test_y, model.predict(test_x))


def main():
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s: %(message)s")
    args = parse_args()
    model, accuracy = train(args.regularization, args.max_iter)
    logging.info("accuracy: %.4f", accuracy)
    hypertune.HyperTune().report_hyperparameter_tuning_metric("accuracy", accuracy)

    os.makedirs(args.job_dir, exist_ok=True)
    path = os.path.join(args.job_dir, "model.joblib")
    joblib.dump(model, path)
    logging.info("model saved to %s", path)


if __name__ == "__main__":
    main()
