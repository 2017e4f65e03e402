/* Pictures that compute: each follows its sliders, offline, with the report's own functions.
 *
 * Loaded after the report's special.js, ranks.js, numbers.js, charts.js and alerts.js, as classic
 * scripts. A picture is a figure with the class rk-picture; its data-picture names the function
 * that draws it. What it says is also in data attributes of the figure, in full precision.
 */
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const RANKS = Ranks.makeRanks({ ties: {}, levels: {}, needs: {}, alphas: [] });
  const DELTA = 0.05;
  const METHODS = {
    tuned: { name: "empirical", title: "Tuned threshold" },
    conformal: { name: "conformal", title: "Conformal" },
    "high-probability": { name: "high-probability", delta: DELTA, title: "HighProbability" },
  };

  function element(name, attributes = {}, text = null) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  function canvas(place, width, height, label) {
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    svg.append(element("title", {}, label));
    place.replaceChildren(svg);
    return (name, attributes, text) => svg.appendChild(element(name, attributes, text));
  }

  const widthOf = (place) => Math.max(280, Math.round(place.clientWidth) || 520);
  const short = (value) => Number(value.toFixed(2));

  /* The parts of a figure: its controls by data-control, where it draws, where it speaks. */
  function partsOf(figure) {
    const controls = {};
    for (const control of figure.querySelectorAll("[data-control]")) controls[control.dataset.control] = control;
    return { controls, chart: figure.querySelector(".rk-chart"), said: figure.querySelector(".rk-said") };
  }

  /* The number of a slider, and its text beside it. */
  function read(control, write, scale = 1) {
    const value = Number(control.value) / scale;
    const text = write(value);
    control.setAttribute("aria-valuetext", text);
    control.parentElement.querySelector("output").textContent = text;
    return value;
  }

  function tell(figure, said, text, facts) {
    if (said.textContent !== text) said.textContent = text;
    for (const [key, value] of Object.entries(facts)) figure.dataset[key] = String(value);
  }

  /* Scores of one class as the report holds them: distinct, ascending, with counts. */
  function cellOf(scores) {
    const values = [...new Set(scores)].sort((a, b) => a - b);
    const below = values.map((value) => scores.filter((score) => score < value).length);
    const upto = values.map((value) => scores.filter((score) => score <= value).length);
    const none = values.map(() => 0);
    return { values, below: [none, below], upto: [none, upto], n: [0, scores.length], complete: true };
  }

  /* (a) A score moves; as many of the positives as are as low or lower make the p-value. */
  function pValue(figure) {
    const { controls, chart, said } = partsOf(figure);
    const scores = JSON.parse(figure.dataset.scores);
    const cell = cellOf(scores);
    return () => {
      const score = read(controls.score, (value) => value.toFixed(2));
      const n = scores.length;
      const [, m] = Ranks.asExtreme(cell, 1, "low", score);
      const p = RANKS.pValue(METHODS.conformal, m, n);
      const high = RANKS.pValue(METHODS["high-probability"], m, n);
      const width = widthOf(chart);
      const x = (value) => 12 + (width - 24) * value;
      const label = `${n} held-out positives on a line from 0 to 1; ${m} of them have a score of at most ${score.toFixed(2)}.`;
      const add = canvas(chart, width, 132, label);
      add("rect", { class: "area above", x: x(0), y: 24, width: short(x(score) - x(0)), height: 74 });
      add("path", { class: "axis", d: `M${x(0)} 98H${x(1)}` });
      const heights = new Map();
      for (const value of [...scores].sort((a, b) => a - b)) {
        const column = Math.round((x(value) - 12) / 9);
        const level = heights.get(column) || 0;
        heights.set(column, level + 1);
        const isExtreme = value <= score;
        const at = { cx: short(x(value)), cy: 91 - 9 * level, r: isExtreme ? 4 : 3.4 };
        add("circle", { class: `dot ${isExtreme ? "extreme" : "usual"}`, ...at });
      }
      add("path", { class: "limit", d: `M${short(x(score))} 18V104` });
      const end = score > 0.5;
      const flag = { class: "limit-text", x: short(x(score) + (end ? -6 : 6)), y: 14, "text-anchor": end ? "end" : "start" };
      add("text", flag, `new score ${score.toFixed(2)}`);
      for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
        const anchor = ["start", "middle", "end"][tick === 0 ? 0 : tick === 1 ? 2 : 1];
        add("text", { x: short(x(tick)), y: 114, "text-anchor": anchor }, String(tick));
      }
      add("text", { class: "title", x: width / 2, y: 129, "text-anchor": "middle" }, "score");
      const text =
        `m = ${m} of n = ${n} positives are as low or lower. ` +
        `Conformal: p1 = (${m} + 1)/(${n} + 1) = ${Numbers.pValue(p)}. ` +
        `HighProbability (delta 5%): p1 = ${Numbers.pValue(high)}.`;
      tell(figure, said, text, { m, n, p, high });
    };
  }

  /* (b) The distribution of the true rate of a test, and the part of it above alpha. */
  function realisedRate(figure) {
    const { controls, chart, said } = partsOf(figure);
    return () => {
      const n = read(controls.n, Numbers.count);
      const alpha = read(controls.alpha, Numbers.exactPercent, 100);
      const method = METHODS[controls.method.value];
      const k = RANKS.criticalRank(method, n, alpha);
      if (k === 0) {
        const needed = RANKS.smallestN(method, alpha).n;
        chart.replaceChildren();
        const text = `${method.title} cannot promise ${Numbers.exactPercent(alpha)} with ${Numbers.count(n)} positives: it needs ${Numbers.count(needed)}.`;
        tell(figure, said, text, { k, n, alpha, above: "", mean: "", needed });
        return;
      }
      const realised = Special.realisedRate(k, n, null, alpha);
      const above = Numbers.percent(realised.above);
      const label = `The true FNR follows Beta(${k}, ${n + 1 - k}); ${above} of it lies above ${Numbers.exactPercent(alpha)}.`;
      Charts.trueRate(chart, { realised, alpha, name: "FNR", label });
      const text =
        `The threshold is number ${Numbers.count(k)} of ${Numbers.count(n)}, counted from below. The true rate follows ` +
        `Beta(${k}, ${n + 1 - k}): ${Numbers.percent(realised.mean)} on average, above ` +
        `${Numbers.exactPercent(alpha)} in ${above} of deployments.`;
      tell(figure, said, text, { k, n, alpha, above: realised.above, mean: realised.mean, needed: "" });
    };
  }

  /* Uniform numbers from a seed, the same everywhere (mulberry32). */
  function uniform(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /* The k-th smallest of n uniform numbers for several k: sums of exponential gaps, scaled. That is
     the true rate of a threshold at the k-th calibration score, if scores are continuous. */
  function orderStatistics(draw, n, ranks) {
    const sums = [0];
    for (let i = 0; i <= n; i += 1) sums.push(sums[i] - Math.log(1 - draw()));
    return ranks.map((k) => (k === 0 ? null : sums[k] / sums[n + 1]));
  }

  /* (c) Deployments: the same calibration sets for a tuned threshold and for two certified ones. */
  function deployments(figure) {
    const { controls, chart, said } = partsOf(figure);
    const SETS = 200;
    const DOT_COLUMNS = 64;
    const names = Object.keys(METHODS);
    let seed = 3;
    function draw() {
      const n = read(controls.n, Numbers.count);
      const alpha = read(controls.alpha, Numbers.exactPercent, 100);
      const ranks = names.map((name) => RANKS.criticalRank(METHODS[name], n, alpha));
      const shares = ranks.map((k) => (k === 0 ? null : Special.realisedRate(k, n, null, alpha).above));
      const next = uniform(seed);
      const sets = Array.from({ length: SETS }, () => orderStatistics(next, n, ranks));
      const most = Math.min(1, Math.max(2 * alpha, ...sets.map((rates) => Math.max(...rates))));
      const width = widthOf(chart);
      const x = (rate) => 10 + ((width - 20) * rate) / most;
      // Columns end at alpha, so that no column is on both sides of it.
      const across = alpha / Math.max(1, Math.round((DOT_COLUMNS * alpha) / most));
      const size = Math.ceil(most / across);
      const step = x(across) - x(0);
      const counts = names.map((_, i) => sets.filter((rates) => rates[i] !== null && rates[i] > alpha).length);
      const columns = names.map((_, i) => {
        const found = Array.from({ length: size + 1 }, () => []);
        for (const { [i]: rate } of sets) {
          if (rate !== null) found[Math.floor(rate / across)].push(rate);
        }
        return found.map((rates) => rates.sort((a, b) => a - b));
      });
      const spoken = names.map((name, i) =>
        ranks[i] === 0 ? `${METHODS[name].title}: not possible with ${n}` : `${METHODS[name].title}: ${counts[i]} of ${SETS}`,
      );
      const label = `Deployments whose true rate is above ${Numbers.exactPercent(alpha)}. ${spoken.join("; ")}.`;
      const tallest = columns.map((found) => Math.max(1, ...found.map((rates) => rates.length)));
      const unit = Math.min(step, 5);
      const tops = tallest.map((height) => 30 + unit * height);
      const total = tops.reduce((sum, height) => sum + height, 0);
      const add = canvas(chart, width, total + 34, label);
      let floor = 0;
      names.forEach((name, i) => {
        floor += tops[i];
        const title = shares[i] === null ? spoken[i] : `${METHODS[name].title}: ${counts[i]} above, ${(SETS * shares[i]).toFixed(1)} expected`;
        add("text", { class: "strong", x: 10, y: short(floor - tops[i] + 15) }, title);
        add("path", { class: "grid", d: `M10 ${short(floor)}H${width - 10}` });
        const dots = { kept: "", broken: "" };
        columns[i].forEach((rates, column) => {
          rates.forEach((rate, level) => {
            const kind = rate > alpha ? "broken" : "kept";
            const [left, top, side] = [10 + column * step, floor - unit * (level + 1), unit - 1];
            dots[kind] += `M${short(left)} ${short(top)}h${short(side)}v${short(side)}h${short(-side)}z`;
          });
        });
        add("path", { class: "dot kept", d: dots.kept });
        add("path", { class: "dot broken", d: dots.broken });
        add("path", { class: "limit", d: `M${short(x(alpha))} ${short(floor - tops[i] + 22)}V${short(floor)}` });
      });
      for (const tick of Numbers.ticks(0, most, 4)) {
        const anchor = x(tick) < 20 ? "start" : x(tick) > width - 24 ? "end" : "middle";
        add("text", { x: short(x(tick)), y: total + 15, "text-anchor": anchor }, `${Number((100 * tick).toPrecision(6))}%`);
      }
      add("text", { class: "title", x: width / 2, y: total + 31, "text-anchor": "middle" }, "true FNR of a deployment");
      const text = `Of ${SETS} deployments, each with its own ${Numbers.count(n)} held-out positives, above ${Numbers.exactPercent(alpha)}: ${spoken.join("; ")}.`;
      const facts = { n, alpha, seed, sets: SETS };
      names.forEach((name, i) => {
        const key = name === "high-probability" ? "high" : name;
        facts[`${key}Count`] = shares[i] === null ? "" : counts[i];
        facts[`${key}Exact`] = shares[i] ?? "";
      });
      tell(figure, said, text, facts);
    }
    controls.again.addEventListener("click", () => {
      seed += 1;
      draw();
    });
    return draw;
  }

  /* (d) 1,000 objects at a prevalence: found, false alarms, missed and the rest. */
  function prevalence(figure) {
    const { controls, chart, said } = partsOf(figure);
    const legend = figure.querySelector(".rk-legend");
    const called = JSON.parse(figure.dataset.called);
    const words = { found: "found", false: "false alarms", missed: "missed", rest: "negatives, not flagged" };
    return () => {
      const share = stepShare(read(controls.prevalence, (step) => Numbers.exactPercent(stepShare(step))));
      const found = Practice.statement(called, share);
      const { exact, whole } = Practice.icons(found, share);
      const width = widthOf(chart);
      const across = width < 480 ? 25 : 40;
      const paths = KINDS.map(() => "");
      let at = 0;
      whole.forEach((number, i) => {
        for (let j = 0; j < number; j += 1, at += 1) {
          paths[i] += SIGNS[KINDS[i]](14 * (at % across), 14 * Math.floor(at / across));
        }
      });
      const shown = KINDS.filter((kind) => kind in words);
      const word = (kind) => `${Practice.countText(exact[KINDS.indexOf(kind)])} ${words[kind]}`;
      const label = `1,000 objects: ${shown.map(word).join(", ")}.`;
      const size = { width: 14 * across - 4, height: 14 * (1000 / across) - 4 };
      Charts.icons(chart, { ...size, label, paths: KINDS.map((kind, i) => ({ kind, d: paths[i] })) });
      legend.replaceChildren(
        ...shown.map((kind) => {
          const item = document.createElement("li");
          item.append(Charts.sign(kind, SIGNS[kind](0, 0)), word(kind));
          return item;
        }),
      );
      const precision = Practice.shareText(found.precision[0]);
      const text =
        `If ${Numbers.exactPercent(share)} are positive, ${Practice.countText(found.alerts[0])} of 1,000 objects are flagged, ` +
        `${Practice.countText(found.falseAlerts[0])} of them falsely: ${precision} of the alerts are real. The test is the same.`;
      tell(figure, said, text, {
        share,
        alerts: found.alerts[0],
        falseAlerts: found.falseAlerts[0],
        missed: found.missed[0],
        precision: found.precision[0],
      });
    };
  }

  /* The prevalences of the slider: round numbers from 0.1% to 50%. */
  const ROUND = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50];
  const stepShare = (step) => ROUND[step] / 100;

  const DRAWN = { "p-value": pValue, "realised-rate": realisedRate, deployments, prevalence };

  function start() {
    const redraw = [];
    for (const figure of document.querySelectorAll("figure.rk-picture")) {
      const draw = DRAWN[figure.dataset.picture](figure);
      figure.querySelector(".rk-body").hidden = false;
      for (const control of figure.querySelectorAll("input, select")) control.addEventListener("input", draw);
      draw();
      redraw.push(draw);
    }
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth === width) return; // the bar of a phone's browser comes and goes
      width = window.innerWidth;
      redraw.forEach((draw) => draw());
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
