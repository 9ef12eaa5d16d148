"""Every text column has a forget layer, or is known to hold no words."""

from gateway.store import columns
from gateway.store.db import Database


def test_every_text_column_is_claimed(db: Database) -> None:
    """Words in a column that no layer erases would survive a forget (design.md, promise 5)."""
    with db.read() as rd:
        found = {
            f"{row['table_name']}.{row['column_name']}"
            for row in rd.rows(
                """
                SELECT tables.name AS table_name, columns.name AS column_name
                  FROM pragma_table_list AS tables JOIN pragma_table_info(tables.name) AS columns
                 WHERE tables.schema = 'main' AND tables.name NOT LIKE 'sqlite_%'
                   AND (tables.type = 'virtual'
                        OR tables.type = 'table' AND columns.type NOT IN ('INTEGER', 'REAL'))
                """
            )
        }

    assert found == set(columns.COLUMNS)


def test_the_words_are_where_the_design_says(db: Database) -> None:
    """A layer name that nobody erases would be a quiet hole."""
    layers = {layer for layer in columns.COLUMNS.values() if layer != columns.NO_WORDS}

    assert layers == {
        "entries",
        "ledger",
        "messages",
        "outbox",
        "prompts",
        "requests",
        "search_index",
        "summaries",
        "titles",
    }
