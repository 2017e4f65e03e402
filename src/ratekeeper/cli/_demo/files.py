"""The data of the demo as files, to walk the same way with one's own hands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._system._atomic_files import write
from ratekeeper._wording._formatting import escape_controls
from ratekeeper.cli._demo.tables import CALIBRATED_ON, YEARS, months
from ratekeeper.datasets import load_employment
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from ratekeeper.datasets import Employment

_WALK = """\
A trained model scored people in Massachusetts for "is employed".

held-out.csv  {held_out:,} people of 2015: what the promise is calibrated on
new.csv       {new:,} people of 2016: what is decided, and later checked

Columns: person; score, the model's probability of being employed; employed,
the truth, 1 or 0; disability, yes or no. Source and licence of the data:
ratekeeper/datasets/README.md in the package.

In this folder, miss at most 5% of the employed:

  ratekeeper calibrate held-out.csv --score score --label employed -o cal.rk
  ratekeeper control cal.rk --fnr 0.05 -o test.rk
  ratekeeper classify test.rk new.csv -o decided.csv
  ratekeeper evaluate test.rk new.csv
  ratekeeper report test.rk --evaluate new.csv -o report.html
  ratekeeper inspect test.rk

In the year after, more are missed than promised: drift, which evaluate shows.
Then the same in each group, and as SQL:

  ratekeeper calibrate held-out.csv --score score --label employed \\
    --group disability --fnr 0.05 -o by-group.rk
  ratekeeper evaluate by-group.rk new.csv
  ratekeeper sql by-group.rk --table people

After the day of calibration: 2016-01.csv to 2018-12.csv hold the people of
2016 to 2018 month by month, with the first day of the month as "asked"; who
was asked in which month is made up at random. A monitor looks every month.
When the limit is shown to be broken it says so, with exit code 4:

  for month in 201?-??.csv; do
    ratekeeper classify test.rk $month -o decided.csv
    ratekeeper monitor test.rk decided.csv --outcomes $month --id person \\
      --time asked --state watch.rk || break
  done

An adaptive test keeps the rate. It learns month by month, so its step is
smaller than the one it would take person by person:

  for month in 201?-??.csv; do
    ratekeeper classify test.rk $month --adaptive state.rk --id person \\
      --step 0.0001 -o adapted.csv
    ratekeeper learn state.rk $month --id person --label employed
  done
"""


def export(folder: str | os.PathLike[str]) -> str:
    """Write the data as files, with the commands of a walk through them.

    Parameters
    ----------
    folder : path-like
        Gets ``held-out.csv`` (2015), ``new.csv`` (2016), a file for each month from 2016 to 2018,
        and ``README.txt``; it is made if needed. All are written or none; a file of such a name
        with other contents is refused.

    Returns
    -------
    str
        What was written, and the text of ``README.txt``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     _ = export(name)
    ...     Path(name, "held-out.csv").read_text().split()[:2]
    ['person,score,employed,disability', '1,0.12121149704607134,0,yes']
    """
    people = load_employment()
    years = {"held-out.csv": CALIBRATED_ON, "new.csv": YEARS[0]}
    files = {name: _as_csv(people, np.flatnonzero(people.year == y)) for name, y in years.items()}
    for month, members in months(people):
        files[f"{month}.csv"] = _as_csv(people, members, f"{month}-01")
    held_out, new = (len(people.in_year(year)) for year in years.values())
    walk = _WALK.format(held_out=held_out, new=new)
    files["README.txt"] = walk.encode()
    _refuse_others(Path(folder), files)
    try:
        write(folder, files)
    except OSError as error:
        raise InputError(
            f"{Path(folder)} cannot be written to: {error.strerror or error}. Take a folder that "
            "can, on a disk with room."
        ) from error
    place = escape_controls(str(Path(folder)))
    told = f"{', '.join(years)}, a file for each month from {YEARS[0]} to {YEARS[-1]}"
    return f"Written to {place}: {told}, and README.txt, which says:\n\n{walk}"


def _refuse_others(folder: Path, files: Mapping[str, bytes]) -> None:
    """Raise if a file of this name is there and is not what will be written."""
    for name, data in files.items():
        there = folder / name
        if there.is_file() and there.read_bytes() != data:
            raise InputError(
                f"{there} is there already, with other contents, and stays as it is. Move it "
                "away, or take another folder."
            )


def _as_csv(people: Employment, members: NDArray[np.intp], asked: str | None = None) -> bytes:
    """Write some people; their numbers are unique over all years."""
    columns: dict[str, Iterable[str]] = {
        "person": map(str, (members + 1).tolist()),
        # The shortest text that is read back as the very same score.
        "score": map(repr, people.score[members].tolist()),
        "employed": np.where(people.employed[members], "1", "0").tolist(),
        "disability": np.where(people.disability[members], "yes", "no").tolist(),
    }
    if asked is not None:
        columns["asked"] = [asked] * members.size
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *map(",".join, rows), ""]).encode()
