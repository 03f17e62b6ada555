"""Scorers that a program, a function or a plugin decides."""
