"""Options, settings and outputs that cannot be used, and promises that cannot be kept."""

from __future__ import annotations

from case import Case, full_device

NO_RATES = ["0", "1", "-0.1", "1.5", "nan", "inf", "five", "", "5%%", "101%", "0%", "1e-400", "%"]
NO_RATES += ["snan", "snan%"]  # which decimals of Python can be, and floats cannot
CALIBRATE = ["calibrate", "good.csv", "--score", "risk", "--label", "ill"]
COMPARE = ["compare", "good.csv", "--label", "ill", "--control", "fnr", "--alpha", "0.2"]
CLASSIFY = ["classify", "test.rk", "good.csv"]


def cases():
    yield from _rates()
    yield from _promises()
    yield from _settings()
    yield from _outputs()


def _rates():
    control = ["control", "cal.rk", "-o", "out.rk"]
    for value in NO_RATES:
        for command in (control, [*CALIBRATE, "-o", "out.rk"]):
            for option in ("--fnr", "--fpr"):
                words = (option, repr(value), "strictly between 0 and 1")
                yield Case(f"{option} {value!r}", [*command, option, value], 2, words)
        delta = [*control, "--fnr", "0.2", "--method", "high-probability", "--delta", value]
        yield Case(f"--delta {value!r}", delta, 2, ("--delta", repr(value)))
        alpha = ["normality", "good.csv", "--alpha", value]
        yield Case(f"--alpha {value!r}", alpha, 2, ("--alpha", repr(value)))


def _promises():
    said = {"nothing known": [], "twice": ["--label", "ill", "--unlabelled"]}
    for name, more in said.items():
        words = ("--label", "--unlabelled")
        yield Case(name, [*CALIBRATE[:4], *more, "-o", "out.rk"], 2, words)
    few = [*CALIBRATE[:4], "--one-class", "negative", "-o", "out.rk", "--fnr", "20%"]
    yield Case("none of the class", few, 3, ("no positives", "at all", "FPR"))
    control = ["control", "cal.rk", "-o", "out.rk"]
    for rate in ("--fnr", "--fpr"):
        few = [*control, rate, "0.1%"]
        words = ("HighProbability", "needs at least 2,995", "got 60", "Add data", "raise")
        yield Case(f"{rate} too small", few, 3, words)
        words = ("Conformal", "needs at least 999", "got 60", "Add data", "raise")
        average = [*few, "--method", "conformal"]
        yield Case(f"{rate} too small on average", average, 3, words)
        weaker = ("needs at least 99", "got 60", "--method conformal", "needs 33")
        yield Case(f"{rate} too small, but on average", [*control, rate, "3%"], 3, weaker)
        for method in ("high-probability", "simultaneous"):
            few = [*control, rate, "1%", "--method", method]
            yield Case(f"{rate} too small, {method}", few, 3, ("needs at least", "got 60"))
        few = ["control", "by_site.rk", "-o", "out.rk", rate, "3%"]
        words = ("too few in group 'north': 20", "--thin-groups pool")
        yield Case(f"{rate} too small in a group", few, 3, words)
        few = [*CALIBRATE, "-o", "out.rk", rate, "0.1%"]
        yield Case(f"{rate} too small at once", few, 3, ("needs at least 2,995",))
        average = [*few, "--method", "conformal"]
        yield Case(f"{rate} too small at once, on average", average, 3, ("needs at least 999",))
    for name, more, words in (
        ("neither rate", [], ("--fnr",)),
        ("unknown method", ["--fnr", "0.2", "--method", "magic"], ("magic", "conformal")),
        ("unknown groups", ["--fnr", "0.2", "--thin-groups", "drop"], ("drop",)),
        (
            "delta for none",
            ["--fnr", "0.2", "--method", "conformal", "--delta", "0.1"],
            ("--delta",),
        ),
        ("no parameter", ["--fnr", "0.2", "--parameter", "a=1"], ("a",)),
        ("half a parameter", ["--fnr", "0.2", "--parameter", "a"], ("a",)),
        ("negative seed", ["--fnr", "0.2", "--seed", "-1"], ("--seed",)),
        ("unknown option", ["--fnr", "0.2", "--magic"], ("--magic",)),
    ):
        yield Case(name, [*control, *more], 2, words)
    for name, more, words in (
        ("sample of none", ["--sample", "0"], ("--sample",)),
        ("sample of some", ["--sample", "few"], ("few",)),
        ("sample beyond all", ["--sample", "1" + 30 * "0"], ("--sample", "up to", "smaller")),
        ("seed beyond all", ["--sample", "9", "--seed", "1" + 60 * "0"], ("--seed", "smaller")),
        ("unknown format", ["--format", "xls"], ("xls", "csv")),
        ("wrong format", ["--format", "parquet"], ("good.csv cannot be read",)),
        ("unknown way", ["--on-invalid", "ignore"], ("ignore", "skip")),
    ):
        yield Case(name, [*CALIBRATE, "-o", "out.rk", *more], 2, words)
    for name, arguments in (
        ("no file", ["calibrate"]),
        ("no column", ["calibrate", "good.csv", "-o", "out.rk"]),
        ("no output", CALIBRATE),
        ("no table", ["sql", "test.rk"]),
        ("no test", ["classify"]),
        ("a prefix of no letters", [*CLASSIFY, "-o", "out.csv", "--prefix", "\udcff"]),
        ("unknown command", ["clasify", "test.rk"]),
        ("unknown system", [*COMPARE, "--systems", "magic"]),
        ("no such share", [*COMPARE, "--test-size", "2"]),
        ("repeats beyond all", [*COMPARE, "--repeats", "1" + 30 * "0"]),
        ("repeats of a lifetime", [*COMPARE, "--repeats", "1000000000"]),
        ("processes beyond all", [*COMPARE, "--jobs", "1" + 30 * "0"]),
        ("n beyond all", ["plan", "--fnr", "5%", "--n", "1" + 30 * "0"]),
        ("n beyond more", ["plan", "--fnr", "5%", "--n", "1" + 400 * "0"]),
        ("alpha below all", ["plan", "--fnr", "1e-300"]),
    ):
        yield Case(name, arguments, 2)


