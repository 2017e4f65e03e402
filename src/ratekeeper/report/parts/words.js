/* The outcome in words: what is shown, what may be done with it, and its numbers. */
const told = ({ test, choice }) =>
  say("page.test", {
    rate: rateName(test),
    alpha: Numbers.exactPercent(choice.alpha),
    method: methodText(choice.method),
  });

function renderStatus() {
  const status = byId("status");
  const certified = outcomes.every((o) => o.certified);
  const isPromised = tests.every((test) => test.promised);
  const texts = {
    test: outcomes.map(told).join(" and "),
    certified: tests.map((test) => told({ test, choice: model.certifiedChoice(test) })).join(" and "),
  };
  status.dataset.state = certified ? "certified" : "what-if";
  status.dataset.promise = isPromised ? "made" : "none";
  status.querySelector(".badge").textContent = !certified ? "What if" : isPromised ? "Certified" : "No promise";
  status.querySelector("p").textContent = certified ? say("page.status", texts) : say("page.status.what_if", texts);
  byId("status-own").textContent = certified ? "" : say("page.status.own", texts);
  byId("explore").dataset.state = status.dataset.state;
  byId("paper-note").hidden = certified;
  byId("paper-note").textContent = certified ? "" : say("page.status.paper", texts);
}

const warning = (text) => make("p", text, { class: "warning" });
const small = (content) => make("p", content, { class: "small" });

function renderNotes() {
  const notes = outcomes.flatMap((o) => [...(o.certified ? [] : whatIfNotes(o)), ...limitNotes(o)]);
  byId("notes").replaceChildren(...notes, ...buildNotes());
}

/* What may and may not be done with a choice that was made on this page. */
function whatIfNotes({ choice: { method } }) {
  if (facts.crossFitted) return [warning(say("certificate.cross_fitted"))];
  const delta = method.delta === undefined || method.delta === null ? "" : ` ${method.delta}`;
  const guarantee = facts.guarantees[`${method.name}${delta}`];
  const rule = say(METHODS[method.name].whatIf);
  return [
    method.name === "simultaneous" ? make("p", rule) : warning(rule),
    ...(guarantee ? [small([make("b", methodText(method)), `: ${guarantee}`])] : []),
  ];
}

/* Where the promise is impossible, or the page does not hold all that it would need. */
function limitNotes(o) {
  const isStricter = (cell) => cell.heldK !== cell.wantedK;
  const chosen = o.cells[state.group];
  const stricter = isStricter(chosen) ? chosen : o.cells.find(isStricter);
  return [
    ...(o.impossible.length ? [impossibleText(o)] : []),
    ...(o.unknown.length ? [say("page.unheld", { method: methodText(o.choice.method) })] : []),
    ...(stricter ? [stricterText(o, stricter)] : []),
  ].map(warning);
}

function stricterText(o, cell) {
  const names = { rate: rateName(o.test), other: otherName(o.test), group: cell.group };
  let where = "";
  if (cell.group !== null) where = cell.pooled ? say("page.where.pooled") : say("page.where.group", names);
  let meaning = say("page.stricter.promised");
  if (cell.pooled) meaning = say("page.stricter.pooled");
  if (!o.promised) meaning = say("page.stricter.none", names);
  const alpha = Numbers.exactPercent(o.choice.alpha);
  const ranks = { wanted: Numbers.count(cell.wantedK), held: Numbers.count(cell.heldK) };
  return `${say("page.stricter", { ...names, ...ranks, alpha, where })} ${meaning}`;
}

const MOST_NAMED = 8;

