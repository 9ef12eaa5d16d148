"""Finding passages in bytes: plain, encoded or compressed. Pure but for the clock-less work of zlib and its kin."""

import base64
import binascii
import bz2
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO
from urllib.parse import unquote_to_bytes

from gateway.memory import passages
from gateway.memory.passages import Passage
from gateway.memory.verifying.needles import Needle, lowered

CHUNK = 1 << 20
"""What is looked at in one piece; it stays in the cache of a processor while each needle is looked for."""
AROUND = 400
"""Bytes on each side that are decoded, besides the passage's own length."""
MOST_HITS = 10_000
"""In one file; who has more knows enough."""
_MOST_UNPACKED = 4 << 30
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]*")
_BASE64_BEFORE = re.compile(rb"[A-Za-z0-9+/_-]*\Z")
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_BREAKS = re.compile(r"\\+[nrt]")


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where a passage stands. `inside`: only inside longer words, which a forget does not cover."""

    offset: int
    encoding: str
    inside: bool


def scan(
    data: bytes | memoryview,
    wanted: Sequence[Passage],
    needles: Sequence[Needle],
    first: int = 0,
    end: int | None = None,
) -> Iterator[Hit]:
    """Every hit in these bytes, as they are, that begins in this part of them; each place once."""
    longest = max((len(passage.text.encode()) for passage in wanted), default=0)
    around = AROUND + 4 * longest
    found: set[int] = set()
    end = len(data) if end is None else min(end, len(data))
    for start in range(first, end, CHUNK):
        low, last = max(0, start - around), min(start + CHUNK, end)
        raw = bytes(data[low : last + around])
        small = lowered(raw)
        for needle in needles:
            for at in _all(small if needle.lowered else raw, needle.data):
                offset = low + at
                if offset in found or not start <= offset < last:
                    continue
                hit = _read(raw, at, needle, wanted, around)
                if hit is not None:
                    found.add(offset)
                    yield Hit(offset, needle.encoding, hit)
                    if len(found) >= MOST_HITS:
                        return


def _all(data: bytes, needle: bytes) -> Iterator[int]:
    at = data.find(needle)
    while at >= 0:
        yield at
        at = data.find(needle, at + 1)


def _read(raw: bytes, at: int, needle: Needle, wanted: Sequence[Passage], around: int) -> bool | None:
    """Whether the passage stands there only inside a longer word; None: it does not stand there at all."""
    inside = False
    for text in _decoded(raw, at, needle, around):
        if passages.holds(text, wanted):
            return False
        inside = inside or bool(passages.inside(text, wanted))
    return True if inside else None


def _decoded(raw: bytes, at: int, needle: Needle, around: int) -> Iterator[str]:
    """The text around a place, in each way in which it can be read."""
    before, after = raw[max(0, at - around) : at], raw[at : at + len(needle.data) + around]
    match needle.encoding:
        case "text":
            yield from _as_text(before, after)
        case "base64":
            yield from _from_base64(before, after)
        case "utf-16":
            for odd in (0, 1):
                wide = (before + after)[(len(before) + odd) % 2 :]
                for end in ("le", "be"):
                    yield wide[: len(wide) // 2 * 2].decode(f"utf-16-{end}", "replace")


def _as_text(before: bytes, after: bytes) -> Iterator[str]:
    """As it stands, and with what JSON and addresses escape."""
    text = _utf8(before, after)
    yield text
    if "\\" in text:
        unescaped = _ESCAPED.sub(lambda one: chr(int(one[1], 16)), text)
        # Halves of a character find each other, and line breaks are line breaks again.
        whole = unescaped.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
        yield _BREAKS.sub(" ", whole)
    if "%" in text or "+" in text:
        yield unquote_to_bytes((before + after).replace(b"+", b" ")).decode("utf-8", "replace")


def _utf8(before: bytes, after: bytes) -> str:
    # A window may begin inside a character; what is no text at all is a border between words.
    return before.decode("utf-8", "replace") + after.decode("utf-8", "replace")


def _from_base64(before: bytes, after: bytes) -> Iterator[str]:
    start = _BASE64_BEFORE.search(before)
    end = _BASE64.match(after)
    run = (start[0] if start else b"") + (end[0] if end else b"")
    run = run.translate(bytes.maketrans(b"-_", b"+/"))
    for shift in range(4):
        part = run[shift:]
        part = part[:-1] if len(part) % 4 == 1 else part
        try:
            yield base64.b64decode(part + b"=" * (-len(part) % 4)).decode("utf-8", "replace")
        except binascii.Error:
            continue


# -- compressed ------------------------------------------------------------------------------------------


def unpacked(data: bytes | memoryview) -> Iterator[tuple[str, bytes]]:
    """What is inside compressed data, in pieces that overlap, each with what it was compressed by."""
    head = bytes(data[:6])
    if head.startswith(b"\x1f\x8b"):
        yield from _pieces("gzip", _stream(data, zlib.MAX_WBITS | 16))
    elif head.startswith(b"BZh"):
        yield from _pieces("bzip2", _whole(data, bz2.BZ2Decompressor()))
    elif head.startswith(b"\xfd7zXZ\0"):
        yield from _pieces("xz", _whole(data, lzma.LZMADecompressor()))
    elif head.startswith(b"PK\x03\x04"):
        yield from _members(data)
    else:
        for found in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
            yield from _pieces("zlib", _stream(memoryview(data)[found.start() :], zlib.MAX_WBITS))


def _pieces(name: str, parts: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    kept = b""
    total = 0
    for part in parts:
        total += len(part)
        piece = kept + part
        yield name, piece
        kept = piece[-4 * AROUND :]
        if total > _MOST_UNPACKED:
            return


def _stream(data: bytes | memoryview, bits: int) -> Iterator[bytes]:
    """Inflate one stream, and those of a gzip file that follow it, as far as they are sound."""
    at = 0
    while at < len(data):
        one = zlib.decompressobj(bits)
        try:
            while at < len(data) and not one.eof:
                part = bytes(data[at : at + CHUNK])
                yield one.decompress(part)
                at += len(part) - len(one.unused_data)
        except zlib.error:
            return
        if bits == zlib.MAX_WBITS:
            return


def _whole(data: bytes | memoryview, one: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> Iterator[bytes]:
    try:
        for at in range(0, len(data), CHUNK):
            if one.eof:
                return
            yield one.decompress(bytes(data[at : at + CHUNK]))
    except (OSError, EOFError, lzma.LZMAError):
        return


def _members(data: bytes | memoryview) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
            for member in archive.infolist():
                with archive.open(member) as file:
                    yield from _pieces("zip", _read_out(file))
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, zlib.error):
        return


def _read_out(file: IO[bytes]) -> Iterator[bytes]:
    while part := file.read(CHUNK):
        yield part
