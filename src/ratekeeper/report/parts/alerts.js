/* What an alert means: both classes, mixed in the shares that the reader says.
 *
 * A share is [estimate, low, high], with null for ends that are not known. `called` holds those of
 * the negatives and of the positives that are called positive, and that are called negative.
 */
const Practice = (() => {
  const PER = 1000;
  const ERROR = 0.05; // chance that any interval of a statement fails

  const middle = ([least, most]) => (least + most) / 2;
  const part = (count, n) => (n > 0 ? count / n : null);
  const other = (x) => (x === null ? null : 1 - x);
  const complement = ([value, low, high]) => [other(value), other(high), other(low)];
  const isKnown = (share) => share[1] !== null && share[2] !== null;

  /* Of a class on which the threshold does not depend: the exact interval. */
  function otherShare(count, n, error) {
    return error === null ? [part(count, n), null, null] : [part(count, n), ...Special.clopperPearson(count, n, 1 - error)];
  }

  /* Of any class, however the threshold was chosen: the band. */
  function anyShare(count, n, error, ranks) {
    if (error === null) return [part(count, n), null, null];
    return [part(count, n), 1 - ranks.highest(n - count, n, error / 2), ranks.highest(count, n, error / 2)];
  }

  /* Of the class that the threshold was taken from: the distribution of its rank from above, the
     scores strictly beyond it from below, or the band where a tolerance moves it. */
  function nullShare(cell, count, error, ranks, isMoved) {
    const { k, n, realised } = cell;
    if (!realised) return [part(count, n), null, null];
    const value = (count + 1) / (n + 1);
    if (error === null) return [value, null, null];
    const low = isMoved ? 1 - ranks.highest(n - count, n, error / 2) : Special.atLeast(k, n, realised.beyond, error / 2);
    return [value, low, Special.betaUpperQuantile(k, n + 1 - k, error / 2)];
  }

  /* What a test of one rate calls positive in a cell. */
  function calledPositive({ test, choice }, cell, error, ranks, isMoved) {
    const rejected = middle(cell.target);
    const wrong = middle(cell.other);
    const isAny = choice.method.name === "simultaneous";
    const null_ = isAny ? anyShare(rejected, cell.n, error, ranks) : nullShare(cell, rejected, error, ranks, isMoved);
    const others = isAny ? anyShare(wrong, cell.nOther, error, ranks) : otherShare(wrong, cell.nOther, error);
    return test.control === "fpr" ? [null_, complement(others)] : [others, complement(null_)];
  }

  /* What the test that is shown calls in a cell. */
  function calledIn(model, outcomes, i, error, isMoved) {
    const each = error === null ? null : error / (2 * outcomes.length);
    const [fnr, fpr] = outcomes.map((o) => calledPositive(o, o.cells[i], each, model.ranks, isMoved));
    if (outcomes.length === 1) return { positive: fnr, negative: fnr.map(complement), abstains: false };
    const between = model.crossed(outcomes, i);
    if (between === null) return { positive: fpr, negative: fnr.map(complement), abstains: true };
    const cell = model.cells[i];
    const positive = [0, 1].map((label) => {
      const out = middle(Ranks.beyond(cell, label, outcomes[0].test.tail, between));
      return [part(cell.n[label] - out, cell.n[label]), fnr[label][1], fpr[label][2]];
    });
    return { positive, negative: positive.map(complement), abstains: false };
  }

  function mixed(cells, found, side) {
    return [0, 1].map((label) => {
      const n = cells.reduce((sum, cell) => sum + cell.n[label], 0);
      const count = cells.reduce((sum, cell, i) => sum + cell.n[label] * (found[i][side][label][0] ?? 0), 0);
      return [part(count, n), null, null];
    });
  }

  /* What the test that is shown calls: the certified one as the library says, others from counts.
     Null if there is no such test. */
  function called(model, facts, outcomes) {
    if (outcomes.every((o) => o.certified)) return facts.alerts;
    if (outcomes.some((o) => o.cells.some((cell) => !cell.target || !cell.other))) return null;
    const one = model.cells.length === 1;
    const error = one && !facts.crossFitted ? ERROR : null;
    const found = model.cells.map((_, i) => calledIn(model, outcomes, i, error, facts.tolerance > 0));
    if (one) return { ...found[0], basis: basisOf(facts, outcomes) };
    const abstains = found.some((cell) => cell.abstains);
    const basis = facts.crossFitted ? "alerts.none.cross_fitted" : "alerts.none.groups";
    return { positive: mixed(model.cells, found, "positive"), negative: mixed(model.cells, found, "negative"), abstains, basis };
  }

  function basisOf(facts, outcomes) {
    if (facts.crossFitted) return "alerts.none.cross_fitted";
    if (outcomes.some((o) => !o.cells[0].realised)) return "alerts.none.method";
    const isAny = outcomes.every((o) => o.choice.method.name === "simultaneous");
    return isAny ? "alerts.interval.any" : "alerts.interval.fixed";
  }

  const mix = (pi, negatives, positives) => pi * positives + (1 - pi) * negatives;
  const right = (share, yes, no) => part(share * yes, share * yes + (1 - share) * no);

  /* Everything that is said of 1,000 objects at a prevalence; each as [value, low, high]. */
  function statement({ positive, negative, abstains }, pi) {
    const [f, a] = positive;
    const [q0, q1] = negative;
    if ([f, a, q0, q1].some((share) => share[0] === null)) return null;
    const known = [f, a, q0, q1].every(isKnown);
    const ends = (find) => [0, 1, 2].map((end) => (end === 0 || known ? find(end) : null));
    const turned = [0, 2, 1];
    const left = (one, two, end) => Math.max(0, 1 - one[turned[end]] - two[turned[end]]);
    return {
      alerts: ends((end) => PER * mix(pi, f[end], a[end])),
      falseAlerts: ends((end) => PER * (1 - pi) * f[end]),
      missed: ends((end) => PER * pi * q1[end]),
      undecided: abstains ? ends((end) => PER * mix(pi, left(f, q0, end), left(a, q1, end))) : null,
      precision: ends((end) => right(pi, a[end], f[turned[end]])),
      npv: ends((end) => right(1 - pi, q0[end], q1[turned[end]])),
    };
  }

  /* Numbers in two digits or more; ends of intervals are rounded outwards. */
  function places(number) {
    let found = 0;
    while (number * 10 ** found < 10 && found < 9) found += 1;
    return found;
  }

  /* Halves go to the even neighbour, as in Python. */
  function nearest(number) {
    const found = Math.round(number);
    return found - number === 0.5 && found % 2 !== 0 ? found - 1 : found;
  }

  const rounded = (number, decimals, toward) => toward(number * 10 ** decimals) / 10 ** decimals;

  function countText(count, toward = nearest) {
    if (count <= 0) return "0";
    const decimals = places(count);
    const format = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return rounded(count, decimals, toward).toLocaleString("en-US", format);
  }

  function shareText(share, toward = nearest) {
    const rate = 100 * share;
    const decimals = places(Math.min(rate, 100 - rate));
    if (rate <= 0 || rate >= 100) return rate < 50 ? "0%" : "100%";
    return `${rounded(rate, decimals, toward).toFixed(decimals)}%`;
  }

  /* A share in large type, and the rest: in no more digits than the width of the interval has, if
     that leaves them apart from 0 and 1. */
  function roundShare([share, low, high]) {
    const rate = 100 * share;
    if (low === null || rate <= 0 || rate >= 100) return [share, 1 - share].map((one) => shareText(one));
    let decimals = places(100 * (high - low));
    const most = places(Math.min(rate, 100 - rate));
    while (decimals < most && [0, 100].includes(rounded(rate, decimals, nearest))) decimals += 1;
    const real = rounded(rate, Math.min(decimals, most), nearest);
    return [real, 100 - real].map((one) => `${one.toFixed(Math.min(decimals, most))}%`);
  }

  const between = ([, low, high], write) => (low === null ? "" : ` (${write(low, Math.floor)} to ${write(high, Math.ceil)})`);
  const written = (share, write) => (share[0] === null ? "unknown" : `${write(share[0])}${between(share, write)}`);

  /* Whole objects of 1,000, which add up. */
  function icons(found, pi) {
    const alerts = found.alerts[0];
    const falseAlerts = found.falseAlerts[0];
    const exact = [alerts - falseAlerts, falseAlerts, found.missed[0], found.undecided ? found.undecided[0] : 0];
    exact.push(PER - exact.reduce((sum, n) => sum + n, 0));
    const whole = exact.map(Math.floor);
    const order = exact.map((n, i) => [n - whole[i], i]).sort(([one], [two]) => two - one);
    const rest = PER - whole.reduce((sum, n) => sum + n, 0);
    order.slice(0, rest).forEach(([, i]) => {
      whole[i] += 1;
    });
    return { exact, whole, pi };
  }

  return { called, statement, countText, shareText, roundShare, between, written, icons };
})();

