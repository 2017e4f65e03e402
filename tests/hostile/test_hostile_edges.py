"""What strangers may put into options, names, folders and samples."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import warnings

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper._numerics._rates import beta_binomial_tail, clopper_pearson
from ratekeeper._system._atomic_files import atomic_file, atomic_folder, write

HUGE = (2**63, 2**64, 10**30, 10**400, 10**5000, 1e300, float("inf"), np.int64(2**62))


def some_calibration():
    y = np.repeat([0, 1], 300)
    return rk.calibrate(np.random.default_rng(0).normal(2.0 * y), y)


def true_rate(k, n):
    rate = rk.control.RealisedRate(k, n)
    return rate.mean, *rate.interval, rate.exceeds(0.05)


def test_huge_numbers_are_refused_or_right():
    """A number beyond all counts gets one clear error in Python, never a crash, NaN or a bomb."""
    cal = some_calibration()
    X, y = np.random.default_rng(1).normal(size=(60, 2)), np.tile([0, 1], 30)
    systems = ["conformal"]
    refused = {
        "n": lambda h: rk.plan("fnr", 0.05, n=h),
        "alpha": lambda h: rk.plan("fnr", h),
        "delta": lambda h: rk.plan("fnr", 0.05, delta=h),
        "excess": lambda h: rk.plan("fnr", 0.05, excess=h),
        "control": lambda h: cal.control("fnr", h),
        "size": rk.methods.Resampled,
        "replicates": rk.methods.Bootstrap,
        "confidence": lambda h: rk.methods.Bootstrap(confidence=h),
        "errors": lambda h: clopper_pearson(1, h),
        "m": lambda h: beta_binomial_tail(1, h, 1, 2),
        "half": lambda h: true_rate(h // 2 if h < float("inf") else h, h),
        "repeats": lambda h: rk.compare(X, y, control="fnr", alpha=0.3, repeats=h),
        "n_jobs": lambda h: rk.compare(X, y, control="fnr", alpha=0.3, n_jobs=h, systems=systems),
        "bins": lambda h: rk.plots.ScoreDensityDisplay.from_calibration(cal, bins=h, draw=False),
    }
    failures = []
    for name, call in refused.items():
        for huge in HUGE:
            try:
                call(huge)
                found = "taken"
            except rk.exceptions.InputError as error:
                found = str(error) if len(str(error)) > 400 else None
            except Exception as error:  # noqa: BLE001 - shown below
                found = repr(error)
            if found:
                failures.append(f"{name}: {found[:200]}")
    assert not failures, "\n".join(failures)


def test_seeds_have_128_bits_or_are_refused():
    """Seeds as NumPy advises to draw them work, whole floats too; larger ones are refused."""
    cal = some_calibration()
    for make in (
        rk.methods.Smoothed,
        lambda s: rk.methods.Resampled(20, s),
        lambda s: rk.methods.Bootstrap(50, s),
    ):
        for seed in (7.0, 2**63, 10**30, 2**128):
            p = cal.p_values([0.0, 1.0], method=make(seed)).p1
            assert np.isfinite(p).all()
        for seed in (-1, 2**129, 10**400, 1e300, 0.5):
            with pytest.raises(rk.exceptions.InputError, match="random_state"):
                make(seed)


def test_a_plan_for_a_trillion_scores_keeps_its_digits():
    """At the largest n that is taken, the chance to be above alpha is still that of the promise."""
    for alpha in (0.5, 0.05, 0.001, 1e-6):
        plan = rk.plan("fnr", alpha, n=10**12)
        above = plan.realised_high_probability.exceeds(alpha)
        assert 0.0499 < above <= 0.05
        assert "nan" not in str(plan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny = rk.plan("fnr", 1e-12, delta=5e-324, excess=1e-15, n=10**12)
    assert tiny.n_excess > 10**18


STRANGER = 54321  # a user that is not us
LEFT = ".out.0123456789ab.unfinished"
WRITING = """if True:
    import sys
    from ratekeeper._system._atomic_files import atomic_file, atomic_folder
    with atomic_file(sys.argv[1]) as place:
        place.write_text("done")
    with atomic_folder(sys.argv[1] + "put"):
        pass
