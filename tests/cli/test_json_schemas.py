"""Every JSON output follows its published schema, and the schemas let nothing else through."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cases import each
from command_line import COMMANDS, command, run as run_command

import ratekeeper as rk

jsonschema = pytest.importorskip("jsonschema")
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(REFERENCE)  # as for a script: its sources stand beside it
    MADE = runpy.run_path(str(REFERENCE / "schemas.py"))
FIXTURE = """
calibrate people.csv --score risk --label ill -o cal.rk
calibrate people.csv --score risk --label ill --group site -o by_site.rk
calibrate people.csv --score risk --label ill --cluster person -o people.rk
calibrate people.csv --score risk --label ill --weight weight -o weighted.rk
calibrate people.csv --score risk --label ill --time day -o timed.rk
calibrate people.csv --score risk --label ill --knots 100 -o knots.rk
calibrate people.csv --score risk --one-class negative -o negatives.rk
calibrate people.csv --score risk --unlabelled -o unlabelled.rk
control cal.rk --fnr 10% -o test.rk
control cal.rk --fnr 10% --fpr 10% -o both.rk
control by_site.rk --fnr 10% -o groups.rk
control by_site.rk --fnr 10% --fpr 10% -o both_groups.rk
control by_site.rk --fnr 2% --thin-groups pool -o pooled.rk
control people.rk --fpr 20% -o clustered.rk
control weighted.rk --fnr 10% --method conformal -o weights.rk
control knots.rk --fpr 10% -o counted.rk
control cal.rk --precision 80% -o precision.rk
control cal.rk --wrong 8% -o wrong.rk
control cal.rk --alerts 10% -o alerts.rk
classify test.rk people.csv --adaptive state.rk --id id -o adapted.csv
classify groups.rk people.csv --adaptive state_groups.rk --id id --step decaying -o adapted_2.csv
monitor test.rk decided.csv --state watch.rk --score risk
"""
LINES = """
calibrate people.csv --score risk --label ill -o a.rk
calibrate people.csv --score risk --label ill --group site -o a.rk
calibrate people.csv --score risk --label ill --group site --cluster person -o a.rk
calibrate people.csv --score risk --label ill --group site --weight weight -o a.rk
calibrate people.csv --score risk --label ill --weight weight --rejection 3 -o a.rk
calibrate people.csv --score risk --label ill --time day --last 500 -o a.rk
calibrate people.csv --score risk --label ill --time day --since 2020-01-02 -o a.rk
calibrate people.csv --score risk --label ill --time day --append timed.rk --last 900 -o a.rk
calibrate people.csv --score risk --label ill --sample 100 -o a.rk
calibrate people.csv --score risk --label ill --knots 100 --group site -o a.rk
calibrate people.csv --score risk --label ill --by-class -o a.rk
calibrate people.csv --score risk --label ill --positive no --lower-is-positive -o a.rk
calibrate people.csv --score risk --one-class negative -o a.rk
calibrate people.csv --score risk --one-class positive --fnr 5% -o a.rk
calibrate people.csv --score risk --unlabelled -o a.rk
calibrate people.csv --score risk --unlabelled --group site --cluster person -o a.rk
calibrate people.csv --score risk --unlabelled --alerts 5% -o a.rk
calibrate people.csv --score risk --label ill --fnr 5% -o a.rk
calibrate people.csv --score risk --label ill --fnr 5% --fpr 5% -o a.rk
calibrate people.csv --score risk --label ill --precision 80% -o a.rk
calibrate holes.csv --score risk --label ill --on-invalid skip -o a.rk
control cal.rk --fnr 5% -o a.rk
control cal.rk --fpr 5% --prevalence 2% -o a.rk
control cal.rk --fnr 5% --method conformal -o a.rk
control cal.rk --fnr 5% --method simultaneous -o a.rk
control cal.rk --fnr 5% --method smoothed -o a.rk
control cal.rk --fnr 5% --method empirical -o a.rk
control cal.rk --fnr 5% --method bootstrap --parameter replicates=50 -o a.rk
control cal.rk --fnr 5% --method kernel -o a.rk
control cal.rk --fnr 5% --method parametric --parameter distribution=expon -o a.rk
control cal.rk --fnr 5% --method resampled --parameter size=21 -o a.rk
control cal.rk --fnr 5% --randomised -o a.rk
control cal.rk --fnr 5% --tolerance 1e-6 -o a.rk
control cal.rk --fnr 5% --fpr 5% --prevalence 2% -o a.rk
control cal.rk --fnr 40% --fpr 40% -o a.rk
control by_site.rk --fnr 10% --prevalence 2% -o a.rk
control by_site.rk --fnr 2% --thin-groups pool -o a.rk
control people.rk --fpr 20% -o a.rk
control people.rk --fpr 20% --fnr 20% -o a.rk
control weighted.rk --fnr 5% --method conformal -o a.rk
control knots.rk --fnr 5% -o a.rk
control negatives.rk --fpr 5% -o a.rk
control unlabelled.rk --alerts 5% --delta 0.05 -o a.rk
control cal.rk --precision 80% -o a.rk
control cal.rk --npv 80% --prevalence 20% -o a.rk
control cal.rk --wrong 8% -o a.rk
control cal.rk --alerts 5% -o a.rk
control by_site.rk --alerts 5% -o a.rk
control cal.rk --fnr 10% --wrong-positives 3% -o a.rk
cheapest cal.rk --cost-fn 10 --cost-fp 1 -o a.rk
cheapest cal.rk --cost-fn 10 --cost-fp 1 --prevalence 5% --fnr 20% -o a.rk
classify test.rk people.csv -o out.csv
classify both.rk people.csv -o out.csv
classify groups.rk holes.csv --on-invalid skip -o out.csv
classify precision.rk people.csv -o out.csv
classify test.rk people.csv --adaptive new_state.rk --id id -o out.csv
learn state.rk people.csv --id id --label ill
learn state_groups.rk people.csv --id id --label ill
select cal.rk people.csv --fdr 10% -o out.csv
select cal.rk people.csv --budget 50 -o out.csv
select by_site.rk people.csv --fdr 10% -o out.csv
select by_site.rk people.csv --budget 50 --method simultaneous -o out.csv
evaluate test.rk new.csv
evaluate test.rk new.csv --check --require kept --min-n 5000
evaluate test.rk new.csv --group site
evaluate test.rk new.csv --by site --by sex --crossed
evaluate groups.rk new_holes.csv --on-invalid skip
evaluate both.rk new.csv
evaluate both.rk new.csv --by sex
evaluate both_groups.rk new.csv
evaluate pooled.rk new.csv
evaluate clustered.rk new.csv
evaluate clustered.rk new.csv --by sex
evaluate weights.rk new.csv
evaluate counted.rk new.csv
evaluate precision.rk new.csv
evaluate precision.rk new.csv --by sex
evaluate wrong.rk new.csv --group site
evaluate alerts.rk new.csv
evaluate test.rk healthy.csv
monitor test.rk decided.csv --outcomes people.csv --label ill --state w1.rk
monitor test.rk decided.csv --outcomes people.csv --label ill --state w2.rk --score risk
monitor both.rk decided.csv --outcomes people.csv --label ill --state w3.rk --matures-after "1 day"
monitor groups.rk decided.csv --outcomes worse.csv --label ill --state w4.rk --group site
monitor test.rk decided.csv --outcomes people.csv --label ill --state w5.rk --audit 50%
monitor test.rk decided.csv --outcomes flagged.csv --label ill --state w6.rk
monitor precision.rk decided.csv --outcomes people.csv --label ill --state w7.rk
shift cal.rk people.csv
shift cal.rk twice.csv
shift by_site.rk people.csv --lowest 1% --highest 99%
inspect cal.rk
inspect by_site.rk
inspect people.rk
inspect weighted.rk
inspect timed.rk
inspect knots.rk
inspect negatives.rk
inspect unlabelled.rk
inspect test.rk --prevalence 2%
inspect both.rk
inspect groups.rk --prevalence 2%
inspect wrong.rk
inspect state.rk
inspect state_groups.rk
inspect watch.rk
plan --fnr 1%
plan --fnr 1% --fpr 5% --n 500 --excess 1%
plan --fnr 5% --groups 5
plan --fnr 5% --rows-per-cluster 10 --n 50
plan --precision 90% --expected 95%
plan --npv 90% --expected 95% --share 20% --groups 3
plan --wrong 8% --expected 2%
plan --alerts 2%
plan --fnr 5% --worse 10% --groups 10
plan --fnr 5% --becomes 10%
plan --fnr 5% --becomes 10% --audit 10% --per-week 1000 --prevalence 5%
plan --fnr 5% --price 40% --calibration cal.rk
plan --fnr 5% --price 0.01% --calibration cal.rk --method conformal
normality people.csv --column risk
normality people.csv --column risk --by site --sample 100
normality holes.csv --column risk --on-invalid skip
compare people.csv --label ill --positive yes --control fnr --alpha 10% \
 --systems conformal,plain --repeats 2 --jobs 1 -o compared --drop person --drop day
