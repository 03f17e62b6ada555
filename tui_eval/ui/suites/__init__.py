"""What the Suites screen and Launch are made of: the shelf, the preview, the form's values."""
