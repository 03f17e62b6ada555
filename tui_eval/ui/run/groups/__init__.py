"""What listed trials have in common, as rows: groups with their rates, choices as a table."""
