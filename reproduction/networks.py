"""Which network was trained on which population."""

from __future__ import annotations

from collections import Counter

from reproduction.leak_free import FAIR, FAIR_LARGER, LEAKY
from reproduction.protocol import LARGEST_KURTOSIS, TRAINING_KURTOSIS
from reproduction.standard_tests import NETWORKS
from reproduction.tables import Table
from reproduction.training import HELD_OUT_FAMILIES, pearson_grid, populations

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
        return f"{_PEARSON} alone, all {len(pearson_grid()):,} distributions"
    if "pearson" in members:
        return f"all {len(members)} training families, {_PEARSON} among them"
    # A wide range of shapes is cut into several families, named name[from-to].
    parts = Counter(name.split("[")[0].replace("_", " ") for name in members)
    named = (f"{name} (in {count} parts)" if count > 1 else name for name, count in parts.items())
    return f"{len(members)} families: {', '.join(named)}"


def held_out_names() -> str:
    """Return the families that no network was trained on, in words."""
    return ", ".join(HELD_OUT_FAMILIES).replace("_", " ")
