"""Calibrate on a file in one pass: exact, 8 bytes a row; by counts; or on a random sample of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._draws import Draw
from ratekeeper._numerics._ranks import sort_in_place
from ratekeeper._reading._parameters import check_choice, check_count
from ratekeeper._wording._formatting import format_value, plain_value
from ratekeeper.calibration._calibrate import build_calibration, calibration_of
from ratekeeper.calibration._copies import CHOICES, without_copies
from ratekeeper.calibration._one_class import SIDES, read_truth
from ratekeeper.calibration._provenance import Provenance
from ratekeeper.calibration._windows import window
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._clusters import ClusterIds
from ratekeeper.files._counts import Counts, check_knots
from ratekeeper.files._csv_files import TextFile
from ratekeeper.files._csv_values import whole_texts
from ratekeeper.files._sources import open_sources, row_blocks_of
from ratekeeper.files._times import Clock
from ratekeeper.files._valid_rows import Inspector, Kinds, canonical_label, check_columns
from ratekeeper.files._weights import RowWeights

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._merging import Sampling
    from ratekeeper.files._row_blocks import RowBlock

    Found = list[tuple[str, str, NDArray[np.uint8] | None]]
    # Scores, codes of labels and of groups, and from how many of each label they are a sample.
    Kept = tuple[Floats, NDArray[np.int8], NDArray[np.intp] | None, tuple[int, int] | None]

_MOST_EXPECTED = 1 << 27  # rows


def calibrate_file(  # noqa: PLR0913, PLR0915 - each has a name and a default
    source: str | os.PathLike[str],
    *,
    score: str,
    label: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    time: str | None = None,
    last: int | None = None,
    since: object = None,
    weight: str | None = None,
    rejection: float | None = None,
    positive_label: object = None,
    higher_is_positive: bool = True,
    one_class: str | None = None,
    on_invalid: str = "refuse",
    sample: int | None = None,
    random_state: int | None = None,
    sampling: Sampling = "population",
    knots: int | None = None,
    source_format: str | None = None,
    decimal: str | None = None,
    duplicates: str = "warn",
) -> Calibration:
    r"""Calibrate on the rows of a file, a folder of files, or standard input.

    Parameters
    ----------
    source : path-like
        CSV or TSV (also gzipped), Parquet, Arrow or Feather; a folder of such; "-" for standard
        input. Parquet, Arrow and Feather need pyarrow.
    score : str
        Name of the column of scores.
    label : str, optional
        Name of the column of labels. Left out, all rows are of `one_class`; without that, nothing
        is known about classes, as in `calibrate`.
    group : str, optional
        Name of the column of groups, for one promise per group.
    cluster : str, optional
        Name of the column that says whose row it is, where a patient or customer has several; see
        `calibrate`. Its ids are kept as 64-bit hashes. Not with `sample`, which draws rows.
    time : str, optional
        Name of the column that says when each row was seen: ISO dates and datetimes, or whole
        numbers; see `calibrate`.
    last, since : int, object, optional
        Keep the newest rows only, as `Calibration.window` does.
    weight : str, optional
        Name of the column of weights; see `calibrate`. Rows of the weight 0 are skipped. Not with
        `cluster` or `sample`.
    rejection : float, optional
        A bound that no weight can exceed, by which rows are kept at random; see `calibrate`.
    positive_label : object, optional
        Which label is positive, as text or value; required unless it is plain (1, "yes", ...).
    higher_is_positive : bool, default=True
        False if low scores indicate the positive class.
    one_class : {"negative", "positive"}, optional
        The class of all rows, if all are of one; as in `calibrate`.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows whose score, label or group cannot be used. Skipped rows are counted,
        and the certificate of every test says so.
    sample : int, optional
        Keep at most so many scores of each class, drawn uniformly at random, so that memory is
        bounded whatever the size of the file. Every promise holds as it would for a file of the
        sampled rows. Such a calibration cannot be merged with another.
    random_state : int, optional
        As in `calibrate`; it also draws the sample.
    sampling : {"population", "by class"}, default="population"
        As in `calibrate`.
    knots : int, optional
        Keep counts at about so many scores of each class (in each group), not the scores, so that
        memory is bounded whatever the size of the file. Every promise holds; the certificate says
        how much of alpha is unused, with 200,000 about 0.1% of it or less. Not with columns beside
        the scores, nor with `sample`.
    source_format : {"csv", "tsv", "parquet", "arrow", "feather"}, optional
        By default seen from the contents.
    decimal : {".", ","}, optional
        The decimal mark of scores in text files; by default a point, and where semicolons
        separate the columns a comma, too.
    duplicates : {"warn", "refuse", "keep", "drop"}, default="warn"
        What to do if rows seem to be copies of others, as in `calibrate`. With `knots`, where only
        counts are kept, copies are not noticed and cannot be dropped.

    Returns
    -------
    Calibration
        Exactly what `calibrate` makes of the same columns, with its `provenance`.

    Notes
    -----
    Memory grows by 8 bytes for each score that is kept, and with groups by 17; with clusters by 8
    more, and by four times that while they are sorted, and with times by 8 more; with
    `last` and without clusters, not beyond a few times so many rows, or a few million. Beyond that
    it does not grow with the file, nor with what a packed file unpacks to, but for what is packed
    as one: a page of Parquet or a record batch of Arrow. Names of labels and groups have at most
    256 characters, and a row of text at most 4 MB.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "held-out.csv")
    ...     _ = path.write_text("risk,ill\n0.1,no\n0.4,no\n0.35,yes\n0.8,yes\n")
    ...     calibrate_file(path, score="risk", label="ill")
    Calibration of 4 float64 scores: 2 negative ('no'), 2 positive ('yes')
    """
    most = None if sample is None else check_count(sample, "sample")
    draw = Draw.of(random_state)
    knots = check_knots(
        knots, cluster=cluster, time=time, weight=weight, sample=sample, last=last, since=since
    )
    ids, weights = ClusterIds(cluster, most), RowWeights(weight, rejection, cluster, most)
    # Of clusters all rows are needed, to see that the window cuts none.
    clock = Clock(time, last, since, most, forgets=cluster is None)
    check_choices(sampling, one_class, label, positive_label)
    _check_duplicates(duplicates, knots)
    labels = None if label is None else Kinds(label, labels=True)
    groups = None if group is None else Kinds(group, labels=False)
    inspector = Inspector(on_invalid)
    with open_sources(source, source_format, decimal) as files:
        roles = {"score": score, "label": label, "group": group, "cluster": cluster, "time": time}
        roles["weight"] = weight
        check_columns(files[0].name, files[0].columns, roles)
        wanted = [column for column in roles.values() if column is not None]
        rows = sum(file.size or 0 for file in files if not isinstance(file, TextFile))
        whole = any((group, cluster, time, weight))
        keep = _keeper(most, draw, rows, whole=whole) if knots is None else Counts(knots)
        for name, block in row_blocks_of(files, wanted, "Reading"):
            values, codes, index, found = _columns_of(name, block, score, labels, groups)
            found += ids.read(block) + clock.read(name, block) + weights.read(block)
            valid = weights.keep(inspector.valid(name, block, found), inspector.skipped)
            ids.keep(valid)
            clock.keep(valid)
            if valid is not None:
                values, codes = values[valid], codes[valid]
                index = None if index is None else index[valid]
            keep.add(values, codes, index)
            clock.forget(keep, ids, weights)
        names = ", ".join(file.name for file in files[:3]) + ", ..." * (len(files) > 3)  # noqa: PLR2004
    used = keep.used()
    check_used(used, labels, one_class, inspector, names)
    positive, classes = classes_of(labels, used, positive_label, one_class, names)
    labelled = labels is not None or one_class is not None
    provenance = Provenance(inspector.rows, inspector.skipped, **roles)  # type: ignore[arg-type]
    if isinstance(keep, _Piles | Counts):
        cells: Any = None
        group_names = None
        if isinstance(keep, Counts):
            cells, group_names = keep.cells(positive, None if groups is None else groups.found())
        else:
            cells = sort_in_place([keep.pile(1 - positive), keep.pile(positive)])
        made = calibration_of(
            tuple(cells),
            classes,
            groups=group_names,
            higher_is_positive=higher_is_positive,
            provenance=provenance,
            labelled=labelled,
        )
        return without_copies(replace(made, sampling=sampling, draw=draw), duplicates)
    values, codes, index, sampled = keep.kept()
    group_names = None
    if groups is not None and index is not None:
        index, group_names = in_order(groups.found(), index)
    if sampled is not None:
        counts = sampled[1 - positive], sampled[positive]  # of a class that is unknown, 0
        provenance = replace(provenance, sampled_from=counts)
    made = replace(
        build_calibration(
            values,
            codes == positive,
            classes,
            index=index,
            groups=group_names,
            higher_is_positive=higher_is_positive,
            provenance=provenance,
            labelled=labelled,
            columns=ids.column() | weights.column() | clock.column(),
        ),
        sampling=sampling,
        timing=clock.timing,
        draw=draw,
    )
    windowed = _windowed(made, last, since, keep.left_out)
    return weights.thinned(without_copies(windowed, duplicates))


def check_choices(
    sampling: str, one_class: str | None, label: str | None, positive_label: object
) -> None:
    """Raise if a choice is none, or contradicts another."""
    check_choice(sampling, "sampling", ("population", "by class"))
    if one_class is not None:
        check_choice(one_class, "one_class", SIDES)
    if label is None and positive_label is not None:
        read_truth(None, 0, positive_label, one_class)  # which refuses it


def _check_duplicates(duplicates: str, knots: int | None) -> None:
    if check_choice(duplicates, "duplicates", CHOICES) == "drop" and knots is not None:
        raise InputError(
            (Parameter("knots", knots), " keeps counts only, and copies cannot be told by counts."),
            parameter="duplicates",
            value=duplicates,
            remedy=("Leave ", Parameter("knots"), " out, or drop copies by their ids before."),
        )


def _windowed(made: Calibration, last: int | None, since: object, left_out: int) -> Calibration:
    is_whole = last is None and since is None
    return made if is_whole else window(made, last, since, left_out=left_out)


def _columns_of(
    name: str, block: RowBlock, score: str, labels: Kinds | None, groups: Kinds | None
) -> tuple[Floats, NDArray[np.int8], NDArray[np.intp] | None, Found]:
    """Return scores, codes of labels and of groups of a block, and what is wrong with them."""
    numbers = block.numbers(score)
    found: Found = [("score", score, numbers.problems)]
    codes, index = np.zeros(block.n, dtype=np.int8), None
    if labels is not None:
        codes, missing = labels.codes(name, block)
        found.append(("label", labels.column, missing))
    if groups is not None:
        index, missing = groups.codes(name, block)
        found.append(("group", groups.column, missing))
    return numbers.values, codes, index, found


def _keeper(most: int | None, draw: Draw, rows: int, *, whole: bool) -> _Piles | _Everything:
    if most is not None:
        return _Sample(most, draw)
    return _Everything() if whole else _Piles(rows)


def check_used(
    used: list[int],
    labels: Kinds | None,
    one_class: str | None,
    inspector: Inspector,
    names: str,
) -> None:
    """Raise unless there are valid rows, of every label that the file has."""
    if not used:
        found = f"{names}: no valid row among {inspector.rows:,}."
        known = "" if labels is None else " with known labels"
        raise InputError(found, remedy=f"Held-out objects{known} are needed.")
    if labels is not None and one_class is None and len(used) < len(labels.values):
        left = labels.found()[used[0]]
        raise InputError(
            f"{names}, column {format_value(labels.column)}: one class only, every valid label is "
            f"{format_value(left)}; the rows of the other were all skipped.",
            parameter="label",
            value=left,
            need="labels of both classes",
            remedy=(
                "Give these rows valid scores, or go on with one class by ",
                Parameter("one_class"),
                ".",
            ),
        )


def classes_of(
    labels: Kinds | None,
    used: list[int],
    positive_label: object,
    one_class: str | None,
    names: str,
) -> tuple[int, NDArray[Any]]:
    """Return the code of the positive label, and the pair (negative, positive)."""
    if labels is None:  # then all have the code 0
        return int(one_class != "positive"), read_truth(None, 1, None, one_class)[1]
    values = labels.found()
    if positive_label is not None:
        code = labels.texts.get(canonical_label(positive_label))
        positive_label = _alike(values[0], positive_label) if code is None else values[code]
    if len({type(value) for value in values}) > 1:
        values = list(map(str, values))
        positive_label = None if positive_label is None else str(positive_label)
    # Of two labels one may stand in skipped rows only.
    asked = one_class if len(used) == len(values) else None
    try:
        is_positive, classes = read_truth(np.array(values), len(values), positive_label, asked)
        if asked != one_class:
            read_truth(np.array(values)[used], 1, plain_value(classes[1]), one_class)
    except InputError as error:
        raise error.within(f"{names}, column {format_value(labels.column)}") from error
    return int(np.argmax(is_positive)) if is_positive.any() else 1, classes


def _alike(value: object, positive_label: object) -> object:
    """Return a label that the file does not have, of the type of one that it has.

    Examples
    --------
    >>> _alike(0, "1"), _alike(0.5, "1.5"), _alike(False, "true"), _alike("ok", "fraud")
    (1, 1.5, True, 'fraud')
    """
    text = canonical_label(positive_label)
    if isinstance(value, bool) and text in ("True", "False"):
        return text == "True"
    if isinstance(value, str | bool):
        return positive_label
    numbers = whole_texts([text])
    with suppress(ValueError):
        return numbers[0] if numbers else float(text)
    return positive_label


def in_order(values: list[Any], index: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the place of each row's group among the groups in order, and these groups."""
    used = np.unique(index)  # not those of skipped rows alone
    names = np.array([values[code] for code in used])
    order = np.argsort(names, kind="stable")
    place = np.empty(len(values), dtype=np.intp)
    place[used[order]] = np.arange(order.size)
    return place[index], names[order]


