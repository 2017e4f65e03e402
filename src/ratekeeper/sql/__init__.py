"""A test where the data are: count scores in a database, decide there, and count errors there.

Queries are plain SQL, written for the database that is named: no function to install, no table to
load. What is counted comes back as some thousands of rows. A database is a line of data in
`_dialects`; `_writing` writes names, numbers and comparisons in it. Imports `ratekeeper.frames` and
what is below it. Start with `_decide`.
"""

from ratekeeper.sql._count import calibration_sql
from ratekeeper.sql._decide import decision_sql
from ratekeeper.sql._dialects import DIALECTS
from ratekeeper.sql._evaluate import evaluation_sql
from ratekeeper.sql._p_values import p_value_sql

__all__ = ["DIALECTS", "calibration_sql", "decision_sql", "evaluation_sql", "p_value_sql"]
