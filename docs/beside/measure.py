"""Measure ratekeeper and its peers on one task: miss at most 5% of the positives.

python docs/beside/measure.py                # the tables of docs/beside/index.md
python docs/beside/measure.py --draws 20     # a quick look

Every peer gets the same scores of the same model and the same calibration objects, and answers with
a threshold in the way that its documentation describes. What it is worth is counted on all other
objects. Peers that are not installed are left out, with a line that says so; nproc needs Rscript
(it finds packages in R_LIBS).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ratekeeper as rk
from ratekeeper.datasets import load_employment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALPHA, DELTA = 0.05, 0.05
NPROC = """
suppressMessages(library(nproc))
cat(as.character(packageVersion("nproc")), "\\n")
rows <- read.csv("{folder}/draws.csv")
for (ratio in c(0.5, 0.1)) for (draw in unique(rows$draw)) {{
  mine <- rows[rows$draw == draw, ]
  inside <- pmin(pmax(mine$score, 1e-7), 1 - 1e-7)
  x <- as.matrix(log(inside / (1 - inside)))  # its discriminant saturates on probabilities
  taken <- system.time(fit <- npc(x, mine$negative, method = "lda", alpha = {alpha},
                                  delta = {delta}, split.ratio = ratio,
                                  warning = FALSE))["elapsed"]
  called <- predict(fit, x)$pred.label  # 1 is the class that we call negative
  cut <- if (anyNA(called)) Inf else suppressWarnings(min(mine$score[called == 0]))
  cat(ratio, cut, taken, "\\n")
}}
"""


@dataclass(frozen=True)
class Draw:
    """Scores and labels that calibrate, and those of one or two populations that count."""

    scores: np.ndarray
    labels: np.ndarray
    counted: tuple[tuple[np.ndarray, np.ndarray], ...]


@dataclass
class Result:
    """What one peer did over all draws; a threshold of None is a refusal."""

    name: str
    thresholds: list[float | None]
    seconds: list[float]


class Scores:
    """A scikit-learn classifier whose only column is already the probability."""

    classes_ = np.array([0, 1])
    _estimator_type = "classifier"

    def fit(self, X: np.ndarray, y: np.ndarray) -> Scores:  # noqa: ARG002, N803
        """Do nothing: the model was trained elsewhere."""
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:  # noqa: N803
        """Return both probabilities of each row."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def census(draws: int, n: int) -> Iterator[Draw]:
    """Yield calibration sets of 2015; the rest of 2015, and 2016, count."""
    people = load_employment()
    first, later = people.in_year(2015), people.in_year(2016)
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(first))
        chosen, rest = order[:n], order[n:]
        yield Draw(
            first.score[chosen],
            first.employed[chosen],
            ((first.score[rest], first.employed[rest]), (later.score, later.employed)),
        )


def cancer(draws: int, n: int) -> Iterator[Draw]:
    """Yield calibration sets of tumours (malignant is positive); those left over count."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    malignant = y == 0
    for seed in range(draws):
        train, others = train_test_split(
            np.arange(len(y)), train_size=120, stratify=malignant, random_state=seed
        )
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
            X[train], malignant[train]
        )
        score = model.predict_proba(X)[:, 1].round(6)
        chosen, rest = others[:n], others[n:]  # in the random order of the split
        yield Draw(score[chosen], malignant[chosen], ((score[rest], malignant[rest]),))


def ours(method: rk.methods.Method) -> Callable[[np.ndarray, np.ndarray], float | None]:
    """Return what finds our threshold with a method."""

    def find(scores: np.ndarray, labels: np.ndarray) -> float | None:
        try:
            return rk.calibrate(scores, labels).control("fnr", ALPHA, method=method).threshold
        except rk.TooFewScoresError:
            return None

    return find


def mapie(**settings: Any) -> Callable[[np.ndarray, np.ndarray], float | None]:  # noqa: ANN401
    """Return what finds MAPIE's threshold for a recall of 95%."""
    from mapie.risk_control import BinaryClassificationController

    def find(scores: np.ndarray, labels: np.ndarray) -> float | None:
        controller = BinaryClassificationController(
            Scores().predict_proba,
            risk="recall",
            target_level=1 - ALPHA,
            confidence_level=1 - DELTA,
            **settings,
        )
        controller.calibrate(scores[:, None], labels.astype(int))
        best = controller.best_predict_param
        return None if best is None else float(np.ravel(best)[0])

    return find