function impossibleText(o) {
  const together = facts.groups !== null && o.test.thinGroups === "pool";
  const shown = together ? [] : o.impossible.filter((cell) => cell.group !== undefined);
  const found = shown
    .slice(0, MOST_NAMED)
    .map(({ group, n }) => (group === null ? Numbers.count(n) : say("page.impossible.in_group", { n: Numbers.count(n), group })));
  const tell = (key, n) => n && found.push(say(key, { n: Numbers.count(n) }));
  tell("page.impossible.together", together && model.pooled.n[o.test.nullClass]);
  tell("page.impossible.more", shown.length - Math.min(shown.length, MOST_NAMED));
  tell("page.impossible.hidden", o.impossible.reduce((sum, cell) => sum + (cell.groups ?? 0), 0));
  const { needed } = o.impossible[0];
  const n = needed && { n: Numbers.count(needed.n) };
  let need = "more";
  if (needed) need = needed.exact ? say("page.impossible.least", n) : say("page.impossible.enough", n);
  const each = facts.groups === null || together ? "" : say("page.impossible.each");
  return say("page.impossible", { test: told(o), need, truth: nullName(o.test), each, found: found.join(", ") });
}

/* How to make the test that is shown, if it is not the certified one and can be made. */
function buildNotes() {
  if (outcomes.every((o) => o.certified)) return [];
  if (outcomes.some((o) => !isOffered(o.choice.method) || o.impossible.length || o.unknown.length)) return [];
  const methods = new Set(outcomes.map((o) => methodText(o.choice.method)));
  if (methods.size > 1) return [small(say("page.build.both"))];
  return [small([say("page.build"), make("code", pythonLine())])];
}

const isOffered = ({ name }) => name !== "empirical" && Model.RANK_METHODS.includes(name);

function pythonLine() {
  const [{ test, choice }] = outcomes;
  const alphas = outcomes.map((o) => (isJoint ? `alpha_${o.test.control}=${o.choice.alpha}` : `"${test.control}", alpha=${choice.alpha}`));
  const pool = test.thinGroups === "pool" ? ', thin_groups="pool"' : "";
  const tolerance = facts.tolerance ? `, tolerance=${facts.toleranceText}` : "";
  return `calibration.${isJoint ? "control_both" : "control"}(${alphas.join(", ")}, method=rk.${methodText(choice.method)}${pool}${tolerance})`;
}

function card(title, figure, lines, attributes = {}) {
  const size = figure.length > 12 ? "figure long" : "figure";
  const texts = lines.filter((line) => line).map((line) => make("p", line));
  return make("div", [make("h3", title), make("p", figure, { class: size }), ...texts], { class: "card", ...attributes });
}

/* Shown to whoever points at a card. */
const allDigits = (threshold) => (threshold === null ? {} : { title: scoreText(threshold) });

function renderResults() {
  const rule = ruleText();
  const cards = outcomes.flatMap((o) => cardsOf(o, o.cells[state.group], rule));
  if (isJoint && rule !== null) {
    const middle = model.crossed(outcomes, state.group);
    cards.unshift(card("Decision", middle === null ? "two thresholds" : shortMiddle(middle), [`${rule}.`], allDigits(middle)));
  }
  byId("results").replaceChildren(...cards, ...(isJoint ? undecidedCards() : []));
}

function cardsOf(o, cell, rule) {
  const prefix = isJoint ? `${rateName(o.test)}: ` : "";
  if (cell.impossible || cell.unknown) {
    const why = cell.impossible ? say("page.card.too_few") : say("page.card.unheld");
    return [card(`${prefix}Threshold`, "none", [why])];
  }
  const isRandom = cell.threshold === null;
  const threshold = card(`${prefix}Threshold`, isRandom ? "none" : shortScore(o.test, cell.threshold), [
    isJoint || isRandom ? "" : `${rule}.`,
    rankText(o.test, cell),
    cell.remark,
  ], allDigits(cell.threshold));
  return [threshold, ...(isJoint ? [] : errorCards(o.test, cell)), trueRateCard(o, cell, prefix)];
}

/* Where the threshold stands among the calibration scores. */
function rankText(test, cell) {
  if (cell.threshold === null) return say("page.threshold.random");
  if (cell.pooled) return say("page.threshold.pooled");
  if (cell.k === null) return facts.crossFitted ? "" : say("page.threshold.fitted");
  const numbers = { k: Numbers.count(cell.k), n: Numbers.count(cell.n) };
  const gaps = { ...numbers, truth: nullName(test), tail: test.tail, tolerance: facts.toleranceText };
  return facts.tolerance ? say("tolerance.rank", gaps) : say("page.threshold.rank", gaps);
}

