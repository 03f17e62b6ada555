"""Suites of well-known benchmarks: templates (`templates/NAME.toml`) and a table (`table.toml`)."""
