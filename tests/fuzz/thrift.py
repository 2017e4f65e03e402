"""The compact protocol of Thrift, in which Parquet files describe themselves: read, change, write.

A value is a pair of its type and, for a struct, a list of (field, value); for a list, the type of
its entries and the entries; for all else, bytes or a whole number.
"""

from __future__ import annotations

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


def decode(data):
    """Return the struct at the start of some bytes."""
    value, _ = _read(data, 0, STRUCT)
    return value


def encode(value):
    """Return the bytes of a value."""
    kind, inner = value
    if kind == STRUCT:
        return _fields(inner)
    if kind in (LIST, SET):
        entry, entries = inner
        head = bytes([len(entries) << 4 | entry]) if len(entries) < 15 else b""
        return (head or bytes([0xF0 | entry]) + _varint(len(entries))) + b"".join(
            map(encode, entries)
        )
    if kind in (I16, I32, I64):
        return _varint((inner << 1) ^ (inner >> 63) if inner < 0 else inner << 1)
    if kind == BINARY:
        return _varint(len(inner)) + inner
    return inner


def places(value, path=()):
    """Return the paths of all values within a value."""
    kind, inner = value
    yield path
    if kind == STRUCT:
        for i, (_, one) in enumerate(inner):
            yield from places(one, (*path, i))
    elif kind in (LIST, SET):
        for i, one in enumerate(inner[1]):
            yield from places(one, (*path, i))


def changed(value, path, change):
    """Return a value with the one at a path changed: `change` gets it, and None removes it."""
    if not path:
        return change(value)
    kind, inner = value
    i, rest = path[0], path[1:]
    if kind == STRUCT:
        new = changed(inner[i][1], rest, change)
        one = [] if new is None else [(inner[i][0], new)]
        return kind, [*inner[:i], *one, *inner[i + 1 :]]
    entry, entries = inner
    new = changed(entries[i], rest, change)
    return kind, (entry, [*entries[:i], *([] if new is None else [new]), *entries[i + 1 :]])


def _fields(fields):
    data, last = b"", 0
    for field, (kind, inner) in fields:
        step = field - last
        short = 0 < step < 16
        data += bytes([step << 4 | kind]) if short else bytes([kind]) + _varint(field << 1)
        data += b"" if kind in (TRUE, FALSE) else encode((kind, inner))
        last = field
    return data + b"\0"


def _varint(number):
    number &= (1 << 64) - 1
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


def _read(data, at, kind):
    if kind == STRUCT:
        fields, last = [], 0
        while data[at]:
            step, kind_of, at = data[at] >> 4, data[at] & 15, at + 1
            if not step:
                number, at = _read_varint(data, at)
                step = (number >> 1) - last
            last += step
            if kind_of in (TRUE, FALSE):
                fields.append((last, (kind_of, b"")))
                continue
            value, at = _read(data, at, kind_of)
            fields.append((last, value))
        return (STRUCT, fields), at + 1
    if kind in (LIST, SET):
        size, entry, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = _read_varint(data, at)
        entries = []
        for _ in range(size):
            value, at = _read(data, at, entry)
            entries.append(value)
        return (kind, (entry, entries)), at
    if kind in (I16, I32, I64):
        number, at = _read_varint(data, at)
        return (kind, (number >> 1) ^ -(number & 1)), at
    size = {BYTE: 1, TRUE: 1, FALSE: 1, DOUBLE: 8}.get(kind)
    if size is None:
        size, at = _read_varint(data, at)
    return (kind, data[at : at + size]), at + size


def _read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return number, at
