"""What gcloud's options of a list do: filter, sort, limit, and how it is printed."""
