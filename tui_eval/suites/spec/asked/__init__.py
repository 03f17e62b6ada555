"""What targets and judges have in common: each is an `AskedSpec` of some kind."""
