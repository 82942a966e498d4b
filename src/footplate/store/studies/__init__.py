"""Studies, trials, models and reports as rows and documents."""
