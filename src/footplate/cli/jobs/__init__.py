"""Commands on jobs: a table of verbs for three kinds of jobs, and what makes a job of each kind."""
