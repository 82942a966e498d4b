"""Metrics of a trial's program: TensorFlow event files, and hypertune's file."""
