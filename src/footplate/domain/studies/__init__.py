"""What a search over hyperparameters works on: spaces, metrics, trials, studies. Pure values."""
