"""Studies of hyperparameters: search spaces, metrics, trials. Pure values."""
