"""What the words of a command line name: suites, runs, trials, sides of a comparison, formats."""
