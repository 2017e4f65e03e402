/* What the page knows and shows: the facts, the choices made, and what they give. */
const byId = (id) => document.getElementById(id);
const facts = JSON.parse(byId("facts").textContent);
const model = Model.makeModel(facts);
const { tests, names } = facts;
const isJoint = tests.length === 2;
const alphas = facts.tables.alphas;
const state = {
  active: 0,
  group: 0,
  delta: 0.05,
  choices: tests.map(model.certifiedChoice),
};
let outcomes = [];

const METHODS = {
  conformal: { name: "Conformal", whatIf: "page.what_if.conformal" },
  "high-probability": { name: "HighProbability", whatIf: "page.what_if.high_probability" },
  simultaneous: { name: "Simultaneous", whatIf: "page.what_if.simultaneous" },
  empirical: { name: "Empirical", whatIf: "page.what_if.empirical" },
};

/* A sentence of ratekeeper with its gaps filled. */
const say = (key, gaps = {}) => facts.sentences[key].replace(/\{(\w+)\}/g, (_, gap) => gaps[gap]);
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const rateName = (test) => test.control.toUpperCase();
const otherName = (test) => (test.control === "fnr" ? "FPR" : "FNR");
const scoreText = (value) => Numbers.score(value, facts.width);
const quoted = (name) => `“${name}”`;
const nullName = (test) => names[test.nullClass];
const otherClassName = (test) => names[1 - test.nullClass];
/* A threshold in few digits: beyond the exact one on the safe side, where fewer are rejected. */
const shortScore = (test, value) => Numbers.shortScore(value, facts.width, test.tail === "high");
/* A threshold between two, which has no side. */
const shortMiddle = (value) => Numbers.shortScore(value, facts.width, true);

function methodText(method) {
  if (method.name === "other") return method.text;
  const delta = method.delta === null || method.delta === undefined ? "" : `delta=${method.delta}`;
  return `${METHODS[method.name].name}(${delta})`;
}

/* Elements by text only: nothing that a user wrote is ever read as HTML. */
function make(name, content = [], attributes = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...[content].flat());
  return made;
}

/* When a new object is called positive, at the threshold of a rate or at the one between two, in
   few digits: the certificate has them all. */
function condition(control, threshold) {
  const above = facts.higherIsPositive;
  const sign = control === "fpr" ? (above ? ">" : "<") : above ? "≥" : "≤";
  return say("certificate.condition", { sign, threshold });
}

/* When the test decides what, in the group that is shown; null if no threshold decides. */
function ruleText() {
  const labels = { positive: facts.labels[1], negative: facts.labels[0] };
  const limits = outcomes.map((o) => o.cells[state.group].threshold ?? null);
  if (limits.includes(null)) return null;
  const [fnr, fpr] = limits.map((limit, i) => condition(tests[i].control, shortScore(tests[i], limit)));
  if (!isJoint) return sentence(say("certificate.rule", { condition: fnr, ...labels }));
  const middle = model.crossed(outcomes, state.group);
  return sentence(
    middle === null
      ? say("certificate.rule.both", { fnr, fpr, ...labels })
      : say("certificate.rule.crossed", { condition: condition("both", shortMiddle(middle)), ...labels }),
  );
}

/* " in group ..." for the group that is shown; nothing without groups. */
const whereShown = () =>
  facts.groups === null ? "" : say("page.where.group", { group: facts.groups[state.group] });
