"""A judge at work: questions go out in batches, and again where one was not answered."""
