from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from block_sizes import set_block_sizes
from row_files import some_rows, write_rows
from scipy import stats

import ratekeeper as rk
from ratekeeper.files import _calibrate as calibrating, calibrate_file

NAMES = {"score": "risk", "label": "ill"}


def scores_of(calibration):
    return [np.concatenate(cells).tolist() for cells in calibration.cells]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_size_is_exact(tmp_path, form):
    """Each class keeps exactly so many scores, or all it has, whatever the groups."""
    scores, labels, sites = some_rows()
    path = write_rows(tmp_path, form, {"risk": scores, "ill": labels, "site": sites})
    found = calibrate_file(path, **NAMES, sample=30)
    assert [found.n(0), found.n(1)] == [30, 30]
    totals = (int((labels == 0).sum()), int(labels.sum()))
    assert found.provenance.sampled_from == totals
    assert f"a random sample kept of {totals[0]} negatives" in str(found.provenance)
    found = calibrate_file(path, **NAMES, group="site", sample=40, random_state=1)
    for cells, label in zip(found.cells, (0, 1), strict=True):
        for cell, site in zip(cells, found.groups, strict=True):
            all_of_them = scores[(labels == label) & (sites == site)]
            assert set(cell) <= set(all_of_them)
    assert [sum(cell.size for cell in cells) for cells in found.cells] == [40, 40]
    assert found.pooled() == calibrate_file(path, **NAMES, sample=40, random_state=1)
    whole = calibrate_file(path, **NAMES, sample=1_000)
    assert whole == rk.calibrate(scores, labels)
    assert whole.provenance.sampled_from is None


def test_only_the_seed_decides(tmp_path, monkeypatch):
    """The same seed gives the same sample however the file is cut, another seed another."""
    scores, labels, sites = some_rows()
    columns = {"risk": scores, "ill": labels, "site": sites}
    path, typed = write_rows(tmp_path, "csv", columns), write_rows(tmp_path, "parquet", columns)
    found = set()
    for piece in (1, 7, 1_000):
        set_block_sizes(monkeypatch, rows=piece, text_bytes=9 * piece, typed_rows=piece)
        for source in (path, typed):
            found.add(
                calibrate_file(source, **NAMES, group="site", sample=9, random_state=4).data_hash
            )
    assert len(found) == 1
    others = {
        calibrate_file(path, **NAMES, sample=9, random_state=seed).data_hash for seed in range(20)
    }
    assert len(others) == 20


def test_forgetting_on_the_way_changes_nothing(tmp_path, monkeypatch):
    """What is forgotten early, to bound memory, would not have been kept."""
    scores, labels, sites = some_rows()
    path = write_rows(tmp_path, "csv", {"risk": scores, "ill": labels, "site": sites})
    set_block_sizes(monkeypatch, text_bytes=40)
    names = {**NAMES, "group": "site", "sample": 9, "random_state": 2}
    expected = calibrate_file(path, **names)
    add, most = calibrating._Sample.add, []  # noqa: SLF001 - to look inside

    def eager(self, *arguments):
        add(self, *arguments)
        self._prune()
        most.append(self._waiting)

    monkeypatch.setattr(calibrating._Sample, "add", eager)  # noqa: SLF001 - to look inside
    found = calibrate_file(path, **names)
    assert found == expected
    assert found.provenance == expected.provenance
    assert max(most) <= 9 * 2


def test_every_subset_is_equally_likely(tmp_path):
    """Of five scores each of the ten pairs comes about equally often, over 1,000 seeds."""
    path = tmp_path / "a.csv"
    path.write_text("risk,ill\n" + "".join(f"{i},{i // 5}\n" for i in range(10)))
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for seed in range(1_000):
        pair = scores_of(calibrate_file(path, **NAMES, sample=2, random_state=seed))[0]
        counts[int(pair[0]), int(pair[1])] += 1
    # Each bound fails with a chance of 1e-7, the ten of them with at most 2e-6.
    low, high = stats.binom(1_000, 0.1).ppf([1e-7, 1 - 1e-7])
    assert all(low <= count <= high for count in counts.values())


def test_groups_keep_their_shares(tmp_path):
    """A group of a tenth has about a tenth of the sample, by the law of drawing without return."""
    path = tmp_path / "a.csv"
    rows = [f"{i},{i % 2},{'small' if i % 20 < 2 else 'large'}" for i in range(400)]
    path.write_text("\n".join(["risk,ill,site", *rows]))
    found = []
    for seed in range(300):
        sampled = calibrate_file(path, **NAMES, group="site", sample=50, random_state=seed)
        found += [sampled.n(label, "small") for label in (0, 1)]
    law = stats.hypergeom(200, 20, 50)
    assert np.mean(found) == pytest.approx(5, abs=5 * law.std() / np.sqrt(600))
    assert np.var(found) == pytest.approx(law.var(), rel=0.35)


def test_promises_hold_for_a_sample(tmp_path):
    """The realised rate of a test on a sample of a file follows the law of the certificate."""
    rng = np.random.default_rng(6)
    path, rates = tmp_path / "a.csv", []
    for seed in range(400):
        positives, negatives = rng.normal(size=60), rng.normal(size=5) - 3
        rows = [f"{x!r},1" for x in np.sort(positives).tolist()]  # an order that could mislead
        rows += [f"{x!r},0" for x in negatives.tolist()]
        path.write_text("\n".join(["risk,ill", *rows]))
        test = calibrate_file(path, **NAMES, sample=29, random_state=seed).control(
            "fnr", 0.1, method=rk.Conformal()
        )
        rates.append(stats.norm.cdf(test.threshold))
    law = test.certificate.cells[0].realised
    assert (law.k, law.n) == (3, 29)
    assert stats.kstest(rates, stats.beta(3, 27).cdf).pvalue > 1e-4
    assert np.mean(rates) == pytest.approx(0.1, abs=5 * 0.055 / 20)


def test_bad_sizes_and_seeds(tmp_path):
    """A sample needs at least one score and a whole seed."""
    path = write_rows(tmp_path, "csv", {"risk": [0.1, 0.9], "ill": [0, 1]})
    for options in ({"sample": 0}, {"sample": 1.5}, {"sample": 5, "random_state": -1}):
        with pytest.raises(rk.InputError, match=r"sample|random_state"):
            calibrate_file(path, **NAMES, **options)
