"""tui-eval beside other tools that do the same work."""
