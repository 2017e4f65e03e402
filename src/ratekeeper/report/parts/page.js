/* The page as a whole: colours, paper, and the first drawing. */
function setUpTheme() {
  const button = byId("theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.textContent = isDark() ? "Light colours" : "Dark colours";
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  prefersDark.addEventListener("change", show);
  show();
}

function render() {
  // What has not been moved need not be found again.
  outcomes = tests.map((test, i) =>
    outcomes[i]?.choice === state.choices[i] ? outcomes[i] : model.outcome(test, state.choices[i]),
  );
  renderControls();
  renderStatus();
  renderNotes();
  renderResults();
  renderAlerts();
  renderCharts();
  renderJudged();
  renderGroups();
  tellSideways();
}

/* Says of a table that is cut off by the screen that it can be scrolled. */
function tellSideways() {
  for (const place of document.querySelectorAll(".scroll")) {
    place.previousElementSibling.hidden = place.scrollWidth <= place.clientWidth;
  }
}

function renderHeld() {
  if (model.complete) return;
  const held = model.cells.reduce((sum, cell) => sum + cell.values.length, 0);
  const all = model.cells.reduce((sum, cell) => sum + cell.n[0] + cell.n[1], 0);
  byId("held").textContent = say("page.held", { held: Numbers.count(held), n: Numbers.count(all) });
}

setUpTheme();
setUpControls();
setUpAlerts();
renderHeld();
render();
renderEvaluation();
let width = document.body.clientWidth;
window.addEventListener("resize", () => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  renderCharts();
  renderEvaluation();
  tellSideways();
});
let openBefore = null;
function setPaper(isPaper) {
  const details = document.querySelector("details.full");
  if (isPaper === (openBefore !== null)) return;
  if (isPaper) {
    openBefore = details.open;
    details.open = true;
  } else {
    details.open = openBefore;
    openBefore = null;
  }
  // Without an object that was asked about, the last chart has the whole row to itself.
  byId("chart-true-rate").parentElement.classList.toggle("whole", isPaper && !byId("judge").classList.contains("used"));
  Charts.drawForPaper(isPaper);
  renderCharts();
  renderEvaluation();
}

window.addEventListener("beforeprint", () => setPaper(true));
window.addEventListener("afterprint", () => setPaper(false));
window.matchMedia("print").addEventListener("change", (event) => setPaper(event.matches));

/* For tests, and for the curious. */
window.ratekeeper = { Special, Ranks, Numbers, Practice, model, facts, state, choose, csv, outcomes: () => outcomes };
