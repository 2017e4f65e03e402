"""Options, settings and outputs that cannot be used, and promises that cannot be kept."""

from __future__ import annotations

from case import Case, full_device

NO_RATES = ["0", "1", "-0.1", "1.5", "nan", "inf", "five", "", "5%%", "101%", "0%", "1e-400", "%"]
NO_RATES += ["snan", "snan%"]  # which decimals of Python can be, and floats cannot
CALIBRATE = ["calibrate", "good.csv", "--score", "risk", "--label", "ill"]
COMPARE = ["compare", "good.csv", "--label", "ill", "--control", "fnr", "--alpha", "0.2"]
CLASSIFY = ["classify", "test.rk", "good.csv"]
CHEAPEST = ["cheapest", "cal.rk", "--cost-fn", "9", "--cost-fp", "1", "-o", "out.rk"]
SELECT = ["select", "cal.rk", "good.csv", "-o", "out.csv"]


def cases():
    yield from _rates()
    yield from _promises()
    yield from _questions()
    yield from _settings()
    yield from _outputs()


def _rates():
    control = ["control", "cal.rk", "-o", "out.rk"]
    for value in NO_RATES:
        for command in (control, [*CALIBRATE, "-o", "out.rk"]):
            for option in ("--fnr", "--fpr"):
                words = (option, repr(value), "strictly between 0 and 1")
                yield Case(f"{option} {value!r}", [*command, option, value], 2, words)
        shares = [[*control, option] for option in ("--precision", "--npv", "--wrong", "--alerts")]
        shares += [[*control, "--fnr", "0.2", "--prevalence"], [*CHEAPEST, "--prevalence"]]
        shares += [["inspect", "test.rk", "--prevalence"], [*SELECT, "--fdr"]]
        shares += [["report", "test.rk", "-o", "out.html", "--prevalence"]]
        for command in shares:
            words = (command[-1], repr(value), "strictly between 0 and 1")
            yield Case(f"{command[-1]} {value!r}", [*command, value], 2, words)
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


def _questions():
    """Precision and the like, costs, selections, audits, clusters and keys."""
    control = ["control", "cal.rk", "-o", "out.rk"]
    aims = {name: [f"--{name}", "50%"] for name in ("precision", "npv", "wrong", "alerts")}
    for name, aim in aims.items():
        for other in (["--fnr", "0.2"], ["--method", "conformal"], ["--randomised"]):
            words = (f"--{name}", other[0])
            yield Case(f"{name} and {other[0]}", [*control, *aim, *other], 2, words)
        grouped = ["calibrate", "good.csv", "--score", "risk", "--label", "ill", "-o", "out.rk"]
        words = ("sampled by class", "random sample")
        yield Case(f"{name} by class", [*grouped, "--by-class", *aim], 2, words)
        words = ("all objects", "negative", "both classes")
        one = [*CALIBRATE[:4], "--one-class", "negative", *aim, "-o", "out.rk"]
        yield Case(f"{name} of one class", one, 2, words)
        unlabelled = [*CALIBRATE[:4], "--unlabelled", *aim, "-o", "out.rk"]
        if name != "alerts":
            yield Case(f"{name} without labels", unlabelled, 2, ("has no labels",))
        clusters = [*CALIBRATE, "--cluster", "site", *aim, "-o", "out.rk"]
        yield Case(f"{name} of clusters", clusters, 2, ("come in clusters",))
    yield Case("precision out of reach", [*control, "--precision", "99.9%"], 3, ("highest",))
    noisy = [*control, "--fnr", "0.2", "--wrong-positives"]
    for value in ("", "some", "2%-1%", "1/0", "9/2", "-1/9", "1e9/2", "100%", "1%-2%-3%", "nan"):
        words = ("--wrong-positives", "does not say how many")
        yield Case(f"wrong labels {value!r}", [*noisy, value], 2, words)
    yield Case("a prevalence beside wrong labels", [*noisy, "2%", "--prevalence", "2%"], 2)
    for value in ("0", "-1", "nan", "inf", "dear"):
        costs = ["cheapest", "cal.rk", "--cost-fn", value, "--cost-fp", "1", "-o", "out.rk"]
        yield Case(f"a cost of {value}", costs, 2, ("--cost-fn", value))
    words = ("Neither", "--fdr", "--budget")
    yield Case("no way to select", SELECT, 2, words)
    yield Case("two ways to select", [*SELECT, "--fdr", "9%", "--budget", "9"], 2, ("both",))
    yield Case("a budget beyond all", [*SELECT, "--budget", "999"], 2, ("at most the number",))
    alone = [*SELECT, "--fdr", "9%", "--method", "high-probability"]
    yield Case("a method without FDR", alone, 2, ("cannot keep an FDR",))
    evaluate = ["evaluate", "test.rk", "good.csv"]
    report = ["report", "test.rk", "-o", "out.html", "--evaluate", "good.csv"]
    for command in (evaluate, report):
        yield Case("an unknown column", [*command, "--by", "no"], 2, ("'no'", "--by"))
        yield Case("one column twice", [*command, "--by", "site", "--by", "site"], 2, ("once",))
        yield Case("nothing to cross", [*command, "--by", "site", "--crossed"], 2, ("two columns",))
        yield Case("unknown clusters", [*command, "--cluster", "no"], 2, ("'no'", "--cluster"))
    for test in ("test.rk", "aim.rk"):
        for command in (["evaluate", test, "good.csv"], ["classify", test, "good.csv"]):
            words = ("--key was given", "breaks no ties")
            out = ["-o", "out.csv"] if command[0] == "classify" else []
            yield Case(f"keys for {test}", [*command, *out, "--key", "site"], 2, words)


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
