"""Files of rows, streamed: calibrate, classify, evaluate, select and test whatever their size.

CSV and TSV files (also gzipped) need nothing; Parquet, Arrow and Feather files need pyarrow, which
`_arrow_files` alone imports. `_sources` opens a path, `_row_blocks` says what every block of rows
can do, `_valid_rows` reads scores, labels and groups of one and refuses or counts invalid rows, and
`_sinks` writes. Each thing that is done with a file has a file: `_calibrate`, `_classify`,
`_evaluate`, `_select`, `_shift_test`, `_monitor`, `_adapt`; the counts of a database have two.
Imports `ratekeeper.monitoring`, `ratekeeper.sql` and what is below them. Start with `_classify`.
"""

from ratekeeper.files._adapt import LearnedFile, classify_adaptively, learn_file
from ratekeeper.files._calibrate import calibrate_file
from ratekeeper.files._calibrate_counts import Refinement, calibrate_counts, refine_counts
from ratekeeper.files._classify import Classified, classify_file
from ratekeeper.files._evaluate import FileEvaluation, evaluate_file
from ratekeeper.files._evaluate_counts import evaluate_counts
from ratekeeper.files._monitor import FileRecordResult, record_file, update_file
from ratekeeper.files._select import FileSelection, select_file
from ratekeeper.files._shift_test import FileShift, shift_file
from ratekeeper.files._sources import FORMATS
from ratekeeper.files._whole import read_columns

__all__ = [
    "FORMATS",
    "Classified",
    "FileEvaluation",
    "FileRecordResult",
    "FileSelection",
    "FileShift",
    "LearnedFile",
    "Refinement",
    "calibrate_counts",
    "calibrate_file",
    "classify_adaptively",
    "classify_file",
    "evaluate_counts",
    "evaluate_file",
    "learn_file",
    "read_columns",
    "record_file",
    "refine_counts",
    "select_file",
    "shift_file",
    "update_file",
]
