"""Suites out of the files of other tools."""
