"""What listed trials have in common."""
