/* The outcome in charts. */
function renderCharts() {
  const o = outcomes[state.active];
  const cell = o.cells[state.group];
  const inGroup = facts.groups === null ? "" : ` in group ${quoted(facts.groups[state.group])}`;
  renderDensities(inGroup);
  renderTradeOff(o, cell, inGroup);
  renderLaw(o, cell, inGroup);
}

function renderDensities(inGroup) {
  const place = byId("chart-densities");
  const counts = facts.histograms.cells[state.group];
  const thresholds = outcomes
    .map((o) => ({ test: o.test, value: o.cells[state.group].threshold }))
    .filter(({ value }) => value !== null && value !== undefined)
    .map(({ test, value }) => ({ value, text: `${isJoint ? `${rateName(test)} ` : ""}${shortScore(test, value)}` }));
  byId("about-densities").textContent = counts
    ? `Share of each class in equal bins${inGroup}.${outside(counts)} ${sideText()}`
    : "Too many groups for a picture of each.";
  if (!counts) {
    place.replaceChildren();
    return;
  }
  const at = thresholds.map((t) => t.text).join(" and ") || "none";
  Charts.densities(place, {
    histogram: facts.histograms,
    counts,
    thresholds,
    names,
    label: `Histograms of the scores of objects that truly are ${names[0]} and ${names[1]}${inGroup}. Threshold: ${at}.`,
  });
}

function outside(counts) {
  const n = counts.reduce((sum, class_) => sum + class_[0] + class_[class_.length - 1], 0);
  return n ? ` ${Numbers.count(n)} ${n === 1 ? "score lies" : "scores lie"} outside the picture.` : "";
}

function sideText() {
  const [left, right] = facts.higherIsPositive ? names : [names[1], names[0]];
  const thresholds = outcomes.map((o) => o.cells[state.group].threshold ?? null);
  if (thresholds.includes(null)) return "";
  const [fnr, fpr] = thresholds;
  const crossed = isJoint && (facts.higherIsPositive ? fnr > fpr : fnr < fpr);
  return isJoint
    ? `Left is decided ${left}, right ${right}, between the lines ${crossed ? "neither" : "undecided"}.`
    : `Left of the line is called ${left}, right ${right}.`;
}

function renderTradeOff(o, cell, inGroup) {
  const { test } = o;
  const names = { target: rateName(test), other: otherName(test) };
  // A test of both rates has no point on this curve: it leaves objects undecided.
  const known = cell.target && cell.nOther && !isJoint;
  const point = known ? { target: cell.target[0] / cell.n, other: cell.other[0] / cell.nOther } : null;
  byId("about-trade-off").textContent =
    `What a lower ${names.target} costs in ${names.other}${inGroup}${isJoint ? " where nothing is left undecided" : ""}, threshold by threshold. ${point ? "The dot is the chosen test with its exact 95% interval, the" : "The"} dashed line${point ? "" : " is"} the level.`;
  if (cell.n === 0 || cell.nOther === 0) {
    byId("chart-trade-off").replaceChildren(make("p", "No calibration objects of one class."));
    return;
  }
  Charts.tradeOff(byId("chart-trade-off"), {
    points: model.curve(test, state.group),
    n: cell.n,
    alpha: o.choice.alpha,
    point,
    interval: cell.interval,
    names,
    label: point
      ? `Curve of ${names.other} against ${names.target}${inGroup}. The chosen test has ${names.target} ${Numbers.percent(point.target)} and ${names.other} ${Numbers.percent(point.other)} on the calibration objects.`
      : `Curve of ${names.other} against ${names.target}${inGroup}.`,
  });
}

function renderLaw(o, cell, inGroup) {
  const name = rateName(o.test);
  const place = byId("chart-law");
  if (!cell.law) {
    byId("about-law").textContent = cell.impossible
      ? "No such test can be made."
      : "No exact law is known for this threshold.";
    place.replaceChildren();
    return;
  }
  byId("about-law").textContent =
    `The true ${name} depends on which calibration objects were drawn${inGroup}. Its law over such draws; purple is above the level. The short mark is the average.`;
  Charts.law(place, {
    law: cell.law,
    alpha: o.choice.alpha,
    name,
    label: `Density of the true ${name}: on average ${Numbers.percent(cell.law.mean)}, above ${Numbers.exactPercent(o.choice.alpha)} with probability ${Numbers.percent(cell.law.above)}.`,
  });
}

const MOST_INTERVALS = 40;

function renderEvaluation() {
  if (!facts.evaluation) return;
  const all = facts.evaluation.filter((row) => row.verdict !== null);
  const rows = all.slice(0, MOST_INTERVALS);
  byId("about-evaluation").textContent =
    rows.length < all.length ? `The first ${rows.length} of ${Numbers.count(all.length)}; the table has the others.` : "";
  Charts.intervals(byId("chart-evaluation"), {
    rows,
    label: `Counted rates against the promise: ${rows
      .map((r) => `${r.group ?? "everybody"} ${r.rate.toUpperCase()} ${r.verdict}`)
      .join(", ")}.`,
  });
}
