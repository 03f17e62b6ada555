"""What programs took and left, in words and documents."""
