for (const figure of document.querySelectorAll("figure.import-graph")) {
  const svg = figure.querySelector("svg");
  const words = figure.querySelector(".chosen");
  const modules = [...svg.querySelectorAll(".module")];
  const lines = [...svg.querySelectorAll("path")].map((path) => ({
    path, from: Number(path.dataset.a), to: Number(path.dataset.b),
  }));
  const hint = "Point at a module, or go to one with Tab and the arrow keys, to see its imports. " +
    "Enter or a click keeps it; Escape shows all again.";
  let kept = null;

  function listed(kind, verb, found) {
    const mark = document.createElement("span");
    mark.className = kind;
    mark.textContent = `${verb} ${found.length}`;
    words.append(mark, found.length ? `: ${found.map((i) => modules[i].dataset.name).join(", ")}. ` : ". ");
  }

  function show(chosen) {
    svg.classList.toggle("picking", chosen !== null);
    for (const { path } of lines) path.classList.remove("down", "up");
    for (const module of modules) module.classList.remove("down", "up", "self");
    words.textContent = chosen === null ? hint : `${modules[chosen].dataset.name} `;
    if (chosen === null) return;
    const down = lines.filter((line) => line.from === chosen);
    const up = lines.filter((line) => line.to === chosen);
    for (const { path, to } of down) [path, modules[to]].forEach((item) => item.classList.add("down"));
    for (const { path, from } of up) [path, modules[from]].forEach((item) => item.classList.add("up"));
    modules[chosen].classList.add("self");
    listed("down", "imports", down.map((line) => line.to));
    listed("up", "and is imported by", up.map((line) => line.from));
  }

  function keep(chosen) {
    kept = chosen;
    modules.forEach((module, i) => module.setAttribute("aria-pressed", String(i === chosen)));
    show(chosen);
  }

  function middle(module) {
    const box = module.querySelector("rect").getBBox();
    return { x: box.x + box.width / 2, y: box.y };
  }

  function neighbour(i, key) {
    if (key === "ArrowRight") return Math.min(i + 1, modules.length - 1);
    if (key === "ArrowLeft") return Math.max(i - 1, 0);
    if (key === "Home") return 0;
    if (key === "End") return modules.length - 1;
    if (key !== "ArrowUp" && key !== "ArrowDown") return null;
    const here = middle(modules[i]);
    const sign = key === "ArrowDown" ? 1 : -1;
    const cost = (j) => {
      const there = middle(modules[j]);
      const step = sign * (there.y - here.y);
      return step > 0 ? 1000 * step + Math.abs(there.x - here.x) : Infinity;
    };
    const best = modules.map((_, j) => j).reduce((a, b) => (cost(b) < cost(a) ? b : a));
    return cost(best) === Infinity ? i : best;
  }

  words.hidden = false;
  words.tabIndex = 0;
  svg.setAttribute("role", "group");
  modules.forEach((module, i) => {
    module.setAttribute("role", "button");
    module.setAttribute("aria-label", module.dataset.name);
    module.setAttribute("aria-pressed", "false");
    module.setAttribute("tabindex", i ? "-1" : "0");
    module.addEventListener("mouseenter", () => kept === null && show(i));
    module.addEventListener("mouseleave", () => kept === null && show(null));
    module.addEventListener("click", () => keep(kept === i ? null : i));
    module.addEventListener("focus", () => {
      modules.forEach((other) => other.setAttribute("tabindex", other === module ? "0" : "-1"));
      if (kept === null) show(i);
    });
    module.addEventListener("blur", () => kept === null && show(null));
    module.addEventListener("keydown", (event) => {
      const next = neighbour(i, event.key);
      if (next !== null) {
        if (kept !== null) keep(null);
        modules[next].focus();
      } else if (event.key === "Enter" || event.key === " ") keep(kept === i ? null : i);
      else if (event.key === "Escape") keep(null);
      else return;
      event.preventDefault();
    });
  });
  show(null);
}
