"""Whether a run holds to its gate."""
