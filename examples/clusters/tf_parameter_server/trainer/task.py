"""Train by ParameterServerStrategy: the chief hands out steps, and the weights lie on a server.

Workers and parameter servers serve for ever: the job ends when the chief does.
"""

import argparse
import json
import os
import sys

import tensorflow as tf

FEATURES = 8


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", type=find_path, required=True)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32)
    return parser.parse_args()


def serve(resolver):
    server = tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol="grpc",
    )
    print(f"{resolver.task_type} {resolver.task_id} serves", flush=True)
    server.join()


def coordinate(resolver, args):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weights = tf.Variable(tf.zeros([FEATURES, 1]))
        steps = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.SUM)
    target = tf.reshape(tf.range(1.0, FEATURES + 1), [FEATURES, 1])

    @tf.function
    def step():
        rows = tf.random.normal([args.batch_size, FEATURES])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((rows @ (weights - target)) ** 2)
        weights.assign_sub(0.05 * tape.gradient(loss, weights))
        number = steps.assign_add(1)
        tf.print("step", number, output_stream=sys.stdout)  # in the log of the worker
        return loss

    losses = [coordinator.schedule(step) for _ in range(args.steps)]
    coordinator.join()
    return {
        "steps": int(steps.numpy()),
        "losses": [loss.fetch().tolist() for loss in (losses[0], losses[-1])],
        "weights": weights.numpy()[:, 0].tolist(),
        "place": weights.device,
        "workers": len(resolver.cluster_spec().as_dict()["worker"]),
    }


def main():
    args = parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type != "chief":
        serve(resolver)
    report = coordinate(resolver, args)
    print(report, flush=True)
    with open(os.path.join(args.job_dir, "report.json"), "w") as file:
        json.dump(report, file)


if __name__ == "__main__":
    main()
