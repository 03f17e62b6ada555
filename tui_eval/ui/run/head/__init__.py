"""The head of a run: its title, a line a target, its pace, what is special about it now."""
