"""Which network was trained on which population."""

from __future__ import annotations

from ratekeeper.normality.training import HELD_OUT_FAMILIES, pearson_grid, populations
from reproduction.leak_free import FAIR, FAIR_LARGER, LEAKY
from reproduction.protocol import LARGEST_KURTOSIS, TRAINING_KURTOSIS
from reproduction.standard_tests import NETWORKS
from reproduction.tables import Table

_PEARSON = "the paper's Pearson population"


def networks_table() -> Table:
    """Return a row for each network: the alternatives that it was trained to tell from normal."""
    replicas = (
        (LEAKY, TRAINING_KURTOSIS, "with the leak"),
        (FAIR, TRAINING_KURTOSIS, "at a fair scale"),
        (FAIR_LARGER, LARGEST_KURTOSIS, "at a fair scale"),
    )
    rows = [
        (name, f"{_PEARSON}, up to a kurtosis of {top:g}, {scale}", "10, 20, ..., 100")
        for name, top, scale in replicas
    ]
    for kind, members in populations().items():
        rows.append((NETWORKS[kind], _described(members), "5 to 10,000"))
    return Table("networks", ("network", "trained on", "sizes"), rows)


def _described(members: tuple[str, ...]) -> str:
    """Return what a network of ours was trained on."""
    if members == ("pearson",):
        return f"{_PEARSON} alone, all {len(pearson_grid()):,} laws"
    # A family with a wide range of shapes is cut into pieces, named name[from-to].
    names = list(dict.fromkeys(name.split("[")[0] for name in members))
    if "pearson" in names:
        return f"all {len(names)} training families, {_PEARSON} among them"
    return f"{len(names)} families: {', '.join(names).replace('_', ' ')}"


def held_out_names() -> str:
    """Return the families that no network was trained on, in words."""
    return ", ".join(HELD_OUT_FAMILIES).replace("_", " ")
