"""ml v1 ("AI Platform Training"): its JSON to domain values and back."""
