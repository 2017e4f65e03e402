"""Errors by any columns."""

AUDIT = {
    "title": "Audit by {columns}{how}: {n} groups, worst first",
    "title.crossed": " and all combinations",
    "nothing": "There are no objects to count.",
    "target": "{rate} beside the level of the test, {alpha}",
    "price": "Beside it, without a level",
    "none": "none",
    "above": (
        "more errors than chance explains if the true rate of this very test in the group is at or "
        "below the level"
    ),
    "open": "neither shown to be above the level nor to be within it",
    "within": "the whole interval is at or below the level",
    "unknown": "there are no objects to count it on",
    "worst": (
        "{shown} of {n} groups are shown: those with the smallest p-values and, where these are "
        "equal, with the highest rates{exceeded}{about}."
    ),
    "worst.above": "; above but not shown: {n}",
    "worst.all": "; to_dict and to_pandas have all",
    "intervals": (
        "The {n} intervals of this audit hold together: the chance that even one of them misses "
        "its true rate is at most 5% (exact binomial intervals, Bonferroni). Precision and the "
        "undecided share depend on how common each class is: they are for groups composed like "
        "these."
    ),
    "verdicts": (
        "The chance that an audit says “above” of even one group whose true rate is at or below "
        "the level is at most 5%, over all groups and rates together (exact p-values, Holm). It is "
        "about one look, and about columns that were not chosen by looking at the errors."
    ),
    "yardstick": (
        "The level is that of the test and serves as a yardstick: an audit promises nothing to a "
        "group."
    ),
    "page.above": (
        "{shown} of {n} groups are shown to be above the level of the test. The worst is {group}: "
        "{rate} {counted}, where the level is {alpha}."
    ),
    "page.none": "none of {n} groups is shown to be above the level of the test.",
    "page.all": "; “ratekeeper evaluate --by --json” has all",
    "page.first": "The first {shown} of {n}; the table has more.",
    "page.label": "{rate} by group, worst first: {rates}.",
    "page.axis": "rate with its interval; the level is dashed",
    "page.axis.price": "rate with its interval",
}
