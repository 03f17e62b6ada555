"""What people give a run: grades, verdicts, notes."""