"""


def given_to_a_stranger(path):
    try:
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    except PermissionError:
        pytest.skip("only root can play two users")


def test_planted_pipes_and_links_do_not_hang_or_mislead_a_writer(tmp_path):
    """A pipe, link or full folder under the name of a leftover hangs nobody and leads nowhere."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "a").write_text("mine")
    folder = tmp_path / "shared"
    folder.mkdir()
    os.mkfifo(folder / LEFT)
    os.mkfifo(folder / ".output.0123456789ab.unfinished")
    (folder / LEFT.replace("0", "1")).symlink_to(precious)
    (folder / LEFT.replace("0", "2")).symlink_to(precious / "a")
    (folder / LEFT.replace("0", "3")).symlink_to("/dev/tty")
    (folder / LEFT.replace("0", "4")).mkdir()
    (folder / LEFT.replace("0", "4") / "link").symlink_to(precious)
    done = subprocess.run(
        [sys.executable, "-c", WRITING, folder / "out"], timeout=60, check=True, capture_output=True
    )
    assert done.stderr == b""
    assert (folder / "out").read_text() == "done"
    assert (precious / "a").read_text() == "mine"
    assert not (folder / LEFT.replace("0", "4")).exists()  # which may be ours, of a killed run


def test_leftovers_of_others_stay(tmp_path):
    """What another user left, or works on where nothing can be locked, is none of our business."""
    (tmp_path / LEFT).write_text("theirs")
    given_to_a_stranger(tmp_path / LEFT)
    with atomic_file(tmp_path / "out") as place:
        place.write_text("mine")
    assert (tmp_path / LEFT).read_text() == "theirs"


def test_a_lock_that_others_hold_is_not_waited_for(tmp_path, monkeypatch):
    """Somebody who locks all that is new beside the target stops us with a message."""
    fcntl = pytest.importorskip("fcntl")
    real, held = os.open, []

    def watched(path, flags, *mode):
        number = real(path, flags, *mode)
        if flags & os.O_CREAT and str(path).endswith(".unfinished"):
            held.append(real(path, os.O_RDONLY))
            fcntl.flock(held[-1], fcntl.LOCK_EX)
        return number

    monkeypatch.setattr(os, "open", watched)
    with pytest.raises(rk.InputError, match="lock whatever is new"), atomic_file(tmp_path / "out"):
        pass
    for number in held:
        os.close(number)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_links_of_others_in_shared_folders_are_refused(tmp_path, mode):
    """A stranger's link or pipe in a folder like /tmp is not written through; our own is."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    (shared / "link").symlink_to(precious)
    with atomic_file(shared / "link") as place:
        place.write_text("new")
    assert precious.read_text() == "new"
    given_to_a_stranger(shared / "link")
    os.mkfifo(shared / "pipe")
    given_to_a_stranger(shared / "pipe")
    (tmp_path / "hop").symlink_to(shared / "link")
    for name in ("shared/link", "shared/pipe", "hop"):
        with pytest.raises(rk.InputError, match="another user"), atomic_file(tmp_path / name):
            pass
    with pytest.raises(rk.InputError, match="another user"), atomic_folder(shared / "link"):
        pass
    test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    for name in ("shared/link", "shared/pipe", "hop"):
        with pytest.raises(rk.InputError, match="another user"):
            rk.save(test, tmp_path / name)
    assert precious.read_text() == "new"


def test_folders_that_are_links_of_others_are_refused(tmp_path):
    """Files do not go to a folder that a stranger's link in a shared folder names."""
    precious, shared = tmp_path / "precious", tmp_path / "shared"
    precious.mkdir()
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "out").symlink_to(precious)
    write(shared / "out", {"a": b"mine"})
    given_to_a_stranger(shared / "out")
    with pytest.raises(rk.InputError, match="another user"):
        write(shared / "out", {"a": b"new"})
    assert (precious / "a").read_text() == "mine"


def test_a_folder_of_files_is_not_led_astray(tmp_path):
    """Whatever has the name of a file that is written is replaced itself, never followed."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "a").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / "files").symlink_to(precious / "a")
    (out / "b").symlink_to(precious / "a")
    write(out, {"b": b"new"})
    assert [path.name for path in precious.iterdir()] == ["a"]
    assert (precious / "a").read_text() == "mine"
    assert (out / "b").read_text() == "new"
    assert not (out / "b").is_symlink()


def test_a_file_of_others_gives_no_rights_away(tmp_path):
    """The mode of a stranger's file does not make ours run as us, nor open it to writers."""
    path = tmp_path / "out"
    path.write_text("theirs")
    path.chmod(0o6777)
    with atomic_file(path) as place:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o777
    path.chmod(0o6766)
    given_to_a_stranger(path)
    path.chmod(0o6766)
    with atomic_file(path):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o744
    assert path.stat().st_gid == STRANGER