def _settings():
    arguments = [*CALIBRATE, "-o", "out.rk", "--config", "bad.toml"]
    for name, content, words in (
        ("unknown key", b"[calibrate]\nscor = 'risk'\n", ("scor", "Did you mean 'score'")),
        ("unknown table", b"[calibrat]\nscore = 'risk'\n", ("calibrat", "calibrate")),
        ("no table", b"score = 'risk'\n", ("score",)),
        ("number for text", b"[calibrate]\ngroup = 3\n", ("group = 3",)),
        ("text for number", b"[calibrate]\nsample = 'few'\n", ("sample", "whole number")),
        ("wrong choice", b"[calibrate]\non-invalid = 'drop'\n", ("drop",)),
        ("wrong rate", b"[calibrate]\nfnr = 2\n", ("fnr",)),
        ("no TOML", b"[calibrate\n", ("not TOML",)),
        ("latin1", "# é".encode("latin1"), ("not TOML in UTF-8",)),
        ("key of another command", b"[calibrate]\ntable = 't'\n", ("table",)),
        ("nested too deeply", b"a = " + 5_000 * b"[", ("nested too deeply",)),
        ("a number without end", b"[calibrate]\nsample = " + 5_000 * b"9", ("not TOML",)),
        ("a long key", b"[calibrate]\n" + 5_000 * b"k" + b" = 1", ("no such setting",)),
        ("a long value", b"[calibrate]\nscor = '" + 5_000 * b"k" + b"'", ("no such setting",)),
        ("too long", 2_000_000 * b"\n", ("more than 1,000,000 bytes",)),
    ):

        def spoil(folder, content=content):
            (folder / "bad.toml").write_bytes(content)

        yield Case(f"settings: {name}", arguments, 2, ("bad.toml", *words), spoil)
    yield Case("settings: none", arguments, 2, ("bad.toml", "cannot be read"))
    for name, value, words in (
        ("ON_INVALID", "drop", ("drop",)),
        ("SAMPLE", "many", ("many",)),
        ("FNR", "2", ("2",)),
        ("FORMAT", "xls", ("xls",)),
        ("SCORE", "p", ("good.csv", "'p'")),
        ("LOWER_IS_POSITIVE", "perhaps", ("perhaps",)),
    ):
        arguments = ["calibrate", "good.csv", "--label", "ill", "-o", "out.rk"]
        arguments += [] if name == "SCORE" else ["--score", "risk"]
        env = {f"RATEKEEPER_CALIBRATE_{name}": value}
        yield Case(f"environment: {name}", arguments, 2, words, env=env)


