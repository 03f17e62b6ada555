def solved(grid: list[list[int]]) -> list[list[int]]:
    """Return a Sudoku with its empty fields, the noughts, filled in."""
    raise NotImplementedError
