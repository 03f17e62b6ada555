"""Scorers that judges decide: their fields, and their settings as rendered for a case."""
