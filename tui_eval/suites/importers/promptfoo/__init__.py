"""What promptfoo keeps: its configuration, and the results it writes as JSON."""
