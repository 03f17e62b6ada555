"""A run without a screen: summaries, statistics, progress and exports."""
