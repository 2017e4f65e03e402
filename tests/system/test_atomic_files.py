from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper._system import _atomic_files as writing
from ratekeeper._system._atomic_files import atomic_file, atomic_folder, write

WAITING = """if True:
    import sys
    from ratekeeper._system._atomic_files import atomic_file, atomic_folder
    opened = atomic_file if sys.argv[1] == "file" else atomic_folder
    with opened(sys.argv[2]) as place:
        (place if sys.argv[1] == "file" else place / "a").write_text("half")
        print("ready", flush=True)
        sys.stdin.read()
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def some_calibration(n=40):
    return rk.calibrate(np.linspace(0, 1, 2 * n), np.repeat(["no", "yes"], n))


@contextmanager
def another_run(kind, path):
    """Another process that is in the middle of writing."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, kind, path], stdin=-1, stdout=-1, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        if process.poll() is None:
            process.communicate(timeout=60)


def test_a_file_appears_when_it_is_complete(tmp_path):
    """Until the end there is only an unfinished file of another name."""
    path = tmp_path / "a.txt"
    with atomic_file(path) as unfinished:
        unfinished.write_text("one")
        assert not path.exists()
        assert unfinished.parent == tmp_path
        assert unfinished.name.startswith(".a.txt.")
        assert unfinished.name.endswith(".unfinished")
    assert names(tmp_path) == ["a.txt"]
    assert path.read_text() == "one"


