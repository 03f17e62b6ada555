"""A terminal workbench for LLM evaluations."""

__version__ = "0.1.0"
