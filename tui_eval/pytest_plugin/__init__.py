"""Suites in pytest: a fixture that runs them, and their gates and cases as tests.

`hooks.py` is all that a session loads which uses neither.
"""
