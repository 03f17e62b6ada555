"""A run as one page of HTML, which opens from a disk and fetches nothing."""
