"""Whose each byte of an SQLite database file is: a row's, an index's, or nobody's. Pure.

Reads the file format as SQLite documents it (sqlite.org, "Database File Format", section 1): b-tree pages of the
tables and indexes named in the schema, and the overflow pages of long cells. What is in no cell of theirs (free
pages, gaps in pages) is nobody's: words that lie there should have gone.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_TABLE_LEAF, _TABLE_INNER, _INDEX_LEAF, _INDEX_INNER = 13, 5, 10, 2
_LEAVES = (_TABLE_LEAF, _INDEX_LEAF)
_KEY_VALUES = 2
"""So many values of a row without a rowid are told: its key is among them."""
_LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A live cell of a database: `table` it belongs to, its `rowid` or, where it has none, its first values."""

    table: str
    rowid: int | None
    key: tuple[int | str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class _Cell:
    start: int
    end: int
    """Offsets in the file, of what is on the page itself."""
    payload: int
    """Where the record begins; 0 where there is none."""
    length: int
    """Of the whole record, with what lies on other pages."""
    rowid: int | None
    overflow: int
    """The first page of the rest; 0 for none."""


class Pages:
    """A database file, or the bytes of one, looked at from outside. Nothing may write it meanwhile."""

    def __init__(self, data: bytes | memoryview) -> None:
        """Raises ValueError for what is no database."""
        if bytes(data[:16]) != b"SQLite format 3\0":
            raise ValueError("not a database")
        self._data = data
        size = int.from_bytes(data[16:18], "big")
        self.page_size = 65536 if size == 1 else size
        self._usable = self.page_size - data[20]
        self._trees: dict[int, str] | None = None
        self._rest: dict[int, tuple[str, _Cell]] | None = None

    def owner(self, offset: int) -> Place | None:
        """What the byte at this offset belongs to; None: nothing does."""
        page = offset // self.page_size + 1
        table = self._tree_of(page)
        if table is not None:
            for cell in self._cells(page):
                if cell.start <= offset < cell.end:
                    return self._place(table, cell)
            return None
        known = self._continued().get(page)
        return None if known is None else self._place(*known)

    # -- the walk --------------------------------------------------------------------------------------

    def _tree_of(self, page: int) -> str | None:
        if self._trees is None:
            roots = ((1, "sqlite_schema"), *self._schema())
            self._trees = {page: table for root, table in roots for page in self._below(root)}
        return self._trees.get(page)

    def _continued(self) -> dict[int, tuple[str, _Cell]]:
        """The pages on which long cells go on. Reads every cell, so only where a hit is on no page of a tree."""
        if self._rest is None:
            self._rest = {}
            for page, table in (self._trees or {}).items():
                for cell in self._cells(page):
                    self._note_overflow(self._rest, table, cell)
        return self._rest

    def _schema(self) -> Iterator[tuple[int, str]]:
        for page in self._below(1):
            for cell in self._cells(page):
                values = self._values(cell, 5)
                if len(values) >= 4 and isinstance(values[3], int) and values[3] and isinstance(values[2], str):
                    yield values[3], values[2]

    def _note_overflow(self, rest: dict[int, tuple[str, _Cell]], table: str, cell: _Cell) -> None:
        page = cell.overflow
        while page and page not in rest and self._start(page) + 4 <= len(self._data):
            rest[page] = (table, cell)
            page = int.from_bytes(self._data[self._start(page) : self._start(page) + 4], "big")

    def _below(self, root: int) -> Iterator[int]:
        """The pages of a tree, each once. All leaves are equally far down: beside a leaf are leaves."""
        waiting, seen = [root], set[int]()
        while waiting:
            page = waiting.pop()
            if not self._is_there(page) or page in seen:
                continue
            seen.add(page)
            yield page
            children = self._children(page)
            if children and self._is_there(children[0]) and self._data[self._head(children[0])] in _LEAVES:
                leaves = [child for child in children if self._is_there(child) and child not in seen]
                seen.update(leaves)
                yield from leaves
            else:
                waiting += children

    def _is_there(self, page: int) -> bool:
        return 1 <= page <= len(self._data) // self.page_size

    def _children(self, page: int) -> list[int]:
        head = self._head(page)
        if self._data[head] not in (_TABLE_INNER, _INDEX_INNER):
            return []
        children = [int.from_bytes(self._data[cell : cell + 4], "big") for cell in self._pointers(page)]
        return [*children, int.from_bytes(self._data[head + 8 : head + 12], "big")]

    # -- one page --------------------------------------------------------------------------------------

    def _start(self, page: int) -> int:
        return (page - 1) * self.page_size

    def _head(self, page: int) -> int:
        return 100 if page == 1 else self._start(page)

    def _pointers(self, page: int) -> list[int]:
        head = self._head(page)
        inner = self._data[head] in (_TABLE_INNER, _INDEX_INNER)
        count = int.from_bytes(self._data[head + 3 : head + 5], "big")
        array = self._data[head + (12 if inner else 8) :][: 2 * count]
        return [self._start(page) + place for (place,) in struct.iter_unpack(">H", array)]

    def _cells(self, page: int) -> Iterator[_Cell]:
        kind = self._data[self._head(page)]
        if kind not in (_TABLE_LEAF, _TABLE_INNER, _INDEX_LEAF, _INDEX_INNER):
            return
        for start in self._pointers(page):
            yield self._cell(kind, start)

    def _cell(self, kind: int, start: int) -> _Cell:
        at = start + (4 if kind in (_TABLE_INNER, _INDEX_INNER) else 0)
        if kind == _TABLE_INNER:
            rowid, at = self._varint(at)
            return _Cell(start, at, 0, 0, rowid, 0)
        length, at = self._varint(at)
        rowid_of_cell = None
        if kind == _TABLE_LEAF:
            rowid_of_cell, at = self._varint(at)
        here = self._on_page(length, kind == _TABLE_LEAF)
        end = at + here
        overflow = 0
        if here < length:
            overflow = int.from_bytes(self._data[end : end + 4], "big")
            end += 4
        return _Cell(start, end, at, length, rowid_of_cell, overflow)

    def _on_page(self, length: int, is_table: bool) -> int:
        usable = self._usable
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (usable - 12) * 32 // 255 - 23
        some = least + (length - least) % (usable - 4)
        return some if some <= most else least

    def _varint(self, at: int) -> tuple[int, int]:
        number = 0
        for count in range(8):
            byte = self._data[at + count]
            number = number << 7 | byte & 0x7F
            if byte < 0x80:
                return number, at + count + 1
        number = number << 8 | self._data[at + 8]
        return (number - (1 << 64) if number >= 1 << 63 else number), at + 9

    # -- one record ------------------------------------------------------------------------------------

    def _place(self, table: str, cell: _Cell) -> Place:
        key = () if cell.rowid is not None or not cell.payload else self._values(cell, _KEY_VALUES)
        return Place(table, cell.rowid, key)

    def _values(self, cell: _Cell, most: int) -> tuple[int | str | None, ...]:
        """The first values of a record, as far as they are on its page; longer ones than a key has are None."""
        if not cell.payload:
            return ()
        end_of_header, at = self._varint(cell.payload)
        end_of_header += cell.payload
        value_at = end_of_header
        values: list[int | str | None] = []
        while at < end_of_header and len(values) < most:
            kind, at = self._varint(at)
            size = _size(kind)
            raw = bytes(self._data[value_at : min(value_at + size, cell.end)])
            values.append(_value(kind, raw) if len(raw) == size else None)
            value_at += size
        return tuple(values)


def _size(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind]


def _value(kind: int, raw: bytes) -> int | str | None:
    if kind in (8, 9):
        return kind - 8
    if 1 <= kind <= 6:
        return int.from_bytes(raw, "big", signed=True)
    if kind >= 13 and kind % 2 and len(raw) <= _LONGEST_KEY:
        return raw.decode("utf-8", "replace")
    return None
