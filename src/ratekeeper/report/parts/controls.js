/* From the controls to choices, and back. */
function choose(change) {
  const test = tests[state.active];
  const next = { ...state.choices[state.active], ...change };
  // Methods outside the page cannot be computed at another level.
  if (next.method.name === "other" && next.alpha !== test.alpha) next.method = { name: "conformal" };
  state.choices[state.active] = next;
  render();
}

function chooseMethod(name) {
  const test = tests[state.active];
  if (name === "other") {
    choose(model.certifiedChoice(test));
  } else if (name === "high-probability" || name === "simultaneous") {
    choose({ method: { name, delta: state.delta } });
  } else {
    choose({ method: { name } });
  }
}

function reset() {
  state.choices = tests.map(model.certifiedChoice);
  render();
}

function nearestStep(alpha) {
  let best = 0;
  alphas.forEach((a, i) => {
    if (Math.abs(Math.log(a / alpha)) < Math.abs(Math.log(alphas[best] / alpha))) best = i;
  });
  return best;
}

function readLevel(text) {
  const alpha = Numbers.fromPercent(text);
  return Number.isNaN(alpha) || alpha < 1e-12 ? null : alpha;
}

function refuseLevel(field) {
  const { alpha } = state.choices[state.active];
  field.setAttribute("aria-invalid", "true");
  byId("alpha-problem").textContent = [
    say("page.level.refused", { typed: field.value.trim() === "" ? "Nothing" : quoted(field.value) }),
    ...(Numbers.hasComma(field.value) ? [say("page.level.comma")] : []),
    say("page.level.still", { alpha: Numbers.exactPercent(alpha) }),
  ].join(" ");
}

function showLevel(field) {
  field.value = Numbers.exactPercent(state.choices[state.active].alpha).replace("%", "");
  field.setAttribute("aria-invalid", "false");
}

function setUpControls() {
  const slider = byId("slider");
  slider.max = alphas.length - 1;
  slider.addEventListener("input", () => choose({ alpha: alphas[Number(slider.value)] }));
  const field = byId("alpha");
  field.addEventListener("input", () => {
    const alpha = readLevel(field.value);
    if (alpha === null) refuseLevel(field);
    else choose({ alpha });
  });
  // What cannot be a level goes when the field is left; why it went stays to be read.
  field.addEventListener("blur", () => showLevel(field));
  document.querySelectorAll('input[name="method"]').forEach((radio) => {
    radio.addEventListener("change", () => chooseMethod(radio.value));
  });
  document.querySelectorAll('input[name="which"]').forEach((radio) => {
    radio.addEventListener("change", () => {
      state.active = Number(radio.value);
      render();
    });
  });
  byId("which").hidden = !isJoint;
  byId("scale").append(
    ...alphas
      .map((alpha, i) => ({ alpha, at: i / (alphas.length - 1) }))
      .filter(({ alpha, at }) => at === 1 || /^1e/.test(alpha.toExponential()))
      .map(({ alpha, at }) => make("span", Numbers.exactPercent(alpha), { style: `left: ${100 * at}%` })),
  );
  const delta = byId("delta");
  delta.append(
    ...facts.deltas.map((d) => make("option", Numbers.exactPercent(d), { value: String(d) })),
  );
  delta.addEventListener("change", () => {
    state.delta = Number(delta.value);
    chooseMethod(state.choices[state.active].method.name);
  });
  const own = tests.map((t) => t.method.delta).find((d) => d !== null && d !== undefined);
  state.delta = own ?? 0.05;
  if (facts.groups !== null) {
    byId("group-choice").hidden = false;
    byId("group").append(...facts.groups.map((g, i) => make("option", g, { value: String(i) })));
    byId("group").addEventListener("change", () => {
      state.group = Number(byId("group").value);
      render();
    });
  }
  byId("reset").addEventListener("click", reset);
  byId("score").addEventListener("input", renderJudged);
  byId("download").addEventListener("click", download);
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
}

function renderControls() {
  const test = tests[state.active];
  const choice = state.choices[state.active];
  const slider = byId("slider");
  slider.value = nearestStep(choice.alpha);
  slider.setAttribute("aria-valuetext", Numbers.exactPercent(choice.alpha));
  const field = byId("alpha");
  if (document.activeElement !== field) showLevel(field);
  field.setAttribute("aria-invalid", "false");
  byId("alpha-problem").textContent = "";
  byId("slider-label").textContent = say("page.level", { rate: rateName(test) });
  field.setAttribute("aria-label", say("page.level.percent", { rate: rateName(test) }));
  document.querySelectorAll('input[name="method"]').forEach((radio) => {
    radio.checked = radio.value === choice.method.name;
  });
  byId("as-certified").hidden = test.method.name !== "other";
  byId("as-certified-name").textContent = test.method.name === "other" ? test.method.text : "";
  const hasDelta = choice.method.delta !== null && choice.method.delta !== undefined;
  byId("delta").disabled = !hasDelta;
  if (hasDelta) state.delta = choice.method.delta;
  byId("delta").value = String(state.delta);
  byId("reset").disabled = outcomes.every((o) => o.certified);
}
