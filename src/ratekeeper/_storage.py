"""Calibrations and tests as files: written whole, and read back exactly or not at all.

One file in the layout of `_container`: a header in JSON, and then the scores. Their ``dtype`` is
"F32" or "F64", the same for all; they ascend, and are all that follows the header. They are called
``negative`` and ``positive``, or with groups ``negative/0``, ``negative/1``, ..., ``positive/0``,
..., and follow each other in this order; without labels ``unlabelled``, or ``unlabelled/0``, ....
If rows come in clusters, as many arrays of type "U64" follow, called ``clusters/negative`` and so
on: for each score, 64 bits of BLAKE2b of the id of its cluster as text (UTF-8, without spaces
around it, little-endian), ascending where scores are equal.
``__metadata__`` has the checksum, and in ``ratekeeper`` the JSON text of an object with

  - ``format``: 2, and ``version``: that of the library that wrote the file;
  - ``kind``: "calibration", "test" or "abstaining test";
  - ``classes``: ``dtype`` (NumPy's code) and ``values``, negative first; ``groups``: likewise,
    ascending, or null. Floating-point values are texts, such as "1.0";
  - ``higher_is_positive``, ``origin`` ("held out" or "cross-fitted"), ``n`` (of each class, and
    ``unlabelled`` if there are no labels) and ``data_hash`` (`Calibration.data_hash`);
    ``clusters``, if there are any: how many have rows of each class, likewise;
    ``provenance``: `Provenance.to_dict`, or null (format 1 had none);
  - ``tests``: none, one, or first that of the FNR and then that of the FPR. Each has ``control``,
    ``alpha``, ``method`` (``name`` and ``parameters``), ``thin_groups``, ``thresholds`` and
    ``certificate`` (`Certificate.to_json`, without ``cells`` if there are more than 1,000), and
    ``tolerance`` if it has one. There
    is one threshold per group, as hexadecimal text ("0x1.8p-1" is 0.75; "inf", "-inf"), or null if
    the method is random. An object is rejected, as not of the class whose error is controlled, if
    its score lies strictly beyond the threshold.

docs/reference/schemas/rk-header.schema.json is a JSON Schema of the header; `_header` has it. No
object of the header has a member twice. `load` checks all of this, makes the object anew from scores and settings, and
refuses the file unless everything that it states is found again: see docs/guides/strangers.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper._container import read_container, reading, write_container
from ratekeeper._facts import arrays_of, facts_of, rebuilt
from ratekeeper._garbage import uncollected

if TYPE_CHECKING:
    import os

    from ratekeeper._facts import Storable


def save(obj: Storable, path: str | os.PathLike[str]) -> None:
    """Save a calibration or a test, so that `load` gives exactly the same.

    Parameters
    ----------
    obj : Calibration, ErrorRateTest or AbstainingTest
        What to save. A test is saved with the calibration it stands on and with its certificate.
    path : str or path-like
        Where. A file that is there is replaced in one step; if that fails, it stays as it was.

    Raises
    ------
    InputError
        If the object or its method cannot be saved, or if there is no such folder.

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
    with uncollected():
        calibration, facts = facts_of(obj)
        write_container(path, facts, arrays_of(calibration), "ratekeeper")


def load(path: str | os.PathLike[str]) -> Storable:
    """Load what `save` has saved.

    Parameters
    ----------
    path : str or path-like
        A file written by `save`, of this or of an earlier version.

    Returns
    -------
    Calibration, ErrorRateTest or AbstainingTest
        Equal to what was saved: the same scores, the same thresholds, the same decisions.

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
    with reading(path), uncollected():
        return rebuilt(*read_container(path, "ratekeeper", "facts"))
