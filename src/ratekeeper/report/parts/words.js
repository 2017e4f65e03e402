/* The outcome in words: what is shown, what may be done with it, and its numbers. */
const isWeak = (test) => ["asymptotic", "none"].includes(test.guarantee.kind);

const told = ({ test, choice }) =>
  `${rateName(test)} ≤ ${Numbers.exactPercent(choice.alpha)} with ${methodText(choice.method)}`;

function renderStatus() {
  const status = byId("status");
  const certified = outcomes.every((o) => o.certified);
  const shown = outcomes.map(told).join(" and ");
  const own = tests.map((test) => told({ test, choice: model.certifiedChoice(test) })).join(" and ");
  const weak = tests.every(isWeak);
  status.dataset.state = certified ? "certified" : "what-if";
  status.dataset.promise = weak ? "none" : "made";
  status.querySelector(".badge").textContent = certified ? (weak ? "No promise" : "Certified") : "What if";
  status.querySelector("p").textContent = certified ? `You see the test of the certificate: ${shown}.` : `You see ${shown}.`;
  byId("status-own").textContent = certified ? "" : `The certificate is about another test: ${own}.`;
  byId("explore").dataset.state = status.dataset.state;
  byId("paper-note").hidden = certified;
  byId("paper-note").textContent = certified
    ? ""
    : `Printed with the controls moved: all that is marked “What if” shows ${shown}, which is not the certified test. The certificate is about ${own}.`;
}

function renderNotes() {
  const notes = outcomes.flatMap((o) => [...(o.certified ? [] : whatIfNotes(o)), ...limitNotes(o)]);
  byId("notes").replaceChildren(...notes, ...buildNotes());
}

const MOST_NAMED = 8;
const warning = (text) => make("p", text, { class: "warning" });

/* What may and may not be done with a choice that was made on this page. */
function whatIfNotes(o) {
  const { method } = o.choice;
  const delta = method.delta === undefined || method.delta === null ? "" : ` ${method.delta}`;
  const guarantee = facts.guarantees[`${method.name}${delta}`];
  const about = facts.crossFitted ? " All promises here are approximate: the scores are cross-fitted." : "";
  const notes = [make("p", `${WHAT_IF[method.name]}${about}`, { class: method.name === "simultaneous" ? "" : "warning" })];
  if (guarantee) {
    const text = `${guarantee.promise} It needs: ${guarantee.condition} Not covered: ${guarantee.notCovered}`;
    notes.push(make("p", [make("b", methodText(method)), `: ${text}`], { class: "small" }));
  }
  return notes;
}

/* Where the promise is impossible, or the page does not hold all that it would need. */
function limitNotes(o) {
  const rate = `${rateName(o.test)} ≤ ${Numbers.exactPercent(o.choice.alpha)}`;
  const notes = [];
  if (o.impossible.length) notes.push(warning(impossibleText(o, rate)));
  if (o.unknown.length) {
    notes.push(warning(`${methodText(o.choice.method)} is not in this page for ${facts.groups === null ? "so many scores" : "some groups"}; ask ratekeeper itself.`));
  }
  const isStricter = (cell) => cell.heldK !== cell.wantedK;
  const chosen = o.cells[state.group];
  const cell = isStricter(chosen) ? chosen : o.cells.find(isStricter);
  if (cell) notes.push(warning(stricterText(o, cell, rate)));
  return notes;
}

function stricterText(o, cell, rate) {
  let where = "";
  if (cell.group !== null) where = cell.pooled ? " over all groups together" : ` in group ${quoted(cell.group)}`;
  let meaning = "The promise holds for it all the more.";
  if (cell.pooled) meaning = "Nothing is promised in groups with this threshold.";
  if (o.choice.method.name === "empirical") meaning = `Its ${rateName(o.test)} is lower, its ${otherName(o.test)} higher.`;
  return `Stricter than needed: for ${rate}${where} the exact threshold has rank ${Numbers.count(cell.wantedK)}, but this page holds only some of the scores and shows the next stricter one it holds, of rank ${Numbers.count(cell.heldK)}. ${meaning}`;
}

/* How to make the test that is shown, if it is not the certified one and can be made. */
function buildNotes() {
  if (outcomes.every((o) => o.certified)) return [];
  if (outcomes.some((o) => !isOffered(o.choice.method) || o.impossible.length || o.unknown.length)) return [];
  const [first, second] = outcomes;
  if (isJoint && methodText(first.choice.method) !== methodText(second.choice.method)) {
    return [make("p", "A test of both rates has one method for both: choose the same to see how to build it.", { class: "small" })];
  }
  return [make("p", ["To build this test: ", make("code", pythonLine())], { class: "small" })];
}

const isOffered = ({ name }) => name !== "empirical" && Model.RANK_METHODS.includes(name);

function pythonLine() {
  const [{ test, choice }] = outcomes;
  const alphas = outcomes.map((o) => (isJoint ? `alpha_${o.test.control}=${o.choice.alpha}` : `"${test.control}", alpha=${choice.alpha}`));
  const pool = test.thinGroups === "pool" ? ', thin_groups="pool"' : "";
  return `calibration.${isJoint ? "control_both" : "control"}(${alphas.join(", ")}, method=rk.${methodText(choice.method)}${pool})`;
}

