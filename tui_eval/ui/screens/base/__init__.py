"""What screens have in common: how they are laid out and painted, and how they are left."""
