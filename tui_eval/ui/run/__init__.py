"""What the Run screen is made of: its reading, its head, its table, its detail, its requests."""
