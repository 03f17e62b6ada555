"""The one SQLite file everything meets in."""