def crepes(scores: np.ndarray, labels: np.ndarray) -> float | None:
    """Return the score from which crepes keeps "positive" in its set of labels, without smoothing.

    Its p-values only change at calibration scores, so asking there is enough.
    """
    from crepes import WrapClassifier

    wrapped = WrapClassifier(Scores())
    wrapped.calibrate(scores[:, None], labels.astype(int), class_cond=True)
    positive = np.unique(scores[labels])
    sets = wrapped.predict_set(
        positive[:, None], labels=False, confidence=1 - ALPHA, smoothing=False
    )
    kept = positive[sets[:, 1] == 1]
    return float(kept.min()) if len(kept) else None


def tuned(scores: np.ndarray, labels: np.ndarray) -> float | None:
    """Return scikit-learn's tuned threshold: fewest false alarms with a recall of 95%."""
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.metrics import confusion_matrix, make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV

    class Known(ClassifierMixin, Scores, BaseEstimator):
        def __sklearn_is_fitted__(self) -> bool:
            return True

    def constrained(y: np.ndarray, called: np.ndarray) -> float:
        (tn, fp), (fn, tp) = confusion_matrix(y, called, labels=[0, 1])
        return tn / (tn + fp) if tp / (tp + fn) >= 1 - ALPHA else -1.0

    tuner = TunedThresholdClassifierCV(
        Known(), scoring=make_scorer(constrained), cv="prefit", refit=False
    )
    return float(tuner.fit(scores[:, None], labels.astype(int)).best_threshold_)


def quantile(scores: np.ndarray, labels: np.ndarray) -> float | None:
    """Return the plain 5% quantile of the positives, for a FixedThresholdClassifier."""
    return float(np.quantile(scores[labels], ALPHA))


def nonconform(scores: np.ndarray, labels: np.ndarray) -> float | None:
    """Return the threshold of nonconform's certificate: positives are the inliers."""
    from nonconform import ConformalDetector, Split
    from sklearn.base import BaseEstimator

    class Oddness(BaseEstimator):
        def fit(self, X: np.ndarray, y: object = None) -> Oddness:  # noqa: ARG002, N803
            return self

        def decision_function(self, X: np.ndarray) -> np.ndarray:  # noqa: N803
            return -X[:, 0]

    detector = ConformalDetector(
        detector=Oddness(), strategy=Split(), score_polarity="higher_is_anomalous"
    )
    positive = scores[labels][:, None]
    detector.calibrate(positive)
    cut = -detector.fpr_bounds(confidence=1 - DELTA).threshold_for(ALPHA)
    # It flags scores at or above its threshold, and ours are called positive from theirs up.
    return float(np.nextafter(cut, np.inf)) if np.isfinite(cut) else None


def asked() -> Iterator[tuple[str, str, Callable[[], Callable[..., float | None]]]]:
    """Yield package, name of the row and what makes the function, in the order of the table."""
    grid = np.linspace(0, 0.999, 1000)
    fixed = {"fwer_method": "fixed_sequence"}
    yield "ratekeeper", "HighProbability, the default", lambda: ours(rk.HighProbability(DELTA))
    yield "ratekeeper", "Simultaneous", lambda: ours(rk.Simultaneous(DELTA))
    yield "ratekeeper", "Conformal", lambda: ours(rk.Conformal())
    yield "mapie", "Holm, 100 thresholds (defaults)", mapie
    yield "mapie", "fixed sequence, 100 thresholds", lambda: mapie(**fixed)
    yield (
        "mapie",
        "fixed sequence, 1,000 thresholds",
        lambda: mapie(**fixed, list_predict_params=grid),
    )
    yield "nonconform", "FPR certificate", lambda: nonconform
    yield "crepes", "class_cond=True", lambda: crepes
    yield "scikit-learn", "TunedThresholdClassifierCV", lambda: tuned
    yield "scikit-learn", "quantile, FixedThresholdClassifier", lambda: quantile


