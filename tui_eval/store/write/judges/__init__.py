"""What judges said, and how they were measured."""
