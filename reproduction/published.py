"""The published numbers that the run is printed beside, with their sources.

Class 1 is "normal": the FNR is the share of normal samples that are rejected (the type I error),
and 1 - FPR is the power. Two sources:

* the paper: Miloš Simić, How to Control the Error Rates of Binary Classifiers (2020);
* the author's public repository, milos-simic/neural-normality on GitHub, commit b79c0c5,
  notebook ``derive_dbnn_test.ipynb``: another run of the same experiment with the same network.
  The paper's figures come without numbers; the notebook prints those of its own run.
"""

from __future__ import annotations

from typing import NamedTuple


class Rates(NamedTuple):
    """Accuracy and the two error rates of a test on a balanced set."""

    accuracy: float
    fnr: float
    fpr: float


# (test, alpha); the bare network has no alpha.
Column = tuple[str, float | None]

# Table 1 of the paper.
TABLE_1: dict[Column, Rates] = {
    ("AD", 0.01): Rates(0.804, 0.009, 0.382),
    ("AD", 0.05): Rates(0.827, 0.049, 0.296),
    ("NN_0", 0.01): Rates(0.896, 0.198, 0.010),
    ("NN_0", 0.05): Rates(0.912, 0.104, 0.053),
    ("NN_1", 0.01): Rates(0.840, 0.010, 0.310),
    ("NN_1", 0.05): Rates(0.890, 0.049, 0.171),
    ("JB", 0.01): Rates(0.813, 0.015, 0.359),
    ("JB", 0.05): Rates(0.831, 0.032, 0.305),
    ("LF", 0.01): Rates(0.760, 0.010, 0.470),
    ("LF", 0.05): Rates(0.794, 0.046, 0.367),
    ("SW", 0.01): Rates(0.821, 0.009, 0.349),
    ("SW", 0.05): Rates(0.840, 0.049, 0.271),
    ("NN", None): Rates(0.911, 0.128, 0.050),
}

# The one column whose accuracy is not 1 - (FNR + FPR) / 2, which would be 0.9215. One of its three
# numbers is misprinted.
SLIP: Column = ("NN_0", 0.05)

# The same table as the repository's notebook prints it (there as TPR and TNR), on 13,050 samples
# of each class instead of 13,100.
REPOSITORY: dict[Column, Rates] = {
    ("AD", 0.01): Rates(0.802, 0.009, 0.388),
    ("AD", 0.05): Rates(0.827, 0.049, 0.298),
    ("NN_0", 0.01): Rates(0.900, 0.191, 0.009),
    ("NN_0", 0.05): Rates(0.915, 0.118, 0.051),
    ("NN_1", 0.01): Rates(0.840, 0.009, 0.311),
    ("NN_1", 0.05): Rates(0.891, 0.047, 0.171),
    ("JB", 0.01): Rates(0.811, 0.016, 0.363),
    ("JB", 0.05): Rates(0.830, 0.032, 0.309),
    ("LF", 0.01): Rates(0.759, 0.010, 0.473),
    ("LF", 0.05): Rates(0.791, 0.048, 0.369),
    ("SW", 0.01): Rates(0.820, 0.011, 0.349),
    ("SW", 0.05): Rates(0.839, 0.047, 0.274),
    ("NN", None): Rates(0.912, 0.122, 0.053),
}

# Epochs after which the network saved in the repository (``classifiers/dbnn_classifier.p``, made
# with scikit-learn 0.23.1) had stopped.
EPOCHS = 25

# From here on: the repository's notebook, one number for each n = 10, 20, ..., 100.
TPR_OF_NN_0 = (0.774, 0.820, 0.862, 0.867, 0.895, 0.895, 0.903, 0.923, 0.935, 0.946)
TNR_OF_NN_1 = (0.552, 0.713, 0.775, 0.838, 0.861, 0.884, 0.883, 0.919, 0.922, 0.942)

# Share of non-normal samples of each group that are called non-normal, at alpha = 0.1.
POWER: dict[str, dict[str, tuple[float, ...]]] = {
    "G1": {
        "NN_1": (0.818, 0.878, 0.938, 0.922, 0.939, 0.924, 0.934, 0.928, 0.921, 0.915),
        "NN_0": (0.931, 0.954, 0.955, 0.920, 0.888, 0.880, 0.885, 0.866, 0.852, 0.849),
        "SW": (0.317, 0.458, 0.539, 0.604, 0.650, 0.679, 0.716, 0.755, 0.766, 0.785),
        "AD": (0.334, 0.487, 0.555, 0.613, 0.653, 0.678, 0.709, 0.740, 0.757, 0.774),
        "LF": (0.306, 0.422, 0.484, 0.545, 0.584, 0.610, 0.642, 0.679, 0.701, 0.721),
        "JB": (0.182, 0.400, 0.504, 0.581, 0.639, 0.676, 0.715, 0.755, 0.770, 0.787),
    },
    "G2": {
        "NN_1": (0.935, 0.881, 0.957, 0.975, 0.991, 0.978, 0.996, 0.995, 0.993, 0.991),
        "NN_0": (0.996, 0.978, 0.986, 0.973, 0.961, 0.937, 0.978, 0.952, 0.930, 0.929),
        "SW": (0.241, 0.408, 0.567, 0.681, 0.775, 0.840, 0.891, 0.923, 0.949, 0.969),
        "AD": (0.236, 0.397, 0.529, 0.622, 0.712, 0.777, 0.831, 0.870, 0.908, 0.932),
        "LF": (0.190, 0.282, 0.392, 0.480, 0.566, 0.631, 0.686, 0.750, 0.796, 0.831),
        "JB": (0.080, 0.242, 0.399, 0.528, 0.641, 0.730, 0.806, 0.857, 0.900, 0.938),
    },
    "G3": {
        "NN_1": (0.951, 0.952, 0.960, 0.957, 0.959, 0.955, 0.958, 0.960, 0.957, 0.948),
        "NN_0": (0.960, 0.966, 0.961, 0.957, 0.952, 0.939, 0.954, 0.944, 0.927, 0.918),
        "SW": (0.611, 0.807, 0.875, 0.912, 0.939, 0.951, 0.964, 0.973, 0.981, 0.985),
        "AD": (0.595, 0.791, 0.854, 0.891, 0.916, 0.928, 0.941, 0.952, 0.960, 0.965),
        "LF": (0.504, 0.703, 0.782, 0.829, 0.863, 0.888, 0.902, 0.922, 0.931, 0.936),
        "JB": (0.287, 0.613, 0.756, 0.827, 0.874, 0.898, 0.921, 0.938, 0.947, 0.955),
    },
    "G4": {
        "NN_1": (0.991, 0.987, 1.000, 0.994, 1.000, 0.936, 1.000, 0.999, 0.989, 0.738),
        "NN_0": (1.000, 1.000, 1.000, 0.993, 0.869, 0.562, 0.951, 0.520, 0.451, 0.361),
        "SW": (0.219, 0.423, 0.569, 0.687, 0.759, 0.821, 0.859, 0.888, 0.906, 0.924),
        "AD": (0.207, 0.397, 0.518, 0.611, 0.685, 0.744, 0.784, 0.818, 0.843, 0.867),
        "LF": (0.151, 0.249, 0.338, 0.426, 0.500, 0.564, 0.612, 0.661, 0.692, 0.730),
        "JB": (0.011, 0.021, 0.031, 0.071, 0.209, 0.358, 0.480, 0.588, 0.681, 0.746),
    },
}
