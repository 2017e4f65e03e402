from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
from cases import each
from scipy import stats

import ratekeeper as rk

EVIL = "<script>alert('1')</script>"
LABELS = ("well", '"><b onload="x">ill&amp;</b>')


class Page(HTMLParser):
    """What a browser would make of a piece: its text, its elements, and whether all are closed."""

    def __init__(self, source):
        super().__init__()
        self.words, self.tags, self.styles, self._open = [], set(), [], []
        self.feed(source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        """Keep what opens."""
        self._open.append(tag)
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"style", "scope"}
        self.styles += [value for name, value in attrs if name == "style"]

    def handle_endtag(self, tag):
        """Check that what closes was the last to open."""
        assert self._open.pop() == tag

    def handle_data(self, data):
        """Keep the words."""
        self.words.append(data)

    @property
    def text(self):
        """All words, with single spaces."""
        return " ".join(" ".join(self.words).split())


def evaluated(promises, *, negative=(0, 0), positive=(0, 0), abstained=(0, 0), neither=(0, 0)):
    """Return the evaluation of counts of true negatives and true positives decided each way."""
    n = [sum(counts) for counts in zip(negative, positive, abstained, neither, strict=True)]
    errors = {"fnr": (negative[1] + neither[1], n[1]), "fpr": (positive[0] + neither[0], n[0])}
    parts = {}
    for control, (promised, k) in promises.items():
        rates = (
            rk.control.Rate(*errors[control]),
            rk.control.Rate(*errors["fpr" if control == "fnr" else "fnr"]),
        )
        wrong, of = errors[control]
        laws = stats.binom(of, promised), stats.betabinom(of, k, 101 - k)
        p_value = max(law.sf(wrong - 1) for law in laws) if of else None
        parts[control] = rk.Evaluation(control, promised, *rates, p_value)
    if len(parts) == 1:
        return parts["fnr"]
    counts = {"abstained": abstained, "neither": neither}
    sides = ("negative", "positive")
    counted = {
        name: {side: rk.control.Rate(*pair) for side, *pair in zip(sides, own, n, strict=True)}
        for name, own in counts.items()
    }
    return rk.control.JointEvaluation(**parts, **counted)


BOTH = {"fnr": (0.05, 5), "fpr": (0.5, 50)}  # what is promised, and by which of 100 scores


