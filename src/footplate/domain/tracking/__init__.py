"""What experiments leave behind: ML metadata, and the time series of TensorBoards."""
