/* One object, the table of groups, and the download. */
function renderJudged() {
  const place = byId("judged");
  const text = byId("score").value;
  const score = Numbers.readScore(text.replace(/^([+-]?)inf(inity)?$/i, "$1Infinity"), facts.width);
  byId("judge-where").textContent = facts.groups === null ? "" : ` in group ${quoted(facts.groups[state.group])}`;
  const bad = text.trim() !== "" && Number.isNaN(score);
  byId("score").setAttribute("aria-invalid", String(bad));
  byId("judge").classList.toggle("used", text.trim() !== "" && !bad);
  if (bad || text.trim() === "") {
    place.replaceChildren(...(bad ? [make("p", scoreProblem(text), { class: "problem" })] : []));
    return;
  }
  const { p, decision } = model.judge(score, state.group, outcomes);
  const list = make("dl");
  list.append(make("dt", "score"), make("dd", scoreText(score)));
  [0, 1].forEach((label) => {
    list.append(make("dt", `p${label}: it is ${names[label]}`), make("dd", pText(p[label])));
  });
  list.append(make("dt", "decision"), make("dd", make("b", decisionText(decision))));
  place.replaceChildren(list);
}

const scoreProblem = (text) =>
  Numbers.hasComma(text)
    ? `Write a score with a decimal point and no commas, such as 0.5.`
    : "A score is a number, such as 0.5 or -1e-3.";

function pText(found) {
  if (!found) return "not in this page for this method";
  const shown = Numbers.pValue(found.p, found.atMost);
  const counted = `${Numbers.count(found.m)} of ${Numbers.count(found.n)} calibration scores at least as extreme`;
  return found.atMost ? `at most ${shown} (at most ${counted})` : `${shown} (${counted})`;
}

function decisionText(decision) {
  if (decision === null) return "by the library only: no threshold decides";
  if (decision === "impossible") return "none: no such test can be made";
  if (typeof decision === "number") return names[decision];
  return decision === "neither" ? "neither class" : "undecided";
}

function renderGroups() {
  if (facts.groups === null) return;
  byId("groups").hidden = false;
  const o = outcomes[state.active];
  const name = rateName(o.test);
  const titles = [
    ["Group", ""],
    [`Threshold`, "n"],
    ["Rank", "n"],
    [o.test.control === "fnr" ? "Missed of n" : "False alarms of n", "n"],
    ...(isJoint ? [] : [[`${otherName(o.test)}, 95% interval`, "n"]]),
    [`True ${name}: mean`, "n"],
    ["in 90% of draws", "n"],
    [`above ${Numbers.exactPercent(o.choice.alpha)}`, "n"],
  ];
  const head = make("thead", make("tr", titles.map(([text, type]) => make("th", text, { scope: "col", class: type }))));
  const body = make("tbody", o.cells.map((cell) => groupRow(o.test, cell)));
  byId("about-groups").textContent = aboutGroups(o);
  byId("group-table").replaceChildren(head, body);
}

function aboutGroups(o) {
  const texts = [
    `${told(o)}, ${o.certified ? "certified" : "what if"}.`,
    `n counts the calibration objects that truly are ${nullName(o.test)}.`,
  ];
  if (o.overall && !isJoint) {
    const { other, nOther, ofShown } = o.overall;
    const where = ofShown ? `Over the ${Numbers.count(o.cells.length)} groups shown` : "Over all groups";
    texts.push(`${where}, ${otherName(o.test)}: ${Numbers.range(other)} of ${Numbers.count(nOther)}.`);
  }
  if (facts.hiddenGroups) {
    const all = Numbers.count(o.cells.length + facts.hiddenGroups);
    const which = isJoint ? "the fewest calibration objects" : "the smallest n";
    texts.push(
      `${Numbers.count(facts.hiddenGroups)} of ${all} groups, those with ${which}, are not shown: “ratekeeper inspect --json” has them all.`,
    );
  }
  texts.push("Thresholds after ≈ are shortened to the safe side; the download has all digits.");
  return texts.join(" ");
}

