"""Commands on suites' files: written, imported, checked, trusted."""
