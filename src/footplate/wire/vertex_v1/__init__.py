"""aiplatform v1 ("Vertex AI"): its JSON to domain values and back."""