compare people.csv --label ill --positive yes --control fpr --alpha 0.1% \
 --systems high-probability,plain --repeats 1 --jobs 1 --drop person --drop day
"""
LINES_RUN = LINES.replace("\\\n", "").strip().splitlines()
CHANGED = [*LINES_RUN[::3], LINES_RUN[-1], next(x for x in LINES_RUN if x.startswith("cheapest"))]
# Members that an output may have or not.
OPTIONAL = {
    name.rstrip("?")
    for path in REFERENCE.glob("schema_sources/*.py")
    for name in re.findall(r'"([\w-]+\?)":', path.read_text("utf-8"))
} | {"fnr", "fpr"}


@cache
def validator(name):
    schema = json.loads((REFERENCE / "schemas" / f"{name}.schema.json").read_text("utf-8"))
    return jsonschema.Draft202012Validator(schema)


def run(line):
    result = run_command(*shlex.split(line))
    assert result.exit_code in (0, 4), f"{line}\n{result.stdout}{result.stderr}"
    return result


def write(path, rows, decision="call"):
    names = ["id", "risk", "ill", "site", "sex", "person", "weight", "day", decision, "decided_at"]
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")


def rows_of(seed, n=1200):
    """Make people with a risk, an illness, two groups, households, weights, days and decisions."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    risk = rng.normal(2.0 * ill).round(6).tolist()
    days = [f"2020-01-0{1 + i * 3 // n}" for i in range(n)]
    return [
        [
            *(i, risk[i], "yes" if ill[i] else "no", "south" if i % 10 == 0 else "north"),
            *("f" if i % 2 else "m", f"{seed}-{i // 3}", 1 + i % 2, days[i]),
            *("yes" if risk[i] > 0.5 else "no", days[i]),
        ]
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write files of rows, and what the commands need that are tried."""
    folder = tmp_path_factory.mktemp("schemas")
    rows, new = rows_of(3), rows_of(4)
    write(folder / "people.csv", rows)
    write(folder / "decided.csv", rows, "decision")
    write(folder / "new.csv", new)
    write(folder / "healthy.csv", [row for row in new if row[2] == "no"])
    write(folder / "flagged.csv", [row for row in rows if row[8] == "yes"])
    write(folder / "twice.csv", [[row[0], 3 * row[1], *row[2:]] for row in rows])
    write(folder / "holes.csv", [*rows[1:], [0, "", *rows[0][2:]]])
    write(folder / "new_holes.csv", [*new[1:], [0, "", *new[0][2:]]])
    write(
        folder / "worse.csv", [[*row[:2], "yes" if row[0] % 3 else "no", *row[3:]] for row in rows]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in FIXTURE.strip().splitlines():
            run(line)
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def objects(value, path=()):
    """Yield the path of every object within; of a list, only of its first and last item."""
    if isinstance(value, dict):
        yield path
        for name, item in value.items():
            yield from objects(item, (*path, name))
    if isinstance(value, list) and value:
        for place in {0, len(value) - 1}:
            yield from objects(value[place], (*path, place))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def valid_output(line):
    """Run a command, and return its JSON and what checks it."""
    name = line.split()[0]
    found = json.loads(run(f"{line} --json").stdout)
    check = validator(name)
    assert re.fullmatch(rf"ratekeeper:{name}:[1-9]\d*", found["schema"])
    assert found["schema"] == check.schema["$id"]
    assert next(iter(found)) == "schema"
    error = jsonschema.exceptions.best_match(check.iter_errors(found))
    assert error is None, f"{error.json_path}: {error.message[-500:]}"
    return found, check


@each("line", LINES_RUN)
def test_an_output_follows_its_schema(here, line):
    """Whatever was asked for."""
    valid_output(line)


@pytest.mark.thorough
@each("line", CHANGED)
def test_nothing_else_follows_it(here, line):
    """A member more, or one less that is not optional, is caught, wherever it is."""
    found, check = valid_output(line)
    for path in objects(found):
        inner = at(found, path)
        inner["no such member"] = []
        assert not check.is_valid(found), path
        del inner["no such member"]
        if path[-1:] == ("skipped",):  # reasons, by any name
            continue
        for member in list(inner):
            value = inner.pop(member)
            assert not check.is_valid(found) or member in OPTIONAL, (path, member)
            inner[member] = value


def test_every_command_with_json_has_a_schema():
    """And no other command has one."""
    with_json = set()
    for name in COMMANDS:
        own = getattr(command(name), "commands", {name: command(name)})
        with_json |= {
            name for one in own.values() for option in one.params if option.name == "json"
        }
    assert with_json == {line.split()[0] for line in LINES_RUN}
    stored = {path.name.removesuffix(".schema.json") for path in REFERENCE.glob("schemas/*.json")}
    assert stored == with_json | {"rk-header", "certificate", "evaluation", "trials"}
    assert stored == {*MADE["schemas"](), "rk-header"}


def test_the_files_are_what_the_script_makes():
    """Else run docs/reference/schemas.py."""
    for name, schema in MADE["schemas"]().items():
        path = REFERENCE / "schemas" / f"{name}.schema.json"
        assert path.read_text("utf-8") == MADE["written"](schema), path.name


def test_every_part_has_one_source_and_is_referred_to():
    """A second one of its name would replace it."""
    parts = [name for source in MADE["SOURCES"].values() for name in getattr(source, "PARTS", {})]
    used = {name for schema in MADE["schemas"]().values() for name in schema.get("$defs", {})}
    assert sorted(parts) == sorted(used)


def members(schema):
    """Yield every member that a schema describes, with its name."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
        for item in schema.values():
            yield from members(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from members(item)


@each("name", MADE["schemas"]())
def test_schemas_are_valid_and_every_member_has_a_sentence_and_a_type(name):
    """No member may be anything at all."""
    schema = validator(name).schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["title"]
    assert schema["description"].endswith(".")
    found = list(members(schema))
    assert found
    for member, about in found:
        assert re.fullmatch(r"[A-Z0-9].*[.?]", about["description"]), member
        assert {"type", "enum", "const", "anyOf", "$ref"} & set(about), member


@pytest.mark.parametrize(
    "line", ["evaluate test.rk nowhere.csv --json", "control cal.rk --fnr 0.01% -o a.rk --json"]
)
def test_a_refusal_prints_no_json(here, line):
    """Its message is on standard error."""
    result = run_command(*line.split())
    assert result.exit_code in (2, 3)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")


def test_certificates_and_evaluations_in_python_follow_theirs(here):
    """`to_json` of every kind of test, and what its evaluation says."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 500)
    scores = rng.normal(2.0 * labels)
    for path in ("test.rk", "both.rk", "groups.rk", "precision.rk", "wrong.rk"):
        test = rk.load(path)
        validator("certificate").validate(json.loads(test.certificate.to_json()))
        known = np.where(labels == 1, "yes", "no")
        groups = {} if test.calibration.groups is None else {"groups": ["north"] * 500}
        found = test.evaluate(scores, known, by={"half": np.arange(500) % 2}, **groups)
        validator("evaluation").validate(json.loads(json.dumps(found.to_dict())))
        assert not validator("evaluation").is_valid({**found.to_dict(), "more": []})


def test_the_journal_of_a_comparison_follows_its_schema(here):
    """Each line is the head or a trial."""
    run(next(line for line in LINES_RUN if line.startswith("compare")))
    lines = [json.loads(line) for line in (here / "compared/trials.jsonl").read_text().splitlines()]
    assert len(lines) == 5
    for line in lines:
        validator("trials").validate(line)
        assert not validator("trials").is_valid({**line, "more": 1})
        assert not validator("trials").is_valid(
            {k: v for k, v in line.items() if k not in {"version", "made"}}
        )


def test_the_page_names_every_schema():
    """With the version that is printed."""
    page = (REFERENCE / "json.md").read_text("utf-8")
    for name, schema in MADE["schemas"]().items():
        assert f"(schemas/{name}.schema.json)" in page, name
        assert f"`{schema['$id']}`" in page