function groupRow(test, cell) {
  const name = make("th", cell.group, { scope: "row" });
  const number = (text) => make("td", text, { class: "n" });
  if (cell.impossible || cell.unknown) {
    const why = cell.unknown ? "not in this page" : "too few scores for this promise";
    const none = number("–");
    return make("tr", [name, none, none.cloneNode(true), number(`– of ${Numbers.count(cell.n)}`), make("td", why, { colspan: isJoint ? "3" : "4", class: "left" })], {
      class: "impossible",
    });
  }
  const other = cell.nOther
    ? `${rangePercent(cell.other, cell.nOther)} (${Numbers.percent(cell.interval[0])} to ${Numbers.percent(cell.interval[1])})`
    : "unknown";
  const cells = [
    name,
    thresholdCell(test, cell),
    number(cell.k === null ? "–" : Numbers.count(cell.k)),
    number(`${cell.target === null ? "by lot" : Numbers.range(cell.target)} of ${Numbers.count(cell.n)}`),
    ...(isJoint ? [] : [number(other)]),
  ];
  if (cell.law) {
    const { mean, low, high, above } = cell.law;
    cells.push(
      number(Numbers.percent(mean)),
      number(`${Numbers.percent(low)} to ${Numbers.percent(high)}`),
      number(Numbers.percent(above)),
    );
  } else {
    const why = cell.pooled ? "pooled threshold: nothing is promised" : "no exact law";
    cells.push(make("td", why, { colspan: "3", class: "left" }));
  }
  return make("tr", cells, cell.pooled ? { class: "pooled" } : {});
}

function thresholdCell(test, { threshold }) {
  if (threshold === null) return make("td", "–", { class: "n" });
  return make("td", shortScore(test, threshold), { class: "n", title: scoreText(threshold) });
}

const promisesNothing = (o) => o.choice.method.name === "empirical" || (o.certified && isWeak(o.test));

/* The other error of one half of a test of both rates is not an error of that test. */
const price = (column) => (_, cell) => (isJoint ? null : column(cell));

const CSV_COLUMNS = {
  control: (o) => o.test.control,
  alpha: (o) => o.choice.alpha,
  method: (o) => methodText(o.choice.method),
  state: (o) => (o.certified ? "certified" : "what if"),
  group: (_, c) => harmless(c.group),
  promise: (o, c) => (c.impossible ? "impossible" : c.unknown ? "unknown" : c.pooled || promisesNothing(o) ? "none" : "made"),
  n: (_, c) => c.n,
  rank: (_, c) => c.k,
  threshold: (_, c) => csvScore(c.threshold),
  errors_least: (_, c) => c.target?.[0],
  errors_most: (_, c) => c.target?.[1],
  other_n: price((c) => c.nOther),
  other_errors_least: price((c) => c.other?.[0]),
  other_errors_most: price((c) => c.other?.[1]),
  other_rate_low: price((c) => c.interval?.[0]),
  other_rate_high: price((c) => c.interval?.[1]),
  true_rate_mean: (_, c) => c.law?.mean,
  true_rate_5_percent: (_, c) => c.law?.low,
  true_rate_95_percent: (_, c) => c.law?.high,
  probability_above_alpha: (_, c) => c.law?.above,
};

function csvScore(value) {
  if (value === null || value === undefined) return null;
  return Number.isFinite(value) ? scoreText(value) : value > 0 ? "inf" : "-inf";
}

/* A spreadsheet runs a text that begins like a formula; an apostrophe keeps it text. */
function harmless(name) {
  const isFormula = name !== null && /^[\s]*[=+\-@]/.test(name) && !Number.isFinite(Number(name));
  return isFormula ? `'${name}` : name;
}

function csv() {
  const quote = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = outcomes.flatMap((o) =>
    o.cells.map((cell) => Object.values(CSV_COLUMNS).map((column) => quote(column(o, cell)))),
  );
  return [Object.keys(CSV_COLUMNS), ...rows].map((row) => row.join(",")).join("\r\n") + "\r\n";
}

function download() {
  const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  const link = make("a", [], { href: address, download: "ratekeeper-report.csv" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
