"""What a person sets: the settings screen's parts, and the configuration put in force."""