def test_a_group_that_cannot_be_kept_gets_no_more_than_all(tmp_path, monkeypatch):
    """Where the group of the old file is not ours to give, our own does not see what it might."""
    path = tmp_path / "out"
    path.touch()
    path.chmod(0o640)
    try:
        os.chown(path, -1, STRANGER)
    except PermissionError:
        pytest.skip("only root can give files away")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    with atomic_file(path):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_exchanged_file_is_noticed(tmp_path):
    """If others put something else under the name that is written, nothing takes the place."""
    path = tmp_path / "out"
    path.write_text("old")

    def exchange(place):
        place.write_text("mine")
        place.rename(tmp_path / "elsewhere")
        place.write_text("theirs")

    with pytest.raises(rk.InputError, match="exchanged"), atomic_file(path) as place:
        exchange(place)
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "loop"])
def test_what_is_no_path_is_refused(tmp_path, name):
    """NUL, letters that no file name has and links in a circle are errors of ours or the system."""
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises((rk.InputError, OSError)), atomic_file(f"{tmp_path}/{name}"):
        pass


@pytest.mark.thorough_rows
@pytest.mark.parametrize("size", [20, 3000])
def test_fits_to_scores_of_any_size_are_right_or_refused(size):
    """Subnormal and huge scores give numbers between 0 and 1 without a warning, or one error."""
    base, y = np.random.default_rng(0).normal(size=size), np.tile([0, 1], size // 2)
    samples = {f"x {scale:g}": base * scale for scale in (1e-310, 1e-300, 1e-140, 1e90, 1e300)}
    samples["steps"] = np.arange(size) * 5e-324
    samples["mixed"] = np.r_[base[: size // 2] * 1e-310, base[size // 2 :]]
    samples["one huge"] = np.r_[base[:-1], 1e308]
    samples["narrow"] = 1.0 + base * 1e-16
    methods = [
        rk.methods.Kernel(),
        rk.methods.Kernel("silverman"),
        rk.methods.Kernel(5e-324),
        rk.methods.Kernel(1e-310),
    ]
    methods += [
        rk.methods.Kernel(1e300),
        rk.methods.Parametric("norm"),
        rk.methods.Parametric("logistic"),
    ]
    failures, refused = [], 0
    for name, scores in samples.items():
        cal = rk.calibrate(scores, y)
        new = np.r_[scores[:5], 0.0, 5e-324, -1e308, 1e308, np.inf, -np.inf]
        for method in methods:
            try:
                with warnings.catch_warnings(), np.errstate(all="warn"):
                    warnings.simplefilter("error")
                    warnings.simplefilter("ignore", rk.exceptions.RatekeeperWarning)
                    p = cal.p_values(new, method=method).p1
                    str(cal.control("fnr", 0.1, method=method).certificate)
                found = None if ((p >= 0) & (p <= 1)).all() else p
            except rk.InputError:
                refused, found = refused + 1, None
            except Exception as error:  # noqa: BLE001 - shown below
                found = repr(error)
            if found is not None:
                failures.append(f"{method}, {name}: {found}")
    assert not failures, "\n".join(failures)
    assert refused < len(samples) * len(methods) / 2


@pytest.mark.parametrize("size", [200, 3000])
def test_a_kernel_on_subnormal_scores_is_that_on_ordinary_ones(size):
    """Whole numbers of the smallest float have the very p-values of the whole numbers."""
    rng = np.random.default_rng(1)
    whole, y = rng.integers(-(10**6), 10**6, size), np.tile([0, 1], size // 2)
    new = rng.integers(-(10**6), 10**6, 50)
    for width in (3.0, 1e5):
        p, tiny = (
            rk.calibrate(whole * unit, y)
            .p_values(new * unit, method=rk.methods.Kernel(width * unit))
            .p1
            for unit in (1.0, 5e-324)
        )
        assert (p == tiny).all()
