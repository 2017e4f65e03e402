"""Frames of any library that narwhals knows, eager or lazy: counted, decided on, evaluated.

One set of narwhals expressions serves all of them: pandas, polars, pyarrow, DuckDB, ibis, Dask and
Spark. A frame stays where it is; what comes back is a few thousand counts, or the same kind of
frame with a column more.
"""
