"""The records of experiments: ML metadata, and the time series of TensorBoards."""
