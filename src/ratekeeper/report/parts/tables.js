/* One object, the table of groups, and the download. */
function renderJudged() {
  const place = byId("judged");
  const text = byId("score").value;
  const score = Numbers.readScore(text.replace(/^([+-]?)inf(inity)?$/i, "$1Infinity"), facts.width);
  byId("judge-lead").textContent = say("page.judge", { where: whereShown() });
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

const scoreProblem = (text) => (Numbers.hasComma(text) ? say("page.score.comma") : say("page.score.number"));

function pText(found) {
  if (!found) return say("page.p_value.unheld");
  if (found.unknown) return say("one_class.p_value");
  const gaps = { p_value: Numbers.pValue(found.p, found.atMost), extreme: Numbers.count(found.m), n: Numbers.count(found.n) };
  gaps.tolerance = facts.toleranceText;
  if (facts.tolerance) return found.atMost ? say("tolerance.p_value.bound", gaps) : say("tolerance.p_value", gaps);
  return found.atMost ? say("page.p_value.bound", gaps) : say("page.p_value.counted", gaps);
}

function decisionText(decision) {
  if (decision === null) return say("page.decision.random");
  if (decision === "impossible") return say("page.decision.impossible");
  return names[decision] ?? decision;
}

function renderGroups() {
  if (facts.groups === null) return;
  byId("groups").hidden = false;
  const o = outcomes[state.active];
  const withAbove = o.cells.some((cell) => cell.realised && cell.realised.above !== null);
  const titles = [
    ["Group", ""],
    ["Threshold", "n"],
    ["Rank", "n"],
    [o.test.control === "fnr" ? "Missed of n" : "False alarms of n", "n"],
    ...(isJoint ? [] : [[`${otherName(o.test)}, 95% interval`, "n"]]),
    [`True ${rateName(o.test)}: mean at most`, "n"],
    ["90% interval", "n"],
    ...(withAbove ? [[`above ${Numbers.exactPercent(o.choice.alpha)} in at most`, "n"]] : []),
  ];
  const head = make("thead", make("tr", titles.map(([text, type]) => make("th", text, { scope: "col", class: type }))));
  const body = make("tbody", o.cells.map((_, i) => groupRow(o, i, titles.length, withAbove)));
  byId("about-groups").textContent = aboutGroups(o);
  byId("group-table").replaceChildren(head, body);
}

function aboutGroups(o) {
  const state = o.certified ? "certified" : "what if";
  const texts = [say("page.groups", { test: told(o), state, truth: nullName(o.test) })];
  if (o.overall && !isJoint) {
    const counted = o.overall.nOther ? `${Numbers.range(o.overall.other)} of ${Numbers.count(o.overall.nOther)}` : "unknown";
    const gaps = { other: otherName(o.test), counted, groups: Numbers.count(o.cells.length) };
    texts.push(o.overall.ofShown ? say("page.groups.price", gaps) : say("certificate.groups.price", gaps));
  }
  if (facts.hiddenGroups) {
    const n = Numbers.count(o.cells.length + facts.hiddenGroups);
    texts.push(say("page.groups.hidden", { hidden: Numbers.count(facts.hiddenGroups), n }));
  }
  if (o.cells.some((_, i) => model.crossed(outcomes, i) !== null)) texts.push(say("certificate.true_rate.crossed"));
  return [...texts, say("page.groups.digits")].join(" ");
}

function groupRow(o, i, width, withAbove) {
  const cell = o.cells[i];
  const number = (text) => make("td", text, { class: "n" });
  const rest = (text, from) => make("td", text, { colspan: String(width - from), class: "left" });
  const row = [make("th", cell.group, { scope: "row" })];
  if (cell.impossible || cell.unknown) {
    row.push(number("–"), number("–"), number(`– of ${Numbers.count(cell.n)}`));
    row.push(rest(cell.unknown ? say("page.card.unheld") : say("page.card.too_few"), row.length));
    return make("tr", row, { class: "impossible" });
  }
  const target = model.targetErrors(outcomes, outcomes.indexOf(o), i);
  row.push(
    thresholdCell(o.test, cell),
    number(cell.k === null ? "–" : Numbers.count(cell.k)),
    number(`${target === null ? "at random" : Numbers.range(target)} of ${Numbers.count(cell.n)}`),
    ...(isJoint ? [] : [number(priceText(cell))]),
  );
  if (cell.realised) {
    const { mean, low, high, above } = cell.realised;
    row.push(number(Numbers.percent(mean)), number(`${Numbers.percent(low)} to ${Numbers.percent(high)}`));
    if (withAbove) row.push(number(Numbers.percent(above)));
  } else {
    row.push(rest(cell.pooled ? say("page.threshold.pooled") : "unknown", row.length));
  }
  return make("tr", row, cell.pooled ? { class: "pooled" } : {});
}

function priceText({ other, nOther, interval }) {
  if (!nOther) return "unknown";
  const share = rangePercent(other, nOther);
  return interval ? `${share} (${Numbers.percent(interval[0])} to ${Numbers.percent(interval[1])})` : share;
}

function thresholdCell(test, { threshold }) {
  if (threshold === null) return make("td", "–", { class: "n" });
  return make("td", shortScore(test, threshold), { class: "n", title: scoreText(threshold) });
}

/* The other error of one half of a test of both rates is not an error of that test. */
const price = (column) => (_, cell) => (isJoint ? null : column(cell));

const errorsIn = (o, cell) => model.targetErrors(outcomes, outcomes.indexOf(o), o.cells.indexOf(cell));

const CSV_COLUMNS = {
  control: (o) => o.test.control,
  alpha: (o) => o.choice.alpha,
  method: (o) => methodText(o.choice.method),
  state: (o) => (o.certified ? "certified" : "what if"),
  group: (_, c) => harmless(c.exactGroup),
  promise: (o, c) => (c.impossible ? "impossible" : c.unknown ? "unknown" : c.pooled || !o.promised ? "none" : "made"),
  n: (_, c) => c.n,
  rank: (_, c) => c.k,
  threshold: (_, c) => csvScore(c.threshold),
  errors_least: (o, c) => errorsIn(o, c)?.[0],
  errors_most: (o, c) => errorsIn(o, c)?.[1],
  other_n: price((c) => c.nOther),
  other_errors_least: price((c) => c.other?.[0]),
  other_errors_most: price((c) => c.other?.[1]),
  other_rate_low: price((c) => c.interval?.[0]),
  other_rate_high: price((c) => c.interval?.[1]),
  true_rate_mean: (_, c) => c.realised?.mean,
  true_rate_low: (_, c) => c.realised?.low,
  true_rate_high: (_, c) => c.realised?.high,
  probability_above_alpha: (_, c) => c.realised?.above,
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
