"""Reports that CI servers read."""
