/* Who pays: both errors of the groups of an audit, worst first. */
const MOST_AUDITED = 24;

function renderAudit() {
  if (!facts.audit || !facts.audit.n) return;
  for (const [name, { level, rows: all }] of Object.entries(facts.audit.rates)) {
    const place = byId(`chart-audit-${name}`);
    const rows = all.slice(0, MOST_AUDITED).map((row) => ({ ...row, promised: level, rate: name.toUpperCase() }));
    const first = { shown: rows.length, n: Numbers.count(facts.audit.n) };
    byId(`about-audit-${name}`).textContent = rows.length < facts.audit.n ? say("audit.page.first", first) : "";
    const rates = rows
      .map((row) => joined(row.group, row.value === null ? "–" : Numbers.percent(row.value), row.verdict))
      .join(", ");
    Charts.intervals(place, {
      rows,
      label: say("audit.page.label", { rate: name.toUpperCase(), rates }),
      axis: level === null ? say("audit.page.axis.price") : say("audit.page.axis"),
      nameOf: (row) => row.group,
      left: 210,
    });
  }
}
