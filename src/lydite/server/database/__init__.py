"""The database behind the index: SQLite by default, PostgreSQL by URL."""
