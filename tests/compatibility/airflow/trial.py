"""A trial of the tuning example, in place of the program in its own image."""

import argparse

import hypertune

parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float)
parser.add_argument("--momentum", type=float)
parser.add_argument("--num_neurons", type=float)
point = parser.parse_args()
accuracy = 1 - abs(point.learning_rate - 0.1) - abs(point.momentum - 0.9) / point.num_neurons
hypertune.HyperTune().report_hyperparameter_tuning_metric("accuracy", accuracy)