@pytest.mark.parametrize("error", [ValueError, OSError, FileNotFoundError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file(tmp_path, error):
    """Whatever happens within, the old file stays, the error comes out, and nothing is left."""
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(place):
        place.write_text("half")
        raise error

    with pytest.raises(error), atomic_file(path) as unfinished:
        fail(unfinished)
    assert path.read_text() == "old"
    with pytest.raises(error), atomic_folder(tmp_path / "made") as unfinished:
        fail(unfinished / "b")
    assert names(tmp_path) == ["a.txt"]


def test_a_failing_rename_leaves_nothing(tmp_path):
    """A folder in the place of a file, or anything in the place of a folder, is not replaced."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").touch()
    with pytest.raises(OSError, match="directory"), atomic_file(tmp_path / "folder"):
        pass
    with pytest.raises(OSError, match="not empty"), atomic_folder(tmp_path / "folder"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="directory"), atomic_folder(tmp_path / "file"):
        pass
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "no" / "file"):
        pass
    assert names(tmp_path) == ["file", "folder"]
    assert names(tmp_path / "folder") == ["mine"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_leftovers_of_a_killed_run(tmp_path, kind):
    """What a killed run left is removed by the next one, what a living one writes is not."""
    path = tmp_path / "out"
    opened = atomic_file if kind == "file" else atomic_folder
    with another_run(kind, path) as killed:
        killed.send_signal(signal.SIGKILL)
    (left,) = names(tmp_path)
    assert left.endswith(".unfinished")
    with another_run(kind, path) as living:
        (held,) = names(tmp_path)
        assert held != left
        with opened(tmp_path / "other"):
            assert held in names(tmp_path)
        with pytest.raises(AssertionError, match="here"), opened(path):
            assert held not in names(tmp_path), "here"
        assert names(tmp_path) == sorted([held, "other"])
        living.communicate(timeout=60)
    assert names(tmp_path) == ["other", "out"]


def test_only_leftovers_of_the_same_name_are_removed(tmp_path):
    """Files of other names stay, whoever wrote them."""
    others = [".b.txt.0123456789ab.unfinished", "a.txt.unfinished", ".a.txt.bak", ".a.unfinished"]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / ".a.txt.0123456789ab.unfinished").touch()
    with atomic_file(tmp_path / "a.txt"):
        pass
    assert names(tmp_path) == sorted([*others, "a.txt"])


def test_many_writers_at_once(tmp_path):
    """Runs that write the same file do not disturb each other: one of them wins, whole."""
    path = tmp_path / "a.txt"
    errors = []

    def work(i):
        try:
            for _ in range(60):
                with atomic_file(path) as unfinished:
                    unfinished.write_text(str(i) * 1_000)
                assert len(set(path.read_text())) == 1
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert names(tmp_path) == ["a.txt"]
    assert len(path.read_text()) == 1_000


def test_a_file_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    """If another run removes the file before it is locked, nothing is lost."""
    real, calls = writing._locked, []  # noqa: SLF001 - to look inside

    def slow(lock, path, **how):
        if len(calls) < 3:
            calls.append(path)
            path.unlink()  # as another run would
        return real(lock, path, **how)

    monkeypatch.setattr(writing, "_locked", slow)
    with atomic_file(tmp_path / "a.txt") as unfinished:
        unfinished.write_text("one")
    assert len(calls) == 3
    assert names(tmp_path) == ["a.txt"]


def test_file_systems_without_locks(tmp_path, monkeypatch):
    """Where nothing can be locked, files are written all the same, and nothing is removed."""
    import fcntl

    def none(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    (tmp_path / ".a.txt.0123456789ab.unfinished").touch()
    with atomic_file(tmp_path / "a.txt") as unfinished:
        unfinished.write_text("one")
    assert names(tmp_path) == [".a.txt.0123456789ab.unfinished", "a.txt"]


def test_links_are_written_through(tmp_path):
    """A link stays a link, and what it points to is replaced."""
    (tmp_path / "data").mkdir()
    real = tmp_path / "data" / "real.txt"
    real.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    with atomic_file(link) as unfinished:
        assert unfinished.parent == real.parent  # so that renaming never copies
        unfinished.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    dangling = tmp_path / "dangling.txt"
    dangling.symlink_to(tmp_path / "data" / "made.txt")
    with atomic_file(dangling) as unfinished:
        unfinished.write_text("made")
    assert names(tmp_path / "data") == ["made.txt", "real.txt"]
    assert dangling.is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_who_may_read_it_stays(tmp_path, mode):
    """A file that only its owner may read is not opened to others by a rewrite."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    with atomic_file(path) as unfinished:
        unfinished.write_text("new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    with atomic_file(tmp_path / "b.txt"):
        pass
    (tmp_path / "c.txt").touch()
    assert (tmp_path / "b.txt").stat().st_mode == (tmp_path / "c.txt").stat().st_mode


def test_devices_and_pipes_are_not_replaced(tmp_path):
    """What is no file is written to as it is: nobody loses a device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    with atomic_file(pipe) as place, place.open("wb") as file:
        file.write(b"through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["a" * 255, "漢" * 85, "é" * 100, "-", " ", "a\nb", "*?[", ".x"])
def test_any_name_that_the_system_takes(tmp_path, name):
    """Long names, counted in bytes, and odd ones are written like others."""
    (tmp_path / name).write_text("old")
    for _ in range(2):
        with atomic_file(tmp_path / name) as unfinished:
            unfinished.write_text("new")
    assert names(tmp_path) == [name]
    with atomic_folder(tmp_path / f"{name[1:]}b"):
        pass
    assert len(names(tmp_path)) == 2


def test_a_folder_that_cannot_be_entered(tmp_path):
    """A refusal of the system comes out as it is, and nothing is left."""
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError), atomic_file(tmp_path / "a.txt"):
        pass
    tmp_path.chmod(0o700)
    assert names(tmp_path) == []


def test_a_whole_folder(tmp_path):
    """A folder appears with all its files, in the place of an empty one too."""
    (tmp_path / "out").mkdir()
    with atomic_folder(tmp_path / "out") as unfinished:
        (unfinished / "deep").mkdir()
        (unfinished / "deep" / "a").write_text("one")
        assert names(tmp_path / "out") == []
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "deep" / "a").read_text() == "one"


def test_several_files_are_moved_when_all_are_written(tmp_path):
    """Other files of the folder stay, old ones are replaced, and a failure moves none."""
    folder = tmp_path / "deep" / "out"
    write(folder, {"a": b"1", "b": b"2"})
    (folder / "mine").touch()
    write(folder, {"b": b"3", "c": b"4"})
    assert {name: (folder / name).read_bytes() for name in "abc"} == {
        "a": b"1",
        "b": b"3",
        "c": b"4",
    }
    with pytest.raises(TypeError):
        write(folder, {"a": b"5", "b": "text, not bytes"})
    with pytest.raises(FileNotFoundError):
        write(folder, {"a": b"5", "no/such": b"6"})
    assert (folder / "a").read_bytes() == b"1"
    assert names(folder) == ["a", "b", "c", "mine"]
    (folder / ".files.0123456789ab.unfinished").mkdir()
    (folder / ".files.0123456789ab.unfinished" / "a").touch()
    write(folder, {"a": b"7"})
    assert names(folder) == ["a", "b", "c", "mine"]


def test_calibrations_are_saved_whole(tmp_path, monkeypatch):
    """A save that fails leaves the old file; leftovers go; links and permissions stay."""
    path = tmp_path / "cal.rk"
    rk.save(some_calibration(), path)
    path.chmod(0o600)
    link = tmp_path / "link.rk"
    link.symlink_to(path)
    (tmp_path / ".cal.rk.0123456789ab.unfinished").touch()
    rk.save(some_calibration(50), link)
    assert rk.load(path) == some_calibration(50)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert link.is_symlink()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        rk.save(some_calibration(60), path)
    assert rk.load(path) == some_calibration(50)
    assert names(tmp_path) == ["cal.rk", "link.rk"]


def test_a_full_disk(tmp_path):
    """A device that takes nothing is an error, and stays a device."""
    full = tmp_path / "full"  # not /dev/full itself, which root could replace
    try:
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        full.open("wb").close()
    except OSError:
        pytest.skip("no device can be made here")
    with pytest.raises(OSError, match="No space left"):
        rk.save(some_calibration(), full)
    assert stat.S_ISCHR(full.stat().st_mode)
    assert names(tmp_path) == ["full"]


def test_a_failing_write_leaves_the_folder_as_it_was(tmp_path):
    """Files are moved only when all of them are written."""
    write(tmp_path, {"a.csv": b"old"})
    with pytest.raises(FileNotFoundError):
        write(tmp_path, {"a.csv": b"new", "no such folder/b.csv": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.csv": b"old"}


def test_files_that_are_open_are_not_replaced(tmp_path):
    """A redirected standard output goes on where it was: its file is never swapped."""
    code = "from ratekeeper._system import _atomic_files as files\n"
    code += "with files.atomic_file('/dev/stdout'): pass"
    log = tmp_path / "log"
    log.write_text("precious\n")
    with log.open("a") as stream:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=stream, stderr=subprocess.PIPE, check=False
        )
    assert b"open already" in done.stderr
    assert log.read_text() == "precious\n"


def test_unfinished_files_are_as_private_as_the_target(tmp_path):
    """Nobody can read in the unfinished file what they cannot read in the finished one."""
    path = tmp_path / "a.txt"
    path.touch(0o600)
    with atomic_file(path) as unfinished:
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
