"""Widgets that know nothing of runs: a virtual table, a page of text, bars, the key line."""
