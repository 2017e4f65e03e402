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
  conformal: "Conformal",
  "high-probability": "HighProbability",
  simultaneous: "Simultaneous",
  empirical: "Empirical",
};
const WHAT_IF = {
  conformal:
    "An average promise, for a level and method settled before looking at the data. If you settle them by looking at this page, calibrate anew on fresh objects.",
  "high-probability":
    "The promise holds for one level settled before looking. A level chosen here, after looking, breaks it: calibrate anew on fresh objects, or take Simultaneous.",
  simultaneous:
    "This method allows choosing the level after looking, as here, if delta was settled before.",
  empirical:
    "No promise: nothing keeps the true rate of such a test at or below the level. How often it is above stands in the law of the true rate.",
};

const rateName = (test) => test.control.toUpperCase();
const otherName = (test) => (test.control === "fnr" ? "FPR" : "FNR");
const scoreText = (value) => Numbers.score(value, facts.width);
const quoted = (name) => `“${name}”`;
const nullName = (test) => names[test.nullClass];
const otherClassName = (test) => names[1 - test.nullClass];
/* A threshold in few digits: beyond the exact one on the safe side, where fewer are put out. */
const shortScore = (test, value) => Numbers.shortScore(value, facts.width, test.tail === "high");

function methodText(method) {
  if (method.name === "other") return method.text;
  const delta = method.delta === null || method.delta === undefined ? "" : `delta=${method.delta}`;
  return `${METHODS[method.name]}(${delta})`;
}

/* Elements by text only: nothing that a user wrote is ever read as HTML. */
function make(name, content = [], attributes = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...[content].flat());
  return made;
}

/* When a new object is called positive at this threshold. */
function condition(test, threshold) {
  const above = facts.higherIsPositive;
  const sign = test.control === "fnr" ? (above ? "≥" : "≤") : above ? ">" : "<";
  return `score ${sign} ${scoreText(threshold)}`;
}
