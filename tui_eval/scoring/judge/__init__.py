"""What judges are asked, how their replies are read, what their answers come to."""