const SHARES = { low: 1e-4, high: 0.5, steps: 400 };
const shareAt = (step) => SHARES.low * (SHARES.high / SHARES.low) ** (step / SHARES.steps);
const stepOf = (share) =>
  Math.min(SHARES.steps, Math.max(0, Math.round((SHARES.steps * Math.log(share / SHARES.low)) / Math.log(SHARES.high / SHARES.low))));
const KINDS = ["found", "false", "missed", "undecided", "rest"];
const KIND_WORDS = {
  found: "alerts.page.found",
  false: "alerts.page.false",
  missed: "alerts.page.missed",
  undecided: "alerts.page.undecided",
  rest: "alerts.page.rest",
};

function setUpAlerts() {
  byId("alerts").hidden = facts.alerts === null;
  if (facts.alerts === null) return;
  state.prevalence = facts.alerts.prevalence;
  byId("alerts-plain").hidden = true;
  byId("alerts-shown").hidden = false;
  const slider = byId("prevalence-slider");
  slider.max = SHARES.steps;
  slider.addEventListener("input", () => sayShare(Number(shareAt(Number(slider.value)).toPrecision(2))));
  const field = byId("prevalence");
  field.addEventListener("input", () => {
    const share = readLevel(field.value);
    if (share === null) refuseShare(field);
    else sayShare(share);
  });
  field.addEventListener("blur", () => showShare(field));
  byId("prevalence-label").textContent = say("alerts.page.share");
  field.setAttribute("aria-label", say("alerts.page.share.percent"));
  byId("prevalence-scale").append(
    ...[0.0001, 0.001, 0.01, 0.1, 0.5].map((share) =>
      make("span", Numbers.exactPercent(share), { style: `left: ${(100 * stepOf(share)) / SHARES.steps}%` }),
    ),
  );
  byId("prevalences").addEventListener("submit", (event) => event.preventDefault());
}

