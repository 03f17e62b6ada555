"""What is known of a run as a whole: its parts, its endpoints' limits, its levels, its place."""
