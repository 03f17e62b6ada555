"""Judges by kind."""
