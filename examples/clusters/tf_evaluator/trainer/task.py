"""Learn to read digits on the chief, while an evaluator beside it tests each checkpoint.

The evaluator lags: when it comes to the last checkpoint, the chief has mostly ended.
"""

import argparse
import json
import os
import time

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 3 has no SidecarEvaluator
import tensorflow as tf
from sklearn.datasets import load_digits

TEST_ROWS = 297


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", type=find_path, required=True)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument(
        "--seconds-per-evaluation", type=float, default=0.0, help="of pretended work"
    )
    return parser.parse_args()


def load_data():
    """For training and for tests."""
    images, labels = load_digits(return_X_y=True)
    digits = tf.data.Dataset.from_tensor_slices(((images / 16.0).astype("float32"), labels))
    return digits.skip(TEST_ROWS).shuffle(len(images)).batch(32), digits.take(TEST_ROWS).batch(32)


def make_model():
    layers = [tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(10)]
    model = tf.keras.Sequential([tf.keras.Input((64,)), *layers])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    return model


def train(model, checkpoints, epochs):
    """Leaves a checkpoint for each epoch, and says what the last one is worth."""
    training, test = load_data()
    save = tf.keras.callbacks.ModelCheckpoint(
        os.path.join(checkpoints, "ckpt-{epoch}"), save_weights_only=True
    )
    history = model.fit(
        training, validation_data=test, epochs=epochs, callbacks=[save], verbose=2
    ).history
    step = int(model.optimizer.iterations.numpy())
    return {"step": step, "losses": history["loss"], "test_loss": history["val_loss"][-1]}


class Findings(tf.keras.callbacks.Callback):
    """What each evaluation found, by the training's step that it looked at."""

    def __init__(self, pause_s):
        super().__init__()
        self.pause_s = pause_s
        self.found = []

    def on_test_end(self, logs=None):
        time.sleep(self.pause_s)
        self.found.append({"step": int(self.model.optimizer.iterations.numpy()), **logs})
        print("evaluated", self.found[-1], flush=True)


def evaluate(model, checkpoints, epochs, pause_s):
    """The newest checkpoint, again and again, until it is the last one."""
    _, test = load_data()
    findings = Findings(pause_s)
    tf.keras.utils.SidecarEvaluator(
        model, test, checkpoints, max_evaluations=epochs, callbacks=[findings]
    ).start()
    return findings.found


def main():
    args = parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    task = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
    checkpoints = os.path.join(args.job_dir, "checkpoints")
    model = make_model()
    if task == "evaluator":
        report = evaluate(model, checkpoints, args.epochs, args.seconds_per_evaluation)
    else:
        report = train(model, checkpoints, args.epochs)
    with open(os.path.join(args.job_dir, f"{task}.json"), "w") as file:
        json.dump(report, file)


if __name__ == "__main__":
    main()
