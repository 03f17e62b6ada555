"""Reading trials: as rows, whole, open, and what is known of their attempts and outputs."""
