"""Commands of ``footplate ai`` that are the same for every kind of job."""
