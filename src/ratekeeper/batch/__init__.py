"""Files of rows, streamed: calibrate, classify, evaluate, select and test whatever their size.

CSV and TSV files (also gzipped) need nothing; Parquet, Arrow and Feather files need pyarrow.
"""

from ratekeeper.batch._calibrating import calibrate_file
from ratekeeper.batch._classifying import Classified, classify_file
from ratekeeper.batch._evaluating import FileEvaluation, evaluate_file
from ratekeeper.batch._selecting import FileSelection, select_file
from ratekeeper.batch._shifting import FileShift, shift_file
from ratekeeper.batch._sources import FORMATS
from ratekeeper.batch._whole import read_columns

__all__ = [
    "FORMATS",
    "Classified",
    "FileEvaluation",
    "FileSelection",
    "FileShift",
    "calibrate_file",
    "classify_file",
    "evaluate_file",
    "read_columns",
    "select_file",
    "shift_file",
]
