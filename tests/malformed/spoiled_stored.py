"""Files of calibrations and tests that are damaged, foreign, or of the other kind."""

from __future__ import annotations

import hashlib
import json
import re

import numpy as np
import safetensors.numpy
from case import Case

COMMANDS = {
    "control": ["control", "bad.rk", "--fnr", "0.2", "-o", "out.rk"],
    "classify": ["classify", "bad.rk", "good.csv", "-o", "out.csv"],
    "evaluate": ["evaluate", "bad.rk", "good.csv"],
    "inspect": ["inspect", "bad.rk"],
    "report": ["report", "bad.rk", "-o", "out.html"],
    "sql": ["sql", "bad.rk", "--table", "t"],
}


def _changed(change):
    def spoil(folder):
        (folder / "bad.rk").write_bytes(change((folder / "test.rk").read_bytes()))

    return spoil


def _written(data):
    return lambda folder: (folder / "bad.rk").write_bytes(data)


def _flip(share):
    def change(data):
        spoiled = bytearray(data)
        spoiled[int(share * (len(data) - 1))] ^= 4
        return bytes(spoiled)

    return _changed(change)


def _foreign(folder):
    safetensors.numpy.save_file({"weights": np.ones(3)}, folder / "bad.rk")


def _future(folder):
    data = (folder / "test.rk").read_bytes()
    (folder / "bad.rk").write_bytes(re.sub(rb'(\\"format\\": ?)\d', rb"\g<1>9", data))


def _rewritten(change):
    """Change the facts of a test, and give the file the checksum that belongs to them."""

    def spoil(folder):
        content = (folder / "test.rk").read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:end])
        facts = json.loads(header["__metadata__"]["ratekeeper"])
        change(facts)

        def head(digest):
            header["__metadata__"] = {"ratekeeper": json.dumps(facts), "sha256": digest}
            text = json.dumps(header).encode()
            return len(text).to_bytes(8, "little") + text

        digest = hashlib.sha256(head("0" * 64) + content[end:]).hexdigest()
        (folder / "bad.rk").write_bytes(head(digest) + content[end:])

    return spoil


SPOILED = {
    "nothing": _written(b""),
    "one byte": _changed(lambda data: data[:1]),
    "eight bytes": _changed(lambda data: data[:8]),
    "half": _changed(lambda data: data[: len(data) // 2]),
    "all but a byte": _changed(lambda data: data[:-1]),
    "a byte more": _changed(lambda data: data + b"\0"),
    "flipped at the start": _flip(0.0),
    "flipped in the header": _flip(0.05),
    "flipped in the facts": _flip(0.3),
    "flipped in the scores": _flip(0.8),
    "flipped at the end": _flip(1.0),
    "zeros": _changed(lambda data: b"\0" * len(data)),
    "a huge header": _changed(lambda data: b"\xff" * 8 + data[8:]),
    "JSON as a test": _written(json.dumps({"a": 1}).encode()),
    "text": _written(b"risk,ill\n1,no\n"),
    "other tensors": _foreign,
    "a future format": _future,
    "false in quotes": _rewritten(lambda facts: facts.update(higher_is_positive="false")),
    "another alpha": _rewritten(lambda facts: facts["tests"][0].update(alpha=1e-3)),
    "another certificate": _rewritten(
        lambda facts: facts["tests"][0]["certificate"].update(alpha=1e-3)
    ),
    "names of 40 kB each": _rewritten(
        lambda facts: facts.update(groups={"dtype": "<U9999", "values": [""] * 100_000})
    ),
    "a folder": lambda folder: (folder / "bad.rk").mkdir(),
}


def cases():
    for command, arguments in COMMANDS.items():
        for name, spoil in SPOILED.items():
            yield Case(name, arguments, 2, ("bad.rk",), spoil)
        missing = ["no.rk" if part == "bad.rk" else part for part in arguments]
        yield Case("no such test", missing, 2, ("no.rk",))
        other = ["cal.rk" if part == "bad.rk" else part for part in arguments]
        if command not in ("control", "inspect"):
            words = ("cal.rk holds a calibration", "ratekeeper control")
            yield Case("a calibration", other, 2, words)
    test = ["test.rk" if part == "bad.rk" else part for part in COMMANDS["control"]]
    yield Case("a test has its calibration", test, 0)
    unlike = ["control", "cal.rk", "by_site.rk", "--fnr", "0.2", "-o", "out.rk"]
    yield Case("unlike calibrations", unlike, 2, ("differ in",))
