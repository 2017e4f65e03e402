"""Rows of one person, and what they change."""

# Of tests whose calibration rows come in clusters.
CLUSTERS = {
    "thinned": (
        "One row of each cluster was drawn: every promise is about one random row of a new "
        "cluster, and every cluster counts once. Over all rows the shares can be others."
    ),
    "promise": (
        "The rate is that of one row, drawn at random, of each new cluster that has rows of the "
        "class: every cluster counts once, however many rows it has."
    ),
    "exchangeable": (
        "held-out calibration clusters, exchangeable with the clusters of the new rows of the same "
        "class, whose rows may depend on each other in any way"
    ),
    "independent": (
        "held-out calibration clusters, drawn independently from the distribution of the clusters "
        "of the new rows of the same class, whose rows may depend on each other in any way"
    ),
    "not_covered": (
        "new rows of clusters that calibrated; a rate in which clusters with more rows count more."
    ),
    "not_covered.conformal": (
        "this one calibration set: its true rate may be above alpha, and with clusters it is not "
        "known how often"
    ),
    "same_class": (
        "New clusters are drawn like the calibration clusters, as far as their rows of a class are "
        "concerned; the shares of the two classes may change."
    ),
    "true_rate": (
        "Over calibration sets of {n} such clusters the true {rate} averages at most {mean}, and "
        "is above {alpha} in at most {above} of them. With 90% confidence that of this test lies "
        "between {low} and {high}."
    ),
    "true_rate.any_alpha": (
        "Had this alpha been fixed in advance, over calibration sets of {n} such clusters the true "
        "{rate} would average at most {mean}, and with 90% confidence that of this test would lie "
        "between {low} and {high}."
    ),
    "price": "{other} {counted}, on one row per cluster.",
    "price.any_alpha": (
        "{other} {counted}, on one row per cluster, had alpha been fixed before looking at it."
    ),
    "price.spanning": (
        "{other} {estimate} on one row per cluster; no interval is known, since there are clusters "
        "with rows in several classes or groups."
    ),
    "data": (
        "{n_negative} negative scores of {clusters_negative} clusters and {n_positive} positive "
        "scores of {clusters_positive} clusters ({type}), data {hash}, ratekeeper {version}."
    ),
    "data.one_class": (
        "{n} {known} scores of {clusters} clusters and no {side} scores ({type}), data {hash}, "
        "ratekeeper {version}."
    ),
    "one_row": (
        "{method} takes one row of each cluster, drawn at random, by the draw that is stored with "
        "the calibration."
    ),
    "all_rows": "{method} takes all rows, each weighted by 1 / (rows of its cluster).",
    "evaluated": (
        "The rows are of {n} clusters. Errors are counted on one row of each cluster and class, "
        "drawn at random, since rows of one cluster are not independent."
    ),
    "evaluated.whole": (
        "The rows are of {n} clusters. Errors are counted on one row of each cluster, drawn at "
        "random, since rows of one cluster are not independent."
    ),
    "audit": (
        "The {n} intervals of this audit are exact binomial ones, each made for 5% divided by "
        "their number (Bonferroni). Those of FNR and FPR hold together: the chance that even one "
        "of them misses its true rate is at most 5%. Those of precision and of the undecided share "
        "are only a guide, since there are clusters of which a row of either class is counted."
    ),
    "page": (
        "The {n} calibration rows come in clusters. The charts and tables of this page show one "
        "row of each cluster, drawn at random."
    ),
}
