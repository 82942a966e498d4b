"""Jobs and their events in SQL: SQLite and PostgreSQL."""
