"""Train a Keras model on several machines by MultiWorkerMirroredStrategy; the chief's copy is kept.

TF_CONFIG says who is in it; TensorFlow reads it by itself.
"""

import argparse
import json
import os
import tempfile

import numpy as np

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 3 knows no strategy of several machines
import tensorflow as tf

FEATURES = 8


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", type=find_path, required=True)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=40, help="of all workers together")
    return parser.parse_args()


def make_data(batch_size):
    rows = np.random.default_rng(0).normal(size=(400, FEATURES)).astype("float32")
    targets = rows @ np.arange(1, FEATURES + 1, dtype="float32")[:, None]
    data = tf.data.Dataset.from_tensor_slices((rows, targets)).batch(batch_size)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return data.with_options(options)


def make_model():
    model = tf.keras.Sequential([tf.keras.Input((FEATURES,)), tf.keras.layers.Dense(1)])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss="mse")
    return model


def gather(strategy, tensor):
    """The tensor of every worker, one above the other, on every worker."""

    @tf.function
    def everywhere():
        return tf.distribute.get_replica_context().all_gather(tensor[None], axis=0)

    return strategy.run(everywhere).numpy().tolist()


def main():
    args = parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver
    chief = task.task_type == "chief"
    print(f"{task.task_type} {task.task_id}: {strategy.num_replicas_in_sync} replicas", flush=True)

    with strategy.scope():
        model = make_model()
    history = model.fit(make_data(args.batch_size), epochs=args.epochs, verbose=2)

    kernel = model.get_weights()[0]
    report = {
        "replicas": strategy.num_replicas_in_sync,
        "losses": history.history["loss"],
        "kernels": gather(strategy, tf.constant(kernel)),
        "ranks": gather(strategy, tf.constant(0 if chief else 1 + task.task_id)),
    }
    print(report, flush=True)
    with tempfile.TemporaryDirectory() as elsewhere:
        folder = args.job_dir if chief else elsewhere
        with open(os.path.join(folder, "report.json"), "w") as file:
            json.dump(report, file)
        model.save(os.path.join(folder, "model.keras"))  # all of them must: it is a joint reading


if __name__ == "__main__":
    main()
