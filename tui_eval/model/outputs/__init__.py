"""What an attempt produces: an output or a failure, messages, how it ended, what it left."""