class _Piles:
    """Keeps every valid score in one of two arrays, which are sorted where they lie.

    Parameters
    ----------
    rows : int
        How many are to be expected, 0 if nobody knows. Memory that is asked for and not used
        costs nothing.
    """

    def __init__(self, rows: int) -> None:
        self._rows = min(rows, _MOST_EXPECTED)
        self._piles: list[Floats] = []
        self._heights = [0, 0]

    def add(self, values: Floats, codes: NDArray[np.int8], index: NDArray[np.intp] | None) -> None:
        """Add the valid rows of a block."""
        del index  # there are no groups
        if not self._piles:
            self._piles = [np.empty(self._rows, values.dtype) for _ in (0, 1)]
        ones = int(np.count_nonzero(codes))
        for code, n in enumerate((codes.size - ones, ones)):
            start = self._heights[code]
            self._make_room(code, start + n, values.dtype)
            place = self._piles[code][start : start + n]
            mask = codes.view(bool) if code else codes == 0
            # To write at once where it stays saves a copy, but both must be of one type.
            values.astype(place.dtype, copy=False).compress(mask, out=place)
            self._heights[code] = start + n

    def _make_room(self, code: int, n: int, dtype: np.dtype[Any]) -> None:
        pile = self._piles[code]
        common = np.result_type(pile, dtype)
        if n > pile.size or common != pile.dtype:
            size = pile.size if n <= pile.size else max(n, 2 * pile.size)
            larger = np.empty(size, common)
            larger[: self._heights[code]] = pile[: self._heights[code]]
            self._piles[code] = larger

    def used(self) -> list[int]:
        """Return the codes that occur."""
        return [code for code in (0, 1) if self._heights[code]]

    def pile(self, code: int) -> Floats:
        """Return the scores of a label."""
        other = self._piles[1 - code].dtype
        scores: Floats = self._piles[code][: self._heights[code]]
        return scores.astype(np.result_type(scores, other), copy=False)


