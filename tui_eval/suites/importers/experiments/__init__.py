"""Experiments of other tools: outputs with what was said of them, as suites.

Each tool's reader gives `ResultRow`s; `experiment_suite.py` makes the suite, the same for all.
"""
