"""What charts show of a run: over time, and by how much."""