class _Everything:
    """Keeps every valid row, with its label and its group."""

    def __init__(self) -> None:
        self._values: list[Floats] = []
        self._codes: list[NDArray[np.int8]] = []
        self._index: list[NDArray[np.intp]] = []
        self._used = np.zeros(2, dtype=bool)
        self.left_out = 0

    def add(self, values: Floats, codes: NDArray[np.int8], index: NDArray[np.intp] | None) -> None:
        """Add the valid rows of a block."""
        self._values.append(values)
        self._codes.append(codes)
        self._used |= np.bincount(codes, minlength=2) > 0
        if index is not None:
            self._index.append(index)

    def take(self, kept: NDArray[np.bool_]) -> None:
        """Forget rows."""
        values, codes, index, _ = self.kept()
        self.left_out += int(np.count_nonzero(~kept))
        self._values, self._codes = [values[kept]], [codes[kept]]
        self._index = [] if index is None else [index[kept]]

    def used(self) -> list[int]:
        """Return the codes that occurred."""
        return np.flatnonzero(self._used).tolist()

    def kept(self) -> Kept:
        """Return all that was added."""
        empty = np.empty(0)
        values: Floats = np.concatenate(self._values) if self._values else empty  # type: ignore[assignment]
        self._values = [values]
        codes = np.concatenate(self._codes) if self._codes else empty.astype(np.int8)
        index = np.concatenate(self._index) if self._index else None
        return values, codes, index, None


