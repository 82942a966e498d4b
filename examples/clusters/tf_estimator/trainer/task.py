"""Learn to read digits with an Estimator of TensorFlow 1, on a master, workers and servers.

The weights lie on the parameter servers, and are trained by the master and the workers, each at its
own pace. The master evaluates each checkpoint, too. The servers never end: the job ends when the
master does.
"""

import argparse
import glob
import json
import os
import time

import tensorflow as tf
from sklearn.datasets import load_digits

TEST_ROWS = 297


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", type=find_path, required=True)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch-size", type=int, default=32, help="of each worker")
    return parser.parse_args()


def load_data():
    images, labels = load_digits(return_X_y=True)
    return (images / 16.0).astype("float32"), labels.astype("int32")


def read_share(config, batch_size):
    """Without end, in an order that changes: a worker's own part of the training data."""
    images, labels = load_data()
    share = slice(config.global_id_in_cluster, -TEST_ROWS, config.num_worker_replicas)
    rows = tf.data.Dataset.from_tensor_slices((images[share], labels[share]))
    return rows.shuffle(len(images)).repeat().batch(batch_size)


def read_test():
    images, labels = load_data()
    return tf.data.Dataset.from_tensors((images[-TEST_ROWS:], labels[-TEST_ROWS:]))


def model(features, labels, mode):
    hidden = tf.layers.dense(features, 32, tf.nn.relu)
    scores = tf.layers.dense(hidden, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, scores)
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.metrics.accuracy(labels, tf.argmax(scores, axis=1))
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})

    step = tf.train.GradientDescentOptimizer(0.2).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


class Rendezvous(tf.train.SessionRunHook):
    """Nobody trains before the last one has come: a worker comes seconds after the master."""

    def __init__(self, expected):
        self.expected = expected

    def begin(self):
        self.present = tf.get_variable(
            "present", [], tf.int32, tf.zeros_initializer, trainable=False
        )
        self.come = self.present.assign_add(1)

    def after_create_session(self, session, coord):
        present = session.run(self.come)
        while present < self.expected and not coord.should_stop():
            time.sleep(0.1)
            present = session.run(self.present)


class Places(tf.train.SessionRunHook):
    """At which task of the cluster each weight really is, from a trace of a reading."""

    def end(self, session):
        trace = tf.RunMetadata()
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(tf.trainable_variables(), options=full, run_metadata=trace)
        names = {variable.op.name for variable in tf.trainable_variables()}
        self.found = {
            node.node_name: device.device
            for device in trace.step_stats.dev_stats
            for node in device.node_stats
            if node.node_name in names
        }


def read_evaluations(folder):
    """What each evaluation found, in the order of training."""
    found = []
    for path in glob.glob(os.path.join(folder, "events.*")):
        for event in tf.train.summary_iterator(path):
            values = {value.tag: value.simple_value for value in event.summary.value}
            if "accuracy" in values:
                entry = {tag: values[tag] for tag in ("loss", "accuracy")}
                found.append({"step": event.step, **entry})
    return sorted(found, key=lambda entry: entry["step"])


def main():
    args = parse_args()
    tf.logging.set_verbosity(tf.logging.INFO)
    config = tf.estimator.RunConfig(model_dir=args.job_dir, save_checkpoints_steps=args.steps // 3)
    estimator = tf.estimator.Estimator(model, config=config)
    gathering, places = Rendezvous(config.num_worker_replicas), Places()
    train = tf.estimator.TrainSpec(
        lambda: read_share(config, args.batch_size),
        max_steps=args.steps,
        hooks=[gathering, places] if config.is_chief else [gathering],
    )
    test = tf.estimator.EvalSpec(read_test, steps=None, start_delay_secs=0, throttle_secs=0)
    tf.estimator.train_and_evaluate(estimator, train, test)
    if config.is_chief:
        report = {"evaluations": read_evaluations(estimator.eval_dir()), "places": places.found}
        print(report, flush=True)
        with open(os.path.join(args.job_dir, "report.json"), "w") as file:
            json.dump(report, file)


if __name__ == "__main__":
    main()
