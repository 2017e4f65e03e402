"""Calibrations and tests as files: written whole, and read back exactly or not at all.

One file in the layout of `_container`: a header in JSON, and then the scores. What stands in both
is said in docs/reference/files.md, for people who write a reader of their own; `_schema` has the
JSON Schema of the header. `load` checks all of it, makes the object anew from scores and settings,
and refuses the file unless everything that it states is found again: see docs/guides/strangers.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper._system._garbage import gc_paused
from ratekeeper.storage._container import read_container, reading, write_container
from ratekeeper.storage._serialize import arrays_of, facts_of, rebuilt

if TYPE_CHECKING:
    import os

    from ratekeeper.storage._serialize import Storable


def save(obj: Storable, path: str | os.PathLike[str]) -> None:
    """Save a calibration or a test, so that `load` gives one that decides the same.

    Parameters
    ----------
    obj : Calibration, ErrorRateTest, AbstainingTest or RiskControlTest
        What to save: what `calibrate`, `control`, `control_both`, `control_precision` and the like
        return. A test is saved with the calibration it stands on and with its certificate.
    path : str or path-like
        Where. A file that is there is replaced in one step; if that fails, it stays as it was.

    Raises
    ------
    InputError
        If the object or its method cannot be saved, or if there is no such folder.

    Notes
    -----
    The file is numbers and JSON, without code, and **every version reads the files of all earlier
    ones**. Tests of formats 1 to 3 whose random numbers depended on the scores (precision and the
    like, ties broken at random, one row of each cluster) are refused: their promise could fail.
    Calibrations and tests can be pickled, too, as joblib and worker processes do. Nothing is
    promised about pickles of another version, and unpickling runs whatever code a file holds: so
    keep and hand on what `save` writes.

    States of a monitor and of an adaptive test have methods of their own, `Monitor.save` and
    `AdaptiveTest.save`. A test of several classes can be pickled only.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "calibration.rk")
    ...     rk.save(cal, path)
    ...     rk.load(path) == cal
    True
    """
    with gc_paused():
        calibration, facts = facts_of(obj)
        write_container(path, facts, arrays_of(calibration), "ratekeeper")


def load(path: str | os.PathLike[str]) -> Storable:
    """Load what `save` has saved.

    Parameters
    ----------
    path : str or path-like
        A file written by `save`, of this or of any earlier version.

    Returns
    -------
    Calibration, ErrorRateTest, AbstainingTest or RiskControlTest
        What was saved: the same scores, thresholds, p-values and decisions. A calibration ``==``
        the one that was saved. Tests are compared by identity, so that a loaded one is never ``==``
        another: compare ``test.calibration`` and ``test.certificate``.

    Raises
    ------
    StoredFileError
        If the file is damaged, of another program or of a later version; if it does not exist,
        the error is a `FileNotFoundError`, too. Nothing is ever loaded in part.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "test.rk")
    ...     rk.save(cal.control("fnr", alpha=0.1), path)
    ...     rk.load(path)
    ErrorRateTest: FNR <= 10%, HighProbability(delta=0.05), 40 positive scores
      positive (1) if score >= 0.506..., else negative (0)
    """
    with reading(path), gc_paused():
        return rebuilt(*read_container(path, "ratekeeper", "facts"))
