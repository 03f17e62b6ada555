"""Commands that no person types: the program starts itself with them."""
