"""Tables of people, loans and letters as matrices of numbers.

Medians, levels and nearly constant columns are taken from the whole table, before it is split. They
use no answers and treat all rows alike, so they give no system an advantage and leave the rows
exchangeable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

INDICATED = 0.01
ALIKE = 0.99


def as_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return numbers as they are and every other column one-hot, without its first level.

    A missing number becomes the column's median, with an indicator beside it where more than 1%
    is missing. A missing category counts as the first level.

    Examples
    --------
    >>> import pandas as pd
    >>> as_numbers(pd.DataFrame({"age": [30.0, None, 50.0], "home": ["rent", "own", None]}))
        age  age missing  home=rent
    0  30.0          0.0        1.0
    1  40.0          1.0        0.0
    2  50.0          0.0        0.0
    """
    import pandas as pd

    given = table.select_dtypes(["number", "bool"]).astype(float)
    missing = given.isna()
    often = missing.loc[:, missing.mean() > INDICATED].astype(float).add_suffix(" missing")
    words = table.drop(columns=given.columns)
    levels = [
        pd.get_dummies(words[name], prefix=name, prefix_sep="=", drop_first=True, dtype=float)
        for name in words
    ]
    return pd.concat([given.fillna(given.median()), often, *levels], axis=1)


def nearly_constant(numbers: pd.DataFrame) -> list[str]:
    """Return the columns with one and the same value in at least 99% of the rows.

    In a small training set they would be constant, and a covariance singular.
    """
    return [
        str(name)
        for name, column in numbers.items()
        if column.value_counts(normalize=True).iloc[0] >= ALIKE
    ]


def first_levels(names: Iterable[str]) -> dict[str, str]:
    """Return, to be dropped, the first one-hot column "variable_level" of every variable.

    Examples
    --------
    >>> first_levels(["age", "home_own", "home_rent"])
    {'home_own': 'The first level of home, told by the others.'}
    """
    first: dict[str, str] = {}
    for name in names:
        variable, *level = name.split("_", 1)
        if level:
            first.setdefault(variable, name)
    return {name: f"The first level of {of}, told by the others." for of, name in first.items()}
