/* Charts as SVG. Each is drawn at the width of its place, so that text keeps its size. */
const Charts = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  let forPaper = false;
  const paperWidth = (place) => (place.closest(".wide, .whole") ? 880 : 420);

  /* On paper the columns are narrower than on most screens. */
  function drawForPaper(isPaper) {
    forPaper = isPaper;
  }

  function element(name, attributes = {}, text = null) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  const fixed = (value) => Number(value.toFixed(2));
  const path = (points) =>
    points.map(([x, y], i) => `${i ? "L" : "M"}${fixed(x)} ${fixed(y)}`).join("");

  /* A frame to draw in, with scales that keep infinite and far values at the edge. */
  const widthOf = (place) =>
    forPaper ? paperWidth(place) : Math.max(280, Math.round(place.clientWidth) || 520);

  function frame(place, { height, label, left = 48, right = 14, top = 30, bottom = 42 }) {
    const width = widthOf(place);
    const svg = element("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
      preserveAspectRatio: "xMidYMid meet",
    });
    svg.append(element("title", {}, label));
    place.replaceChildren(svg);
    const inner = { left, top, right: width - right, bottom: height - bottom };
    const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
    return {
      svg,
      ...inner,
      width,
      add: (name, attributes, text) => svg.appendChild(element(name, attributes, text)),
      // Halves, so that the widest range of numbers does not overflow.
      across: (low, high) => (value) =>
        clamp(
          inner.left + ((inner.right - inner.left) * (value / 2 - low / 2)) / (high / 2 - low / 2),
          inner.left,
          inner.right,
        ),
      up: (high) => (value) => inner.bottom - (inner.bottom - inner.top) * clamp(value / high, 0, 1),
    };
  }

  function axisBelow(f, marks, x, title) {
    f.add("path", { class: "axis", d: path([[f.left, f.bottom], [f.right, f.bottom]]) });
    for (const { value, text } of marks) {
      f.add("path", { class: "tick", d: path([[x(value), f.bottom], [x(value), f.bottom + 4]]) });
      const anchor = x(value) > f.right - 14 ? "end" : "middle";
      f.add("text", { x: fixed(x(value)), y: f.bottom + 17, "text-anchor": anchor }, text);
    }
    f.add(
      "text",
      { class: "title", x: f.width / 2, y: f.bottom + 35, "text-anchor": "middle" },
      title,
    );
  }

  function axisLeft(f, marks, y) {
    for (const { value, text } of marks) {
      f.add("path", { class: "grid", d: path([[f.left, y(value)], [f.right, y(value)]]) });
      f.add("text", { x: f.left - 7, y: fixed(y(value) + 4), "text-anchor": "end" }, text);
    }
  }

  const ticked = (values, format) => values.map((value) => ({ value, text: format(value) }));

  /* How many decimals the ticks need so that no two read alike. */
  function percentTicks(low, high, wanted) {
    return ticked(Numbers.ticks(low, high, wanted), (v) => `${Number((100 * v).toPrecision(6))}%`);
  }

  /* A text at a vertical line, on the side where there is room. */
  function flag(f, at, y, text, className) {
    const start = at < (f.left + f.right) / 2;
    f.add(
      "text",
      { class: className, x: fixed(at + (start ? 6 : -6)), y, "text-anchor": start ? "start" : "end" },
      text,
    );
  }

  /* Shares of the scores of each class, with the thresholds. */
  function densities(place, { histogram, counts, thresholds, names, label }) {
    const keys = legendKeys(names, widthOf(place) - 16);
    const top = 40 + 8 * Math.max(1, thresholds.length) + keys[keys.length - 1].y;
    const f = frame(place, { height: 224 + top, label, left: 16, top });
    const x = f.across(histogram.low, histogram.high);
    const bins = counts[0].length - 2;
    const edge = (i) => histogram.low * (1 - i / bins) + histogram.high * (i / bins);
    const shares = counts.map((class_) => {
      const n = class_.reduce((sum, c) => sum + c, 0);
      return class_.slice(1, -1).map((c) => (n ? c / n : 0));
    });
    const y = f.up(1.05 * Math.max(...shares.flat(), 1e-9));
    shares.forEach((share, class_) => {
      const steps = share.flatMap((s, i) => [[x(edge(i)), y(s)], [x(edge(i + 1)), y(s)]]);
      const name = class_ ? "positive" : "negative";
      const closed = [[f.left, f.bottom], ...steps, [f.right, f.bottom]];
      f.add("path", { class: `area ${name}`, d: `${path(closed)}Z` });
      f.add("path", { class: `line ${name}`, d: path(closed) });
    });
    axisBelow(f, ticked(Numbers.ticks(histogram.low, histogram.high, 5), String), x, "score");
    thresholds.forEach(({ value, text }, i) => {
      const at = x(value);
      f.add("path", { class: "threshold", d: path([[at, f.top - 14], [at, f.bottom]]) });
      flag(f, at, f.top - 6 - 15 * i, text, "strong");
    });
    keys.forEach(({ text, x: at, y: down }, class_) => {
      const key = class_ ? "positive" : "negative";
      f.add("rect", { class: `area line ${key}`, x: at, y: down + 3, width: 14, height: 10 });
      f.add("text", { x: at + 20, y: down + 12 }, text);
    });
  }

  /* Where the name of each class stands: side by side if there is room, else below. */
  function legendKeys(names, width) {
    const texts = names.map((name) => (name.length > 36 ? `${name.slice(0, 35)}…` : name));
    const next = 16 + 44 + 6.6 * texts[0].length;
    const fits = next + 20 + 6.6 * texts[1].length <= width;
    return [
      { text: texts[0], x: 16, y: 0 },
      { text: texts[1], x: fits ? next : 16, y: fits ? 0 : 17 },
    ];
  }

  /* The price of each level: the other error against the controlled one. */
  function tradeOff(place, { points, n, alpha, point, interval, names, label }) {
    const f = frame(place, { height: 270, label });
    const least = 0.5 / n;
    const log = (share) => Math.log10(Math.max(share, least));
    const scale = f.across(Math.log10(least), 0);
    const x = (share) => scale(log(share));
    const y = f.up(1);
    axisLeft(f, percentTicks(0, 1, 4), y);
    const marks = [{ value: least, text: "0" }];
    for (let power = Math.ceil(Math.log10(least)); power <= 0; power += 1) {
      if (x(10 ** power) < f.left + 26) continue;
      marks.push({ value: 10 ** power, text: `${Number((10 ** (power + 2)).toPrecision(3))}%` });
    }
    axisBelow(f, marks, x, `${names.target} on the calibration objects`);
    f.add("text", { class: "title", x: 2, y: 14 }, `${names.other}, the price`);
    const shown = [];
    for (const { target, other } of points) {
      const next = [x(target), y(other)];
      const last = shown[shown.length - 1];
      if (!last || Math.abs(next[0] - last[0]) + Math.abs(next[1] - last[1]) > 0.7) shown.push(next);
    }
    f.add("path", { class: "line curve", d: path(shown) });
    f.add("path", { class: "limit", d: path([[x(alpha), f.top], [x(alpha), f.bottom]]) });
    flag(f, x(alpha), f.top + 4, Numbers.exactPercent(alpha), "limit-text");
    if (point) {
      const at = x(point.target);
      if (interval) f.add("path", { class: "whisker", d: path([[at, y(interval[0])], [at, y(interval[1])]]) });
      f.add("circle", { class: "point", cx: fixed(at), cy: fixed(y(point.other)), r: 5.5 });
    }
  }

  /* The distribution of the true rate, with the part above alpha if that is known. */
  function trueRate(place, { realised: { k, n, mean, above }, alpha, name, label }) {
    const f = frame(place, { height: 270, label, left: 16 });
    const b = n + 1 - k;
    const low = Math.min(Special.betaQuantile(k, b, 0.0005), alpha * 0.98);
    const high = Math.max(Special.betaUpperQuantile(k, b, 0.0005), alpha * 1.02);
    const start = low < 0.35 * high ? 0 : low;
    const x = f.across(start, high);
    const size = 240;
    const grid = Array.from({ length: size + 1 }, (_, i) => start + ((high - start) * i) / size);
    const densities = grid.map((rate) => Special.betaDensity(k, b, rate));
    const y = f.up(1.08 * Math.max(...densities));
    const curve = grid.map((rate, i) => [x(rate), y(densities[i])]);
    const area = (points, kind) =>
      f.add("path", { class: `area ${kind}`, d: `${path([...points, [f.right, f.bottom]])}Z` });
    area([[f.left, f.bottom], ...curve], "draws");
    if (above !== null) {
      const first = [x(alpha), y(Special.betaDensity(k, b, alpha))];
      area([[x(alpha), f.bottom], first, ...curve.filter((_, i) => grid[i] > alpha)], "above");
      f.add("text", { class: "title", x: f.left, y: 13 }, `Above the level: ${Numbers.percent(above)}`);
    }
    f.add("path", { class: "line curve", d: path(curve) });
    f.add("path", { class: "limit", d: path([[x(alpha), f.top - 12], [x(alpha), f.bottom]]) });
    flag(f, x(alpha), f.top - 4, `level ${Numbers.exactPercent(alpha)}`, "limit-text");
    f.add("path", { class: "mean", d: path([[x(mean), y(0)], [x(mean), y(0) - 12]]) });
    axisBelow(f, percentTicks(start, high, 5), x, `true ${name}`);
  }

  /* Counted rates with their intervals against the promise. */
  function intervals(place, { rows, label, axis, nameOf = null, left: wanted = 150 }) {
    const left = Math.min(wanted, Math.max(150, Math.round(0.4 * widthOf(place))));
    const f = frame(place, { height: 46 + 30 * rows.length, label, left, top: 8, bottom: 38 });
    const high = Math.min(1, 1.08 * Math.max(...rows.flatMap((r) => [r.high, r.promised || 0])));
    const x = f.across(0, high);
    const step = (f.bottom - f.top) / rows.length;
    for (const { value } of percentTicks(0, high, 5)) {
      f.add("path", { class: "grid", d: path([[x(value), f.top], [x(value), f.bottom]]) });
    }
    rows.forEach((row, i) => {
      const y = f.top + step * (i + 0.5);
      const name = nameOf ? nameOf(row) : row.group ?? "everybody";
      const most = nameOf ? Math.floor((left - 14) / 6.6) : 14;
      const end = nameOf ? Math.floor(most / 2) : 0; // both ends of a combination tell
      const shown = name.length > most ? `${name.slice(0, most - end - 1)}…${name.slice(name.length - end)}` : name;
      const text = nameOf ? shown : `${shown}, ${row.rate}`;
      f.add("text", { x: f.left - 10, y: y + 4, "text-anchor": "end" }, text);
      const kind = row.verdict.replace(" ", "-");
      f.add("path", { class: `bar ${kind}`, d: path([[x(row.low), y], [x(row.high), y]]) });
      if (row.promised !== null) {
        f.add("path", { class: "limit", d: path([[x(row.promised), y - 11], [x(row.promised), y + 11]]) });
      }
      if (row.value !== null) f.add("circle", { class: `dot ${kind}`, cx: x(row.value), cy: y, r: 5 });
    });
    axisBelow(f, percentTicks(0, high, 5), x, axis);
  }

  /* Small signs, all of one kind in one path. */
  function icons(place, { width, height, label, paths }) {
    const svg = element("svg", { viewBox: `-1 -1 ${width + 2} ${height + 2}`, role: "img", "aria-label": label });
    svg.append(element("title", {}, label), ...paths.map(({ kind, d }) => element("path", { class: `icon ${kind}`, d })));
    place.replaceChildren(svg);
  }

  /* One of them, for a legend. */
  function sign(kind, d) {
    const svg = element("svg", { viewBox: "-1 -1 12 12", "aria-hidden": "true" });
    svg.append(element("path", { class: `icon ${kind}`, d }));
    return svg;
  }

  return { drawForPaper, densities, tradeOff, trueRate, intervals, icons, sign };
})();