function sayShare(share) {
  state.prevalence = share;
  renderAlerts();
}

/* The prevalence in words: one that was said as it is, that of the calibration in a few digits. */
const prevalenceText = () =>
  state.prevalence === facts.alerts.ofCalibration ? Practice.shareText(state.prevalence) : Numbers.exactPercent(state.prevalence);

function refuseShare(field) {
  field.setAttribute("aria-invalid", "true");
  byId("prevalence-problem").textContent = [
    say("alerts.page.share.refused", { typed: field.value.trim() === "" ? "Nothing" : quoted(field.value) }),
    ...(Numbers.hasComma(field.value) ? [say("page.level.comma")] : []),
    say("alerts.page.share.still", { prevalence: prevalenceText() }),
  ].join(" ");
}

function showShare(field) {
  field.value = prevalenceText().replace("%", "");
  field.setAttribute("aria-invalid", "false");
}

function renderAlerts() {
  if (facts.alerts === null) return;
  const slider = byId("prevalence-slider");
  slider.value = stepOf(state.prevalence);
  slider.setAttribute("aria-valuetext", prevalenceText());
  const field = byId("prevalence");
  if (document.activeElement !== field) showShare(field);
  field.setAttribute("aria-invalid", "false");
  byId("prevalence-problem").textContent = "";
  const certified = outcomes.every((o) => o.certified);
  byId("alerts").dataset.state = certified ? "certified" : "what-if";
  const own = facts.alerts.ofCalibration;
  byId("alerts-test").textContent = joined(
    say("alerts.page.test", { test: outcomes.map(told).join(" and "), state: stateText(certified) }),
    own !== null && say("alerts.page.of_calibration", { prevalence: Practice.shareText(own) }),
  );
  const called = Practice.called(model, facts, outcomes);
  renderStatement(called && Practice.statement(called, state.prevalence), called);
}