function impossibleText(o, rate) {
  const together = facts.groups !== null && o.test.thinGroups === "pool";
  const shown = together ? [] : o.impossible.filter((cell) => cell.group !== undefined);
  const where = shown
    .slice(0, MOST_NAMED)
    .map(({ group, n }) => (group === null ? Numbers.count(n) : `${Numbers.count(n)} in group ${quoted(group)}`));
  const more = shown.length - where.length;
  if (together) where.push(`${Numbers.count(model.pooled.n[o.test.nullClass])} in all groups together`);
  if (more) where.push(`too few in ${Numbers.count(more)} more groups`);
  const outside = o.impossible.reduce((sum, cell) => sum + (cell.groups ?? 0), 0);
  if (outside) where.push(`too few in ${Numbers.count(outside)} groups that are not shown`);
  const { needed } = o.impossible[0];
  const scores = `calibration scores of objects that truly are ${nullName(o.test)}${facts.groups === null || together ? "" : ", in each group"}`;
  let need = `needs more ${scores}`;
  if (needed) {
    const n = Numbers.count(needed.n);
    need = needed.exact ? `needs at least ${n} ${scores}` : `${need} (${n} are enough)`;
  }
  return `Impossible: ${rate} with ${methodText(o.choice.method)} ${need}; there are ${where.join(", ")}. ratekeeper refuses to make this test.`;
}

function card(title, figure, ...lines) {
  const size = figure.length > 12 ? "figure long" : "figure";
  const texts = lines.filter((line) => line !== "").map((line) => make("p", line));
  return make("div", [make("h3", title), make("p", figure, { class: size }), ...texts], { class: "card" });
}

function renderResults() {
  const cards = [];
  for (const o of isJoint ? outcomes : [outcomes[0]]) {
    const cell = o.cells[state.group];
    cards.push(...cardsOf(o, cell));
  }
  if (isJoint) cards.push(...undecidedCards());
  byId("results").replaceChildren(...cards);
}

function cardsOf(o, cell) {
  const { test } = o;
  const prefix = isJoint ? `${rateName(test)}: ` : "";
  const verb = test.control === "fnr" ? "missed" : "false alarms";
  if (cell.impossible || cell.unknown) {
    const why = cell.impossible ? "Too few calibration scores for this promise." : "Not in this page.";
    return [card(`${prefix}Threshold`, "none", why)];
  }
  const found = [thresholdCard(o, cell, prefix)];
  if (!isJoint) {
    found.push(
      card(
        `${rateName(test)} on the calibration objects`,
        cell.target === null ? "by lot" : `${Numbers.range(cell.target)} of ${Numbers.count(cell.n)}`,
        cell.target === null ? "A randomised method decides equal scores differently." : `that truly are ${nullName(test)} are ${verb}.`,
      ),
      card(
        `${otherName(test)}, the price`,
        cell.nOther ? rangePercent(cell.other, cell.nOther) : "unknown",
        `${Numbers.range(cell.other)} of ${Numbers.count(cell.nOther)} that truly are ${otherClassName(test)} are called ${nullName(test)}. 95% interval ${Numbers.percent(cell.interval[0])} to ${Numbers.percent(cell.interval[1])}.`,
        cell.nOther && cell.other[0] === cell.other[1] ? `About ${Numbers.outOf(cell.other[0] / cell.nOther)}.` : "",
      ),
    );
  }
  found.push(lawCard(o, cell, prefix));
  return found;
}

const rangePercent = ([least, most], n) =>
  least === most ? Numbers.percent(least / n) : `${Numbers.percent(least / n)} to ${Numbers.percent(most / n)}`;

function thresholdCard(o, cell, prefix) {
  const { test } = o;
  if (cell.threshold === null) {
    return card(`${prefix}Threshold`, "none", "A randomised method: no score decides alone.");
  }
  const rank =
    cell.k === null
      ? cell.pooled
        ? "Pooled: the threshold of all groups together. Nothing is promised in this group."
        : "A fitted threshold, no rank."
      : `Rank ${Numbers.count(cell.k)}: the threshold is number ${Numbers.count(cell.k)} of the ${Numbers.count(cell.n)} calibration scores of objects that truly are ${nullName(test)}, from the ${test.tail} end.`;
  const rule =
    isJoint && test.control === "fnr"
      ? `${names[1]} remains possible if ${condition(test, cell.threshold)}.`
      : isJoint
        ? `${names[0]} is ruled out if ${condition(test, cell.threshold)}.`
        : `Called ${names[1]} if ${condition(test, cell.threshold)}.`;
  return card(`${prefix}Threshold`, shortScore(test, cell.threshold), sentence(rule), rank, cell.remark ?? "");
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function lawCard(o, cell, prefix) {
  const name = rateName(o.test);
  if (!cell.law) {
    return card(`${prefix}True ${name}`, "no law", cell.pooled ? "Nothing is known about the rate in a pooled group." : "This method has no exact law.");
  }
  const { law } = cell;
  return card(
    `${prefix}True ${name} of such tests`,
    `${Numbers.percent(law.mean)} on average`,
    `Between ${Numbers.percent(law.low)} and ${Numbers.percent(law.high)} in 90% of them, above ${Numbers.exactPercent(o.choice.alpha)} in ${Numbers.percent(law.above)}: Beta(${Numbers.count(law.k)}, ${Numbers.count(law.n + 1 - law.k)}).`,
    cell.tied ? "These are upper bounds, since scores are tied." : "",
  );
}

function undecidedCards() {
  const found = model.undecided(outcomes);
  return [1, 0].map((label) => {
    const title = `Undecided, truly ${names[label]}`;
    if (!found[label]) return card(title, "unknown", "A threshold is missing.");
    const { abstained, n, ofShown } = found[label];
    const everywhere = facts.groups === null ? "" : ofShown ? " in the groups shown" : " in all groups";
    return card(
      title,
      `${Numbers.range(abstained)} of ${Numbers.count(n)}`,
      `The test abstains on ${n ? rangePercent(abstained, n) : "none"} of the calibration objects${everywhere}. An abstention is no error.`,
    );
  });
}
