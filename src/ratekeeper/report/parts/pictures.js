/* The outcome in charts. */
const joined = (...texts) => texts.filter((text) => text).join(" ");

function renderCharts() {
  const o = outcomes[state.active];
  const cell = o.cells[state.group];
  renderDensities();
  renderTradeOff(o, cell);
  renderTrueRate(o, cell);
}

function renderDensities() {
  const counts = facts.histograms.cells[state.group];
  const middle = model.crossed(outcomes, state.group);
  const limits = outcomes
    .map((o) => ({ test: o.test, value: o.cells[state.group].threshold ?? null }))
    .filter(({ value }) => value !== null)
    .map(({ test, value }) => ({ value, text: `${isJoint ? `${rateName(test)} ` : ""}${shortScore(test, value)}` }));
  const thresholds = middle === null ? limits : [{ value: middle, text: shortMiddle(middle) }];
  const where = whereShown();
  byId("about-densities").textContent = counts
    ? joined(say("page.scores", { where }), ...missingTexts(), outsideText(counts), sideText(limits.length === tests.length, middle !== null))
    : say("page.scores.many");
  if (!counts) {
    byId("chart-densities").replaceChildren();
    return;
  }
  const at = thresholds.map((t) => t.text).join(" and ") || "none";
  Charts.densities(byId("chart-densities"), {
    histogram: facts.histograms,
    counts,
    thresholds,
    names,
    label: say("page.scores.label", { negative: names[0], positive: names[1], where, thresholds: at }),
  });
}

/* Which class has no calibration objects at all. */
const missingTexts = () => [0, 1].filter((label) => !facts.totals[label]).map((label) => say("one_class.card", { truth: names[label] }));

function outsideText(counts) {
  const n = counts.reduce((sum, class_) => sum + class_[0] + class_[class_.length - 1], 0);
  return n && say("page.scores.outside", { n: Numbers.count(n) });
}

function sideText(isKnown, isCrossed) {
  if (!isKnown) return "";
  const [left, right] = facts.higherIsPositive ? names : [names[1], names[0]];
  return isJoint && !isCrossed ? say("page.scores.sides.both", { left, right }) : say("page.scores.sides", { left, right });
}

function renderTradeOff(o, cell) {
  const { test } = o;
  const gaps = { rate: rateName(test), other: otherName(test), where: whereShown() };
  // A test of both rates has no point on this curve: it leaves objects undecided.
  const known = cell.target && cell.nOther && !isJoint;
  const point = known ? { target: cell.target[0] / cell.n, other: cell.other[0] / cell.nOther } : null;
  const dot = point && (cell.interval ? say("page.trade_off.interval") : say("page.trade_off.dot"));
  byId("about-trade-off").textContent = joined(say("page.trade_off", gaps), dot);
  if (cell.n === 0 || cell.nOther === 0) {
    byId("chart-trade-off").replaceChildren(make("p", say("page.trade_off.none")));
    return;
  }
  const shares = point && { target: Numbers.percent(point.target), estimate: Numbers.percent(point.other) };
  Charts.tradeOff(byId("chart-trade-off"), {
    points: model.curve(test, state.group),
    n: cell.n,
    alpha: o.choice.alpha,
    point,
    interval: cell.interval,
    names: { target: gaps.rate, other: gaps.other },
    label: joined(say("page.trade_off.label", gaps), point && say("page.trade_off.point", { ...gaps, ...shares })),
  });
}

function renderTrueRate(o, cell) {
  const about = byId("about-true-rate");
  const place = byId("chart-true-rate");
  if (!cell.realised) {
    about.textContent = cell.impossible ? say("page.draws.impossible") : trueRateText(o, cell);
    place.replaceChildren();
    return;
  }
  const { realised } = cell;
  const rate = rateName(o.test);
  about.textContent = joined(say("page.draws", { rate, where: whereShown() }), realised.above !== null && say("page.draws.above"), ...crossedTexts());
  Charts.trueRate(place, { realised, alpha: o.choice.alpha, name: rate, label: trueRateText(o, cell) });
}

const MOST_INTERVALS = 40;

function renderEvaluation() {
  if (!facts.evaluation) return;
  const all = facts.evaluation.filter((row) => row.verdict !== null);
  const rows = all.slice(0, MOST_INTERVALS);
  const first = { shown: rows.length, n: Numbers.count(all.length) };
  byId("about-evaluation").textContent = rows.length < all.length ? say("page.evaluated.first", first) : "";
  const rates = rows.map((r) => `${r.group ?? "everybody"} ${r.rate} ${r.verdict}`).join(", ");
  Charts.intervals(byId("chart-evaluation"), {
    rows,
    label: say("page.evaluated.label", { rates }),
    axis: say("page.evaluated.axis"),
  });
  renderAudit();
}
