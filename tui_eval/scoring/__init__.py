"""From an output to grades."""
