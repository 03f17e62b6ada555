"""SQL of several statements, within the transaction that there is."""

import sqlite3


def run_script(db: sqlite3.Connection, script: str) -> None:
    """Run each statement of a script; `executescript` would commit the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
