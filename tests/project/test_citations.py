"""Every work that the paper's section on related work cites is here, or the page says why not."""

from __future__ import annotations

import re
from pathlib import Path

from cases import each

from ratekeeper import baselines

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "understand" / "systems.md").read_text(encoding="utf-8")
TESTS = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "baselines").glob("*.py"))
)
# The keys of the section, with the names that stand for each; none where a work is not here.
CITED = {
    "Barlaud2015": ("ConvexSplitting",),
    "Cannon2002": ("ConstrainedThreshold", "MultiplierSearch"),
    "Chai2004": ("CostNaiveBayes",),
    "Domingos1999": ("MetaCost",),
    "Drummond2000": ("CostPrunedTree",),
    "Dumbgen2008": ("CrossValidatedRefit", "CrossValidatedLDA", "CrossValidatedNeighbours"),
    "Elkan2001": ("ElkanThreshold",),
    "Ghimire2012": ("InterpointMinimum",),
    "Guo2019": ("InterpointAverage",),
    "Habbema1974": ("LossAllocation",),
    "Han2008": ("ConvexNP",),
    "Han2009": ("ConvexNP",),
    "He2019": ("DistanceRankSum",),
    "Lehmann2006": (),
    "Liao2007": ("LiaoAkritas",),
    "Ling2004": ("MinimalCostTree",),
    "McLachlan1992": ("GaussianTypicality", "DensityTypicality"),
    "Rigollet2011": ("ConvexAggregation",),
    "Sammut2010": (),
    "Scott2005": ("ConstrainedThreshold",),
    "Scott2007": ("np_measure", "NPSelection"),
    "ScottBellala2007": (),
    "Sheng2006": ("CostThresholding",),
    "Tapkan2016": (),
    "Tong2013": ("PlugInNP",),
    "Tong2016": (),
    "Tong2018": ("Umbrella", "NPROCThreshold", "np_roc"),
    "Tong2020": ("NPLDA",),
    "Turney1995": ("ICET",),
    "Witten2002": ("MinimalExpectedCost",),
    "Zadrozny2001learning": ("CurtailedTree",),
    "Zadrozny2003": ("CostWeighting", "Costing"),
    "Zhao2016": ("NSN2",),
}


def rows_of(heading):
    """Return the cells of the table under a heading of the page, by their first one."""
    section = PAGE.split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    lines = [line.strip("| ") for line in section.splitlines() if line.startswith("|")]
    return {key: cells for key, *cells in (re.split(r"\s*\|\s*", line) for line in lines[2:])}


HERE = rows_of("## The paper's citations")
AWAY = rows_of("### Named by the paper, not here, and why")


def test_each_citation_has_one_row():
    """The two tables list the cited works, each of them once, in order."""
    assert not set(HERE) & set(AWAY)
    assert {*HERE, *AWAY} == set(CITED)
    for table in (HERE, AWAY):
        assert list(table) == sorted(table, key=str.lower)
        assert all(len(cells) == 2 and all(cells) for cells in table.values())
    assert {key for key, names in CITED.items() if not names} == set(AWAY)


@each("key", sorted(HERE))
def test_each_name_exists_and_is_tested(key):
    """A row names what stands for the work: public, with a docstring, listed, and tested."""
    names = re.findall(r"`(\w+)`", HERE[key][0])
    assert tuple(names) == CITED[key]
    table = PAGE.split("## All of them", 1)[1].split("\n## ", 1)[0]
    for name in names:
        assert name in baselines.__all__
        assert "References\n" in getattr(baselines, name).__doc__
        assert f"`{name}" in table
        assert re.search(rf"\b{name}\(", TESTS)