def measure(draws: list[Draw], peer: str | None) -> Iterator[Result]:
    """Yield what each peer that is installed does, or only one; say which are not."""
    for package, name, make in asked():
        if peer not in (None, package):
            continue
        try:
            version = importlib.metadata.version(package)
            find = make()
            find(draws[0].scores, draws[0].labels)
        except (ImportError, importlib.metadata.PackageNotFoundError):
            print(f"{package}: not installed, left out: {name}", file=sys.stderr)
            continue
        result = Result(f"{package} {version}: {name}", [], [])
        for draw in draws:
            start = time.perf_counter()
            result.thresholds.append(find(draw.scores, draw.labels))
            result.seconds.append(time.perf_counter() - start)
        yield result
    if peer in (None, "nproc"):
        yield from nproc(draws)


def nproc(draws: list[Draw]) -> Iterator[Result]:
    """Yield nproc of R, which trains a linear discriminant on a part of the rows of each class."""
    program = shutil.which("Rscript")
    if program is None:
        print("nproc: there is no Rscript, left out", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "draws.csv").open("w", encoding="utf-8") as file:
            file.write("draw,score,negative\n")
            for i, draw in enumerate(draws):
                rows = zip(draw.scores, draw.labels, strict=True)
                file.writelines(f"{i},{float(s)!r},{int(not label)}\n" for s, label in rows)
        code = NPROC.format(folder=folder, alpha=ALPHA, delta=DELTA)
        done = subprocess.run(  # noqa: S603 - our own text
            [program, "-e", code], capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(f"nproc: left out, {done.stderr.strip()[-200:]}", file=sys.stderr)
        return
    version, *lines = done.stdout.splitlines()
    for ratio in ("0.5", "0.1"):
        found = [line.split()[1:] for line in lines if line.split()[0] == ratio]
        cuts = [float(cut) if np.isfinite(float(cut)) else None for cut, _ in found]
        name = f"nproc {version.strip()}: lda, split.ratio = {ratio}"
        yield Result(name, cuts, [float(seconds) for _, seconds in found])


def rates(threshold: float, scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return the counted FNR and FPR."""
    called = scores >= threshold
    return float(np.mean(~called[labels])), float(np.mean(called[~labels]))


def row(result: Result, draws: list[Draw]) -> str:
    """Return a row of the table: of each population the share above 5%, mean FNR, mean FPR."""
    cells = [result.name, str(sum(t is None for t in result.thresholds))]
    for place in range(len(draws[0].counted)):
        found = [
            rates(t, *draw.counted[place])
            for t, draw in zip(result.thresholds, draws, strict=True)
            if t is not None
        ]
        if not found:
            cells += ["-", "-", "-"]
            continue
        fnr, fpr = np.array(found).T
        cells += [f"{np.mean(fnr > ALPHA):.1%}", f"{fnr.mean():.2%}", f"{fpr.mean():.1%}"]
    cells.append(f"{1e3 * np.median(result.seconds):.2f} ms")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--only", choices=("census", "cancer"))
    parser.add_argument("--peer", help="a package, such as mapie; all without it")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # that a peer found no threshold is counted
    for task, n in ((census, 500), (cancer, 250)):
        if chosen.only not in (None, task.__name__):
            continue
        draws = list(task(chosen.draws, n))
        places = ("rest", "2016")[: len(draws[0].counted)]
        heads = [f"{place}: {h}" for place in places for h in ("above 5%", "FNR", "FPR")]
        print(f"\n{task.__name__}, {len(draws)} calibration sets of {n} objects\n")
        print("| " + " | ".join(["rule", "no answer", *heads, "time"]) + " |")
        print("| --- |" + " ---: |" * (len(heads) + 2))
        for result in measure(draws, chosen.peer):
            print(row(result, draws), flush=True)


if __name__ == "__main__":
    main()
