"""Alembic migrations, part of the package so that an installed Footplate can run them."""
