"""Files read in small blocks, or written as if they were large, so that few rows do for a test."""

from ratekeeper.files import (
    _arrow_files as arrow_files,
    _counts as counting,
    _csv_files as text_files,
    _times as timing,
)

# The program, as if every file were so large that a process of its own writes it.
PROGRAM = """if True:
    import runpy
    from ratekeeper.files import _sinks as sinks
    sinks._PROCESS_FROM = 0
    runpy.run_module("ratekeeper", run_name="__main__", alter_sys=True)
"""
PLACES = {
    "rows": [(text_files, "PIECE")],
    "text_bytes": [(text_files, "_BLOCK")],
    "typed_rows": [(arrow_files, "PIECE")],
    "written_rows": [(arrow_files, "_GROUP_ROWS")],
    "waiting_rows": [(counting, "_WAITING"), (timing, "_WAITING")],  # until they are joined
}


def set_block_sizes(monkeypatch, **sizes):
    """Cut files, and what is kept of them, into blocks of these sizes."""
    for name, size in sizes.items():
        for module, constant in PLACES[name]:
            monkeypatch.setattr(module, constant, size)
