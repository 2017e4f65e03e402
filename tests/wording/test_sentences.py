from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ratekeeper._wording._sentences import SECTIONS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ratekeeper"
KEYS = [(section, key) for section, templates in SECTIONS.items() for key in templates]


# Sentences whose name is put together at run time, from a rate, an origin or a word.
CHOSEN = {
    f"{section}.{key}"
    for section, keys in {
        "certificate": (
            "headline cv_plus.cell cv_plus.cell.none controlled.fnr controlled.fpr held_out folds "
            "folds.cv_plus same_class independent same_scorer same_code file file.skipped"
        ),
        "title": "promise.aim so_far.group",
        "plan": (
            "fnr fpr alerts groups.each groups.joint certify.precision certify.npv certify.wrong "
            "certify.called.precision certify.called.npv certify.called.wrong"
        ),
        "rate": "fnr fpr fdr for selective_error alert_share undecided",
        "aim": (
            "controlled.fdr controlled.for controlled.selective_error controlled.alert_share "
            "population controlled.fnr controlled.fpr"
        ),
        "noise": "fnr fpr",
        "order": "hull rising falling valley peak",
        "adaptive": (
            "headline headline.decaying headline.audit promise.audit.fnr promise.audit.fpr needs "
            "needs.audit so_far so_far.audit learned.learned learned.repeated learned.not_audited "
            "learned.unknown"
        ),
        "monitor": (
            "limit.yes limit.no like.yes like.no change.yes change.no "
            "noted.too_late noted.unknown noted.unaudited title.limit_broken title.changed "
            "title.unlike_calibration warning.limit_broken warning.unlike_calibration "
            "warning.changed"
        ),
        "page": (
            "aimed.heading.fnr aimed.heading.fpr aimed.heading.fdr aimed.heading.for "
            "aimed.heading.selective_error aimed.heading.alert_share "
            "what.fnr what.fpr direction.high direction.low word.classes word.fnr word.fpr "
            "word.alpha word.delta word.calibration word.threshold word.rank word.p_value "
            "word.kinds word.exchangeable word.true_rate"
        ),
    }.items()
    for key in keys.split()
}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "sentences", ROOT / "docs" / "reference" / "sentences.py"
    )
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs" / "reference")  # the examples stand beside it
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def code():
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.js")]
    files = [path for path in files if path.parent.name != "_sentences"]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_the_page_of_sentences_is_current(script):
    """The page lists every sentence as it is; `python docs/reference/sentences.py` writes it."""
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


def test_every_sentence_can_be_rendered(script):
    """Each gap has an example, and nothing is left open."""
    for section, sentences in script.rendered().items():
        for key, text in sentences.items():
            assert text, (section, key)
            assert "{" not in text, (section, key)


def test_examples_are_of_gaps_that_exist(script):
    """No example is left over from a sentence that has gone, or that has one of its own."""
    shared, used = set(), {name: set() for name in script.EXAMPLES}
    for section, key in KEYS:
        own = f"{section}.{key}"
        for gap in script.gaps(SECTIONS[section][key]):
            found = [name for name in (own, section) if gap in script.EXAMPLES.get(name, ())]
            (used[found[0]] if found else shared).add(gap)
    assert set(script.GAPS) == shared
    assert {name: set(fillers) for name, fillers in script.EXAMPLES.items()} == used


# Those that state a mean or a share above alpha beside the 95% quantile of a true rate.
TRUE_RATES = [
    (section, key)
    for section, key in KEYS
    if re.search(r"\{(mean|above)\}", SECTIONS[section][key]) and "{high}" in SECTIONS[section][key]
]


def test_examples_of_true_rates_are_found():
    """The next test looks at all of them."""
    assert {f"{section}.{key}" for section, key in TRUE_RATES} == {
        "aim.true_share",
        "certificate.true_rate",
        "certificate.true_rate.any_alpha",
        "clusters.true_rate",
        "clusters.true_rate.any_alpha",
        "evaluation.average",
        "plan.true_rate",
    }


@pytest.mark.parametrize(("section", "key"), TRUE_RATES)
def test_examples_of_true_rates_are_of_one_distribution(script, section, key):
    """The mean, the limits of 90% and the share above alpha are those of a Beta(k, n + 1 - k)."""
    said = script.fillers(section, key)
    n = int(said.get("n", "200").replace(",", ""))
    assert said.get("alpha", "5%") == "5%"
    k = np.arange(1, n + 1)
    true_rate = stats.beta(k, n + 1 - k)
    facts = {
        "mean": true_rate.mean(),
        "low": true_rate.ppf(0.05),
        "high": true_rate.ppf(0.95),
        "above": true_rate.sf(0.05),
    }
    fits = [
        [f"{100 * value:.2f}%" == said[gap] for value in values]
        for gap, values in facts.items()
        if gap in said
    ]
    assert np.all(fits, axis=0).sum() == 1


@pytest.mark.thorough
def test_every_sentence_is_used(code):
    """A sentence that nothing prints is no fact: each is named in full, or chosen by a fact."""
    named = [
        f"{section}.{key}"
        for section, key in KEYS
        if re.search(rf"[\"'`]{re.escape(f'{section}.{key}')}[\"'`]", code)
        or (section == "title" and re.search(rf"\bstate\(\s*[\"']{re.escape(key)}[\"']", code))
    ]
    every = {f"{section}.{key}" for section, key in KEYS if section != "verdict"}
    assert every - set(named) <= CHOSEN
    assert every >= CHOSEN
