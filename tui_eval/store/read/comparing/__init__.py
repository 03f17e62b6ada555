"""What comparisons, baselines and histories ask of runs."""
