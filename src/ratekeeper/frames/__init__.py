"""Frames of any library that narwhals knows, eager or lazy: counted, decided on, evaluated.

One set of narwhals expressions serves all of them: pandas, polars, pyarrow, DuckDB, ibis, Dask and
Spark. A frame stays where it is; what comes back is a few thousand counts, or the same kind of
frame with another column. Imports `ratekeeper.control` and what is below it. Start with
`_calibrate` and `_decide`.
"""

from ratekeeper.frames._calibrate import calibrate_frame

__all__ = ["calibrate_frame"]
