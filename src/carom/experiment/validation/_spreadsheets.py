"""Numbers of spreadsheets: those of Excel 97 (.xls) and the present ones (.xlsx), without what else is in them.

A .xls file is a file system of sectors (Microsoft's MS-CFB) with one stream, "Workbook", of records (MS-XLS): a type, a
length and data. A .xlsx file is a zip archive of XML. Only cells that hold numbers or shared texts are read.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from typing import Any
from xml.etree import ElementTree

from ...errors import CaromError

Cells = dict[tuple[int, int], Any]  # by row and column
END = 0xFFFFFFF0  # sectors from here on are none
SHEET, NAME, NUMBER, SHORT, SHORTS = 0x0809, 0x0085, 0x0203, 0x027E, 0x00BD
MOST_SECTORS = 100_000


def sheets_of(text: bytes, name: str) -> dict[str, Cells]:
    """Sheets by their names."""
    try:
        return _old(text) if text[:8] == bytes.fromhex("d0cf11e0a1b11ae1") else _new(text)
    except (struct.error, KeyError, IndexError, ValueError, zipfile.BadZipFile, ElementTree.ParseError):
        raise CaromError(f"{name} is not a spreadsheet that can be read (.xls of Excel 97, or .xlsx)") from None


# -- Excel 97 ----------------------------------------------------------------------------------------------------------


def _old(text: bytes) -> dict[str, Cells]:
    stream, names, sheets, at = _workbook(text), list[str](), list[Cells](), 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        data, at = stream[at + 4 : at + 4 + size], at + 4 + size
        if kind == NAME:
            names.append(data[8:].decode("latin1"))
        elif kind == SHEET and struct.unpack_from("<H", data, 2)[0] == 0x10:
            sheets.append({})
        elif sheets:
            sheets[-1].update(_numbers(kind, data))
    return dict(zip(names, sheets, strict=False))


def _numbers(kind: int, data: bytes) -> Cells:
    """The cells of a record."""
    if kind == NUMBER:
        row, column, _, value = struct.unpack("<HHHd", data)
        return {(row, column): value}
    if kind == SHORT:
        row, column, _, packed = struct.unpack("<HHHI", data)
        return {(row, column): _unpacked(packed)}
    if kind == SHORTS:
        row, first = struct.unpack_from("<HH", data)
        many = range((len(data) - 6) // 6)
        return {(row, first + k): _unpacked(struct.unpack_from("<I", data, 6 + 6 * k)[0]) for k in many}
    return {}


def _unpacked(packed: int) -> float:
    """A number of 30 bits: an integer or the upper half of a double, perhaps times 100."""
    if packed & 2:
        value = float((packed >> 2) - (1 << 30 if packed >> 31 else 0))
    else:
        value = float(struct.unpack("<d", struct.pack("<Q", (packed & 0xFFFFFFFC) << 32))[0])
    return value / 100.0 if packed & 1 else value


def _workbook(text: bytes) -> bytes:
    """The stream that holds the records."""
    size = 1 << struct.unpack_from("<H", text, 30)[0]
    count, first = struct.unpack_from("<I", text, 44)[0], struct.unpack_from("<I", text, 48)[0]

    def sector(i: int) -> bytes:
        return text[(i + 1) * size : (i + 2) * size]

    tables = [sector(i) for i in struct.unpack_from(f"<{count}I", text, 76)]
    following = [i for table in tables for i in struct.unpack(f"<{size // 4}I", table)]

    def chain(i: int) -> bytes:
        parts = list[bytes]()
        while i < END and len(parts) < MOST_SECTORS:
            parts.append(sector(i))
            i = following[i]
        return b"".join(parts)

    entries = chain(first)
    for at in range(0, len(entries), 128):
        letters = struct.unpack_from("<H", entries, at + 64)[0]
        if entries[at : at + max(letters - 2, 0)].decode("utf-16le") in ("Workbook", "Book"):
            begin, length = struct.unpack_from("<II", entries, at + 116)
            return chain(begin)[:length]
    raise KeyError("Workbook")


# -- zip archives ------------------------------------------------------------------------------------------------------


def _new(text: bytes) -> dict[str, Cells]:
    with zipfile.ZipFile(io.BytesIO(text)) as archive:
        names = archive.namelist()
        texts = _texts(archive.read("xl/sharedStrings.xml")) if "xl/sharedStrings.xml" in names else []
        found = sorted(name for name in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name))
        return {name.rpartition("/")[2]: _cells(archive.read(name), texts) for name in found}


def _texts(xml: bytes) -> list[str]:
    return ["".join(t.text or "" for t in item.iter() if t.tag.endswith("}t")) for item in _tree(xml)]


def _cells(xml: bytes, texts: list[str]) -> Cells:
    out: Cells = {}
    for cell in _tree(xml).iter():
        value = next((v.text for v in cell if v.tag.endswith("}v")), None) if cell.tag.endswith("}c") else None
        place = re.fullmatch(r"([A-Z])(\d+)", cell.get("r", ""))
        if value is None or place is None:
            continue
        kind = cell.get("t", "n")
        if kind in ("n", "s"):
            number: Any = texts[int(value)] if kind == "s" else float(value)
            out[int(place[2]) - 1, ord(place[1]) - ord("A")] = number
    return out


def _tree(xml: bytes) -> Any:
    if b"<!DOCTYPE" in xml:  # entities could grow without bound
        raise ValueError("a sheet does not declare entities")
    return ElementTree.fromstring(xml)