const stateText = (certified) => {
  if (!certified) return "a what-if";
  return tests.every((test) => test.promised) ? "the certified test" : "without a promise";
};

function renderStatement(found, called) {
  const precision = found && found.precision[0];
  const isReal = precision !== null;
  const [real, unreal] = isReal ? Practice.roundShare(found.precision) : [];
  byId("alerts-precision").textContent = isReal ? real : "–";
  const none = found ? say("alerts.page.real.none") : say("alerts.page.impossible");
  byId("alerts-headline").textContent = isReal
    ? say("alerts.page.real", { false_share: unreal, between: Practice.between(found.precision, Practice.shareText) })
    : none;
  byId("alerts-summary").textContent = found ? summaryText(found) : "";
  const isMeasured = state.prevalence === facts.alerts.ofCalibration;
  const source = isMeasured ? say("alerts.page.source.calibration") : say("alerts.source.stated");
  byId("alerts-ground").textContent = found ? joined(source, say(called.basis), say("alerts.depends")) : "";
  renderBar(precision);
  renderIcons(found);
}

function summaryText(found) {
  const { countText, shareText, between, written } = Practice;
  const gaps = {
    positives: countText(1000 * state.prevalence),
    prevalence: prevalenceText(),
    alerts: countText(found.alerts[0]),
    between: between(found.alerts, countText),
    false: written(found.falseAlerts, countText),
    missed: written(found.missed, countText),
    precision: written(found.precision, shareText),
    npv: written(found.npv, shareText),
  };
  const isReal = found.precision[0] !== null;
  return joined(
    isReal ? say("alerts.summary", { ...gaps, false_share: shareText(1 - found.precision[0]) }) : say("alerts.summary.none", gaps),
    say("alerts.missed", gaps),
    found.undecided && say("alerts.undecided", { undecided: written(found.undecided, countText) }),
  );
}

/* The alerts alone: real ones, then false ones. */
function renderBar(precision) {
  const bar = byId("alerts-bar");
  bar.hidden = precision === null;
  if (precision === null) return;
  const piece = (kind, share, word) => make("span", share > 0.12 ? word : "", { class: kind, style: `width: ${100 * share}%` });
  bar.replaceChildren(piece("found", precision, "real"), piece("false", 1 - precision, "false"));
}

/* One sign for each kind, so that colours are not needed to tell them apart. */
const SIGNS = {
  found: (x, y) => `M${x} ${y}h10v10h-10z`,
  false: (x, y) => `M${x + 1} ${y + 1}l8 8m0 -8l-8 8`,
  missed: (x, y) => `M${x + 1} ${y + 1}h8v8h-8z`,
  undecided: (x, y) => `M${x + 1} ${y + 5}h8`,
  rest: (x, y) => `M${x + 3} ${y + 3}h4v4h-4z`,
};
const COLUMNS = 40;

function renderIcons(found) {
  const place = byId("alerts-icons");
  if (!found) {
    place.replaceChildren();
    byId("alerts-legend").replaceChildren();
    return;
  }
  const { exact, whole } = Practice.icons(found, state.prevalence);
  const shown = KINDS.filter((kind, i) => kind !== "undecided" || found.undecided);
  const words = (kind) => say(KIND_WORDS[kind], { n: Practice.countText(exact[KINDS.indexOf(kind)]) });
  const paths = KINDS.map(() => "");
  let at = 0;
  whole.forEach((n, i) => {
    for (let j = 0; j < n; j += 1, at += 1) {
      paths[i] += SIGNS[KINDS[i]](14 * (at % COLUMNS), 14 * Math.floor(at / COLUMNS));
    }
  });
  const label = say("alerts.page.icons", { text: shown.map(words).join(", ") });
  Charts.icons(place, { width: 14 * COLUMNS - 4, height: 14 * (1000 / COLUMNS) - 4, label, paths: KINDS.map((kind, i) => ({ kind, d: paths[i] })) });
  byId("alerts-legend").replaceChildren(
    ...shown.map((kind) => make("li", [Charts.sign(kind, SIGNS[kind](0, 0)), words(kind)])),
  );
}
