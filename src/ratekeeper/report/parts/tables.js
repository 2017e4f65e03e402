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
    place.replaceChildren(...(bad ? [make("p", "A score is a number.", { class: "problem" })] : []));
    return;
  }
  const { p, decision } = model.judge(score, state.group, outcomes);
  const list = make("dl");
  list.append(make("dt", "score"), make("dd", scoreText(score)));
  [0, 1].forEach((label) => {
    list.append(make("dt", `p${label}, “it is ${classes[label]}”`), make("dd", pText(p[label])));
  });
  list.append(make("dt", "decision"), make("dd", make("b", decisionText(decision))));
  place.replaceChildren(list);
}

function pText(found) {
  if (!found) return "not in this page for this method";
  const shown = found.p === 0 ? "0" : String(Number(found.p.toPrecision(4)));
  const counted = `${Numbers.count(found.m)} of ${Numbers.count(found.n)} calibration scores at least as extreme`;
  return found.atMost ? `at most ${shown} (at most ${counted})` : `${shown} (${counted})`;
}

function decisionText(decision) {
  if (decision === null) return "by the library only: no threshold decides";
  if (typeof decision === "number") return classes[decision];
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
    [`n of ${nullName(o.test)}`, "n"],
    ["Rank", "n"],
    [`${name} counted`, "n"],
    [`${otherName(o.test)}, 95% interval`, "n"],
    [`True ${name}: mean`, "n"],
    ["in 90% of draws", "n"],
    [`above ${Numbers.exactPercent(o.choice.alpha)}`, "n"],
  ];
  const head = make("thead", make("tr", titles.map(([text, type]) => make("th", text, { scope: "col", class: type }))));
  const body = make("tbody", o.cells.map(groupRow));
  const parts = [make("caption", groupCaption(o), { class: "small" }), head, body];
  byId("group-table").replaceChildren(...parts);
}

function groupCaption(o) {
  const told = `${rateName(o.test)} ≤ ${Numbers.exactPercent(o.choice.alpha)}, ${methodText(o.choice.method)}, ${o.certified ? "certified" : "what if"}.`;
  if (!o.overall) return told;
  return `${told} Over all groups, ${otherName(o.test)}: ${Numbers.range(o.overall.other)} of ${Numbers.count(o.overall.nOther)}.`;
}

function groupRow(cell) {
  const name = make("th", cell.group, { scope: "row" });
  const number = (text) => make("td", text, { class: "n" });
  if (cell.impossible || cell.unknown) {
    const why = cell.unknown ? "not in this page" : "too few scores for this promise";
    return make("tr", [name, number("–"), number(Numbers.count(cell.n)), make("td", why, { colspan: "6", class: "left" })], {
      class: "impossible",
    });
  }
  const other = cell.nOther
    ? `${rangePercent(cell.other, cell.nOther)} (${Numbers.percent(cell.interval[0])} to ${Numbers.percent(cell.interval[1])})`
    : "unknown";
  const cells = [
    name,
    number(cell.threshold === null ? "–" : scoreText(cell.threshold)),
    number(Numbers.count(cell.n)),
    number(cell.k === null ? "–" : Numbers.count(cell.k)),
    number(cell.target === null ? "by lot" : Numbers.range(cell.target)),
    number(other),
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

const CSV_COLUMNS = {
  control: (o) => o.test.control,
  alpha: (o) => o.choice.alpha,
  method: (o) => methodText(o.choice.method),
  state: (o) => (o.certified ? "certified" : "what if"),
  group: (_, c) => c.group,
  promise: (o, c) => (c.impossible ? "impossible" : c.unknown ? "unknown" : c.pooled || o.choice.method.name === "empirical" ? "none" : "made"),
  n: (_, c) => c.n,
  rank: (_, c) => c.k,
  threshold: (_, c) => csvScore(c.threshold),
  errors_least: (_, c) => c.target?.[0],
  errors_most: (_, c) => c.target?.[1],
  other_n: (_, c) => c.nOther,
  other_errors_least: (_, c) => c.other?.[0],
  other_errors_most: (_, c) => c.other?.[1],
  other_rate_low: (_, c) => c.interval?.[0],
  other_rate_high: (_, c) => c.interval?.[1],
  true_rate_mean: (_, c) => c.law?.mean,
  true_rate_5_percent: (_, c) => c.law?.low,
  true_rate_95_percent: (_, c) => c.law?.high,
  probability_above_alpha: (_, c) => c.law?.above,
};

function csvScore(value) {
  if (value === null || value === undefined) return null;
  return Number.isFinite(value) ? scoreText(value) : value > 0 ? "inf" : "-inf";
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