function errorCards(test, cell) {
  const isRandom = cell.target === null;
  const [null_, other] = [nullName(test), otherClassName(test)];
  const errors = test.control === "fnr" ? say("page.card.missed", { truth: null_ }) : say("page.card.alarms", { truth: null_ });
  return [
    card(`${rateName(test)} on the calibration objects`, isRandom ? "at random" : `${Numbers.range(cell.target)} of ${Numbers.count(cell.n)}`, [
      isRandom ? say("page.card.random") : errors,
    ]),
    card(`${otherName(test)}, the price`, cell.nOther ? rangePercent(cell.other, cell.nOther) : "unknown", [
      cell.nOther
        ? say("page.card.price", { truth: other, called: null_, errors: Numbers.range(cell.other), n: Numbers.count(cell.nOther) })
        : say("one_class.card", { truth: other }),
      cell.nOther && intervalText(test, cell),
      cell.nOther && cell.other[0] === cell.other[1] && say("page.card.out_of", { count: Numbers.outOf(cell.other[0] / cell.nOther) }),
    ]),
  ];
}

function intervalText(test, cell) {
  if (cell.interval) return say("page.card.interval", { low: Numbers.percent(cell.interval[0]), high: Numbers.percent(cell.interval[1]) });
  return say("certificate.price.cross_fitted", { other: otherName(test), estimate: cell.nOther ? rangePercent(cell.other, cell.nOther) : "unknown" });
}

const rangePercent = ([least, most], n) =>
  least === most ? Numbers.percent(least / n) : `${Numbers.percent(least / n)} to ${Numbers.percent(most / n)}`;

/* How the true rate varies over calibration sets, or why that is not known. */
function trueRateText(o, cell) {
  const { realised, pooled } = cell;
  const rate = rateName(o.test);
  if (!realised && facts.crossFitted) return say("certificate.cross_fitted");
  if (!realised) return pooled ? say("page.true_rate.pooled", { rate }) : say("page.true_rate.none", { rate });
  const { n, mean, low, high, above } = realised;
  const shares = Object.entries({ mean, low, high, above }).map(([name, share]) => [name, Numbers.percent(share)]);
  const gaps = { rate, n: Numbers.count(n), alpha: Numbers.exactPercent(o.choice.alpha), ...Object.fromEntries(shares) };
  const text = above === null ? say("certificate.true_rate.any_alpha", gaps) : say("certificate.true_rate", gaps);
  return [text, ...crossedTexts()].join(" ");
}

/* Why the true rate can be below its interval in the group that is shown, if it can. */
function crossedTexts() {
  return model.crossed(outcomes, state.group) === null ? [] : [say("certificate.true_rate.crossed")];
}

function trueRateCard(o, cell, prefix) {
  const title = `${prefix}True ${rateName(o.test)} of such tests`;
  if (!cell.realised) return card(title, "unknown", [trueRateText(o, cell)]);
  const { k, n, mean, beyond } = cell.realised;
  const beta = `Beta(${Numbers.count(k)}, ${Numbers.count(n + 1 - k)})`;
  const bound = beyond !== null || crossedTexts().length ? "≤ " : "";
  return card(title, `${bound}${Numbers.percent(mean)} on average`, [trueRateText(o, cell)], { title: beta });
}

function undecidedCards() {
  const found = model.undecided(outcomes);
  return [1, 0].map((label) => {
    const title = `Undecided, truly ${names[label]}`;
    if (!found[label]) return card(title, "unknown", [say("page.card.undecided.unknown")]);
    const { count, n, ofShown } = found[label];
    let where = "";
    if (facts.groups !== null) where = ofShown ? say("page.where.shown") : say("page.where.pooled");
    return card(title, `${Numbers.range(count)} of ${Numbers.count(n)}`, [
      say("page.card.undecided", { undecided: n ? rangePercent(count, n) : "none", where }),
    ]);
  });
}