class _Sample(_Everything):
    """Keeps a uniform sample of each class: the rows with the smallest numbers.

    Each row has a number of the draw, which knows nothing of the rows: files may be sorted. What is
    kept does not depend on how the file is cut into blocks.
    Groups keep their shares, so that what is said about all of them together stays true.
    """

    def __init__(self, most: int, draw: Draw) -> None:
        super().__init__()
        self._most = most
        self._draw = draw
        self._keys: list[NDArray[np.float64]] = []
        self._waiting = 0
        self._seen = np.zeros(2, dtype=np.int64)

    def add(self, values: Floats, codes: NDArray[np.int8], index: NDArray[np.intp] | None) -> None:
        """Add the valid rows of a block, and forget those that cannot be in the sample."""
        super().add(values, codes, index)
        start = int(self._seen.sum())
        self._keys.append(self._draw.numbers(values.size, "sample", start=start))
        self._seen += np.bincount(codes, minlength=2)
        self._waiting += values.size
        if self._waiting > max(4 * self._most, 1 << 20):
            self._prune()

    def _prune(self) -> None:
        values, codes, index, _ = super().kept()
        keys = np.concatenate(self._keys)
        parts = []
        for code in (0, 1):
            rows = np.flatnonzero(codes == code)
            if rows.size > self._most:
                rows = rows[np.argpartition(keys[rows], self._most - 1)[: self._most]]
            parts.append(rows)
        chosen = np.sort(np.concatenate(parts))
        self._values, self._codes, self._keys = [values[chosen]], [codes[chosen]], [keys[chosen]]
        self._index = [] if index is None else [index[chosen]]
        self._waiting = chosen.size

    def kept(self) -> Kept:
        """Return the sample, and of how many rows of each label it is one."""
        if self._keys:
            self._prune()
        values, codes, index, _ = super().kept()
        whole = values.size == self._seen.sum()
        return values, codes, index, None if whole else (int(self._seen[0]), int(self._seen[1]))
