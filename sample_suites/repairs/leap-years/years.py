def is_leap(year: int) -> bool:
    """Say whether a year of the Gregorian calendar has 366 days."""
    return year % 4 == 0
