"""What the program of a trial reports of its metrics: its event files, and hypertune's file."""
