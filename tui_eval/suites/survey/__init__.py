"""What all cases of a suite come to before anybody is asked: its size, and what would fail."""