def calibration(groups=None, n=1500, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    names = None if groups is None else np.array(groups)[np.arange(n) % len(groups)]
    return rk.calibrate(
        rng.normal(2 * truth), np.array(LABELS)[truth], groups=names, positive_label=LABELS[1]
    )


def subjects():
    cal, grouped = calibration(), calibration([EVIL, "north"])
    new = np.random.default_rng(1).normal(1, 1, 100)
    one = cal.control("fnr", 0.05, method=rk.HighProbability(delta=0.05))
    both = grouped.control_both(0.05, 0.1, method=rk.Conformal())
    groups = np.array([EVIL, "north"] * 50)
    counts = {"negative": (40, 9), "positive": (3, 38), "abstained": (5, 2), "neither": (1, 2)}
    return {
        "calibration": cal,
        "calibration by group": grouped,
        "test": one,
        "test by group": grouped.control("fpr", 0.05, method=rk.Conformal()),
        "fitted test": cal.control("fnr", 0.05, method=rk.methods.Parametric()),
        "random test": cal.control("fnr", 0.05, method=rk.methods.Smoothed(0)),
        "abstaining test": both,
        "decisions": one.decide(new),
        "joint decisions": both.decide(new, groups),
        "p-values": cal.p_values(new),
        "p-values with intervals": cal.p_values(new, method=rk.methods.Bootstrap(replicates=50)),
        "normality": rk.normality_test(new),
        "rounded": rk.normality_test(new.round(1)),
        "normality of many": rk.normality.normality_tests(new.reshape(4, 25)),
        "certificate": one.certificate,
        "certificate by group": grouped.control("fpr", 0.05, method=rk.Conformal()).certificate,
        "joint certificate": both.certificate,
        "evaluation": evaluated({"fnr": (0.05, 5)}, **counts),
        "joint evaluation": evaluated(BOTH, **counts),
        "evaluation of nobody": evaluated(BOTH),
        "plan": rk.plan("fpr", 0.01, delta=0.05, n=400, excess=0.005),
    }


SUBJECTS = subjects()


@each("name", SUBJECTS)
def test_every_card_is_safe_and_fits_any_theme(name):
    """Well-formed, nothing from elsewhere, no colour of its own but the two of verdicts."""
    html = SUBJECTS[name]._repr_html_()
    page = Page(html)
    assert page.tags <= {"div", "span", "table", "thead", "tbody", "tr", "th", "td"}
    assert "http" not in html
    assert "url(" not in html
    assert "nan" not in page.text
    assert len(html) < 15_000
    for style in page.styles:
        for name_, value in re.findall(r"([a-z-]+):([^;]+)", style):
            if name_ == "background":
                assert value == "none"
            if name_ == "color":
                assert value in {"inherit", "currentColor", "#24874c", "#c9433f"}
            if name_.startswith("border"):
                assert value in {"0", "6px", "collapse", "1px solid rgba(128,128,128,.35)"}


@each("name", SUBJECTS)
def test_every_plain_repr_is_taken_in_at_a_glance(name):
    """A few lines, each begun by what the object is about."""
    lines = repr(SUBJECTS[name]).splitlines()
    assert 1 <= len(lines) <= 8
    assert max(map(len, lines)) < 160


def test_evil_labels_and_groups_are_shown_and_never_run():
    """They come out as the text they are."""
    for name in ("calibration", "test", "abstaining test", "decisions", "certificate"):
        assert repr(LABELS[1]) in Page(SUBJECTS[name]._repr_html_()).text, name
    for name in ("calibration by group", "test by group", "abstaining test"):
        assert repr(EVIL) in Page(SUBJECTS[name]._repr_html_()).text, name


def test_a_test_shows_its_rule_its_promise_and_its_price():
    """The same condition, sentence and rates that the test itself gives."""
    test = SUBJECTS["test by group"]
    text = Page(test._repr_html_()).text
    assert text.startswith("ErrorRateTest: FPR ≤ 5%")
    assert test.guarantee.promise in text
    cells = test.certificate.cells
    for cell in cells:
        assert f"{cell.n['null']:,} {cell.condition} {cell.other_error}" in text
    both = SUBJECTS["abstaining test"]
    text = Page(both._repr_html_()).text
    assert "FNR ≤ 5% and FPR ≤ 10%" in text
    for part in both.parts:
        assert all(cell.condition in text for cell in part.certificate.cells)
    crossed = replace(calibration(), origin="cross-fitted").control(
        "fnr", 0.05, method=rk.Conformal()
    )
    assert "No bound is known" in Page(crossed._repr_html_()).text


def test_the_certificate_says_the_same_as_in_print():
    """Every paragraph of the text, and the laws of the true rate as a table."""
    for name in ("certificate", "certificate by group"):
        certificate = SUBJECTS[name]
        text = Page(certificate._repr_html_()).text
        printed = " ".join(str(certificate).split())
        for title in ("Controlled", "It needs", "Not covered", "Assumed", "Calibration"):
            said = re.search(rf"{title}: (.+?[.])(?: [A-Z]|$)", printed)[1]
            assert f"{title} {said}" in text
        assert certificate.guarantee.promise in text
        for cell in certificate.cells:
            low, high = (f"{100 * limit:.2f}%" for limit in cell.realised.interval)
            above = f"{100 * cell.realised.exceeds(certificate.alpha):.2f}%"
            assert f"{100 * cell.realised.mean:.2f}% {low} {high} {above}" in text
    joint = SUBJECTS["joint certificate"]
    text = Page(joint._repr_html_()).text
    printed = " ".join(str(joint).split())
    share = f"{100 * joint.undecided['negative'].rate:.2f}%"
    assert f"no decision on {share} of the negative" in printed  # no interval is known for it
    assert text.count("Not covered") == 2
    assert "share of wrong decisions among the objects that are decided is not controlled" in text
    alone = calibration().control_both(0.05, 0.1, method=rk.Conformal()).certificate
    printed = " ".join(str(alone).split())
    for part in (alone.fnr, alone.fpr):
        assert f"averages at most {100 * part.cells[0].realised.mean:.2f}%" in printed


def test_ties_and_folds_are_said():
    """An upper bound is called one; of cross-fitted scores no rate is known."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    tied = rk.calibrate(rng.normal(labels).round(1), labels)
    text = Page(tied.control("fnr", 0.1, method=rk.Conformal()).certificate._repr_html_()).text
    assert "true FNR: mean at most" in text
    assert "folds" not in text
    crossed = (
        replace(calibration(), origin="cross-fitted")
        .control("fnr", 0.1, method=rk.Conformal())
        .certificate
    )
    text = Page(crossed._repr_html_()).text
    assert "No bound is known" in text
    assert "true FNR" not in text


def test_the_check_of_a_fit_is_shown_for_every_group():
    """Also where there are several fits, and for both rates."""
    cal = calibration(["a", "b", "c"])
    one = cal.control("fnr", 0.05, method=rk.methods.Parametric()).certificate
    both = cal.control_both(0.05, 0.05, method=rk.methods.Parametric()).certificate
    for certificate, fits in ((one, 3), (both, 6)):
        assert Page(certificate._repr_html_()).text.count("Goodness of fit") == fits
        assert str(certificate).count("Goodness of fit") == fits
    assert "true FNR" not in Page(one._repr_html_()).text


def test_groups_without_a_promise_are_named_also_where_they_are_not_shown():
    """A pooled group is marked in its row, and counted if its row is cut."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 3000)
    groups = np.where(np.arange(3000) < 2990, np.arange(3000) % 20, 99)
    cal = rk.calibrate(rng.normal(labels), labels, groups=groups)
    test = cal.control("fnr", 0.05, thin_groups="pool", method=rk.Conformal())
    assert test.certificate.pooled_groups == (99,)
    both = cal.control_both(0.05, 0.05, thin_groups="pool", method=rk.Conformal())
    said = "for lack of scores of their own: 99."
    for shown in (test, both, both.certificate):
        assert said in Page(shown._repr_html_()).text
    assert "group 99: positive (1) if score >= " in repr(test)  # it has the fewest scores
    thin = np.where(np.arange(3000) < 2960, np.arange(3000) % 20, np.arange(3000))
    many = rk.calibrate(rng.normal(labels), labels, groups=thin)
    test = many.control("fnr", 0.05, thin_groups="pool", method=rk.Conformal())
    assert "lie between them, 38 of them without a promise; thresholds has all" in repr(test)
    few = np.where(np.arange(3000) < 2990, "many", "few")
    pooled = rk.calibrate(rng.normal(labels), labels, groups=few)
    pooled_both = pooled.control_both(0.05, 0.05, thin_groups="pool", method=rk.Conformal())
    mark = "(threshold of all groups: nothing is promised here)"
    for shown in (pooled_both.fnr, pooled_both, pooled_both.certificate):
        text = Page(shown._repr_html_()).text
        assert text.count(mark) == (1 if shown is pooled_both.fnr else 2)
    assert repr(pooled_both.fnr).count(mark) == 1
    assert " ".join(str(pooled_both.certificate).split()).count(mark) == 2


def test_decisions_show_counts_and_do_not_compute_p_values():
    """Looking is free: the p-values stay uncomputed."""
    decisions = SUBJECTS["joint decisions"]
    text = Page(decisions._repr_html_()).text
    n = len(decisions)
    yes, abstained = int(decisions.positive.sum()), int(decisions.abstained.sum())
    no = decisions.labels.tolist().count(LABELS[0])
    assert f"{LABELS[0]!r} {no} {no / n:.1%} negative" in text
    assert f"{LABELS[1]!r} {yes} {yes / n:.1%} positive" in text
    assert f"abstained {abstained} {abstained / n:.1%} both remain possible" in text
    assert "p_values" not in decisions.__dict__
    assert "abstained" not in Page(SUBJECTS["decisions"]._repr_html_()).text
    assert (
        "0 objects"
        in calibration().control("fnr", 0.1, method=rk.Conformal()).decide([])._repr_html_()
    )


def test_evaluations_show_counts_intervals_and_verdicts():
    """Each rate beside its promise, with a sign and a word; nothing is judged without objects."""
    text = Page(SUBJECTS["joint evaluation"]._repr_html_()).text
    assert "FNR 11 of 51 21.57% 11.29% to 35.32% ≤ 5% ✗ exceeded" in text
    assert "≤ 50% ✓ kept" in text
    assert "abstained, negatives 5 of 49" in text
    assert "exceeded: more errors than chance explains" in text
    nobody = Page(SUBJECTS["evaluation of nobody"]._repr_html_()).text
    assert "in line" not in nobody
    assert "0 of 0 unknown" in nobody


def test_results_show_their_numbers():
    """P-values, statistics and plans as in their plain text, and a caution where there is one."""
    p = SUBJECTS["p-values"]
    text = Page(p._repr_html_()).text
    assert f"0 {p.p0[0]:.3g} {p.p1[0]:.3g} 1 {p.p0[1]:.3g}" in text
    assert "and 92 more objects" in text
    low, high = SUBJECTS["p-values with intervals"].interval1[0]
    assert (
        f"{low:.3g} to {high:.3g}" in Page(SUBJECTS["p-values with intervals"]._repr_html_()).text
    )
    for name in ("normality", "rounded", "normality of many"):
        result = SUBJECTS[name]
        text = Page(result._repr_html_()).text
        assert f"{np.ravel(result.pvalue)[0]:.4g}" in text
        assert f"{np.ravel(result.statistic)[0]:.4g}" in text
        assert (result.caution or "small p-value") in text
    plan = SUBJECTS["plan"]
    text = Page(plan._repr_html_()).text
    for line in str(plan).splitlines()[1:4]:
        assert line.strip().replace("): ", ") ").replace("0.05: ", "0.05 ") in text
    assert "with 400, if no scores are tied, Conformal true rate 1.00% on average" in text


def test_a_calibration_shows_where_its_scores_lie_and_come_from():
    """Counts and ends of each class, counts of each group, and the direction."""
    cal = SUBJECTS["calibration by group"]
    text = Page(cal._repr_html_()).text
    for label, side in enumerate(("negative", "positive")):
        whole = np.concatenate(cal.cells[label])
        assert f"{side} {LABELS[label]!r} {whole.size:,} {whole.min()} {whole.max()}" in text
    assert f"'north' {cal.cells[0][1].size} {cal.cells[1][1].size}" in text
    assert "high ones indicate positive" in text
    low = rk.calibrate([0.9, 0.1], [0, 1], higher_is_positive=False)
    assert "low ones indicate positive" in low._repr_html_()


def test_large_objects_show_their_head():
    """Thousands of groups and a million objects make a small card."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    labels, groups = rng.integers(0, 2, n), rng.integers(0, 2000, n)
    cal = rk.calibrate(rng.normal(labels), labels, groups=groups)
    test = cal.control("fnr", 0.05, method=rk.Conformal())
    scores = rng.normal(size=n)
    for shown in (
        cal,
        test,
        cal.pooled().control("fpr", 0.1, method=rk.Conformal()).decide(scores),
    ):
        html = shown._repr_html_()
        assert ("of 2,000 groups are shown" in html) == (shown in (cal, test))
        assert len(html) < 10_000
    assert len(repr(test).splitlines()) <= 10


def test_a_fitted_test_is_shown_without_its_long_work():
    """The price of a fitted method takes a sum over all pairs of scores: it is left out."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 20_000)
    test = rk.calibrate(rng.normal(labels), labels).control("fnr", 0.05, method=rk.methods.Kernel())
    assert "price" not in test._repr_html_()
    assert "_other_errors" not in test.__dict__
    assert "price" in SUBJECTS["test"]._repr_html_()


def test_long_names_are_cut():
    """The longest name that is allowed does not make a wide card."""
    text = Page(calibration(["x" * 256, "y"])._repr_html_()).text
    assert "x" * 30 in text
    assert "x" * 60 not in text
    assert "'y'" in text
    assert "str_" not in text