def _outputs():
    commands = {
        "calibrate": [*CALIBRATE, "-o"],
        "control": ["control", "cal.rk", "--fnr", "0.2", "-o"],
        "classify": [*CLASSIFY, "-o"],
        "report": ["report", "test.rk", "-o"],
    }
    for command, arguments in commands.items():
        words = ("no folder",)
        yield Case("into no folder", [*arguments, "no/out"], 2, words)
        source = {"calibrate": "good.csv", "classify": "good.csv"}.get(command)
        source = source or {"control": "cal.rk", "report": "test.rk"}[command]
        yield Case("onto the input", [*arguments, source], 2, (source, "input"))
        yield Case("onto the input, roundabout", [*arguments, f"./{source}"], 2, ("input",))
        yield Case("onto a folder", [*arguments, "folder"], 2, ("folder",), _folder)
        if command != "classify":
            yield Case("onto nothing", [*arguments, ""], 2)
        full = [*arguments, "full"]
        yield Case("onto a full disk", full, 2, ("No space left",), full_device)
        link = [*arguments, "link"]
        yield Case("onto a link to the input", link, 2, ("input",), _link(source))
        settings = [*arguments, "mine.toml", "--config", "mine.toml"]
        yield Case("onto the settings", settings, 2, ("mine.toml", "input"), _settings_file)
        settings = ["--config", "mine.toml", *arguments, "./mine.toml"]
        words = ("mine.toml", "input")
        yield Case(f"{command} onto the settings of all", settings, 2, words, _settings_file)
        env = {"RATEKEEPER_CONFIG": "mine.toml"}
        named = [*arguments, "mine.toml"]
        yield Case("onto named settings", named, 2, ("input",), _settings_file, env)
    folder = [*COMPARE, "-o", "folder", "--config", "folder/comparison.csv"]
    yield Case("onto the settings", folder, 2, ("comparison.csv", "input"), _settings_within)
    for command in ("calibrate", "control", "report"):
        yield Case("onto standard output", [*commands[command], "-"], 2, ("standard output",))
    words = ("standard output",)
    yield Case("Parquet to a pipe", [*CLASSIFY, "--to", "parquet"], 2, words)
    yield Case("JSON and rows", [*CLASSIFY, "--json"], 2, words)
    onto = [*CLASSIFY, "-o", "out.parquet.gz"]
    yield Case("packed Parquet output", onto, 2, ("packed already",))
    yield Case("a file for a folder", [*COMPARE, "-o", "good.csv"], 2, ("good.csv",))


def _folder(folder):
    (folder / "folder").mkdir()
    (folder / "folder" / "mine").touch()


def _settings_file(folder):
    (folder / "mine.toml").write_text("[plan]\ndelta = 0.1\n")


def _settings_within(folder):
    (folder / "folder").mkdir()
    (folder / "folder" / "comparison.csv").write_text("[plan]\ndelta = 0.1\n")


def _link(source):
    return lambda folder: (folder / "link").symlink_to(source)
