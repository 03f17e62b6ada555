"""Work that may take long or much, in processes of their own that are ended past a limit."""
