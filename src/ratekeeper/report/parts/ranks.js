/* Counts, ranks, thresholds and p-values: what ratekeeper computes, from the same numbers.
 *
 * A cell holds the scores of both classes in one group as knots: distinct scores in ascending
 * order and, for each class, how many scores lie below and up to each of them. On a thinned page
 * some scores are no knots; counts between knots are then known within limits [least, most].
 */
const Ranks = (() => {
  // Two ways of computing a limit may differ by this share. Nearer ties go the strict way.
  const TIE = 1e-9;
  const EXACT_LEVEL_UP_TO = 1000;

  function makeRanks(tables) {
    const harmonic = new Map();

    /* The j-th of the counts with a limit of their own, and the last such count. */
    const spaced = (j) => j + Math.floor((j * j) / 16);
    function lastSpaced(count) {
      if (count < 0) return -1;
      let guess = Math.floor(8 * (Math.sqrt(1 + count / 4) - 1));
      if (spaced(guess + 1) <= count) guess += 1;
      if (spaced(guess) > count) guess -= 1;
      return guess;
    }

    function sharesTotal(n, lastLow, lastHigh) {
      if (!harmonic.has(n)) {
        let total = 0;
        for (let i = lastLow + lastHigh + 11; i >= 10; i -= 1) total += 1 / i;
        harmonic.set(n, total);
      }
      return harmonic.get(n);
    }

    /* The count whose Beta limit is taken, and the level of that limit. Null if not in the page. */
    function limit(method, m, n) {
      if (method.name === "high-probability") return { count: m, level: method.delta };
      if (n <= EXACT_LEVEL_UP_TO) {
        const level = (tables.levels[String(method.delta)] || {})[n];
        return level === undefined ? null : { count: m, level };
      }
      return bandLimit(m, n, method.delta);
    }

    /* A band of all counts by a union bound: the same for any n. */
    function bandLimit(m, n, delta) {
      const half = Math.floor(n / 2);
      const lastLow = lastSpaced(half);
      const lastHigh = lastSpaced(n - half - 1);
      const fromLow = lastSpaced(m - 1) + 1;
      const fromHigh = Math.min(lastSpaced(n - m), lastHigh);
      const isLow = fromLow <= lastLow;
      const place = isLow ? fromLow : lastLow + 1 + lastHigh - fromHigh;
      const share = 1 / ((place + 10) * sharesTotal(n, lastLow, lastHigh));
      return { count: isLow ? spaced(fromLow) : n - spaced(fromHigh), level: delta * share };
    }

    /* Whether the page holds what the method needs for n scores. */
    function knows(method, n) {
      if (method.name !== "simultaneous") return true;
      const isBand = method.delta >= 1e-6 && method.delta <= 1 - 1e-6;
      return isBand && (n === 0 || limit(method, 0, n) !== null);
    }

    /* The p-value of a count: m of n scores are at least as extreme. 1 without scores. */
    function pValue(method, m, n) {
      if (n === 0) return 1;
      if (method.name === "conformal") return (m + 1) / (n + 1);
      if (method.name === "empirical") return m / n;
      const { count, level } = limit(method, m, n);
      return count < n ? Special.betaUpperQuantile(count + 1, n - count, level) : 1;
    }

    /* Whether that p-value is at most alpha. */
    function isAtMost(method, m, n, alpha) {
      if (n === 0) return false;
      if (method.name === "conformal") return (m + 1) / (n + 1) <= alpha;
      if (method.name === "empirical") return m / n <= alpha;
      const { count, level } = limit(method, m, n);
      if (count >= n) return false;
      return Special.betaSurvival(count + 1, n - count, alpha * (1 - TIE)) <= level;
    }

    /* How many of the counts 0, 1, ..., n have a p-value of at most alpha. */
    function criticalRank(method, n, alpha) {
      const settled = tables.ties[`${method.name} ${method.delta} ${n} ${alpha}`];
      if (settled !== undefined) return settled;
      let low = 0;
      let high = n + 1;
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if (isAtMost(method, middle, n, alpha)) low = middle + 1;
        else high = middle;
      }
      return low;
    }

    /* Whether so many scores can promise alpha at all. */
    function canPromise(method, n, alpha) {
      const settled = tables.ties[`${method.name} ${method.delta} ${n} ${alpha}`];
      return settled === undefined ? isAtMost(method, 0, n, alpha) : settled > 0;
    }

    /* The smallest n that can promise alpha: { n, exact }, or null if it is not known here. */
    function smallestN(method, alpha) {
      if (method.name === "simultaneous") {
        const needs = tables.needs[String(method.delta)];
        if (!needs) return null;
        // Needs fall as alpha grows: that of the next smaller alpha of the table is enough.
        let i = tables.alphas.length - 1;
        while (i >= 0 && tables.alphas[i] > alpha) i -= 1;
        return i < 0 ? null : { n: needs[i], exact: tables.alphas[i] === alpha };
      }
      let high = 1;
      while (!isAtMost(method, 0, high, alpha)) high *= 2;
      let low = Math.max(1, Math.floor(high / 2));
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if (isAtMost(method, 0, middle, alpha)) high = middle;
        else low = middle + 1;
      }
      return { n: low, exact: true };
    }

    /* The highest rate at a count that the band allows; 1 of nothing. */
    function highest(m, n, delta) {
      if (m >= n) return 1;
      const { count, level } = bandLimit(m, n, delta);
      return count < n ? Special.betaUpperQuantile(count + 1, n - count, level) : 1;
    }

    return { knows, pValue, criticalRank, canPromise, smallestN, highest };
  }

  function bytes(text) {
    const raw = atob(text);
    const array = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i += 1) array[i] = raw.charCodeAt(i);
    return array;
  }

  /* Little-endian floating-point numbers, of 4 or 8 bytes. */
  function floats(text, width) {
    const array = bytes(text);
    const view = new DataView(array.buffer);
    const values = new Float64Array(array.length / width);
    for (let i = 0; i < values.length; i += 1) {
      values[i] = width === 4 ? view.getFloat32(4 * i, true) : view.getFloat64(8 * i, true);
    }
    return values;
  }

  /* Whole numbers, seven bits a byte, the lowest first; the eighth bit says that more follow. */
  function wholeNumbers(text) {
    const numbers = [];
    let value = 0;
    let scale = 1;
    for (const byte of bytes(text)) {
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) {
        numbers.push(value);
        value = 0;
        scale = 1;
      }
    }
    return numbers;
  }

  function readCell(packed, width) {
    const values = floats(packed.values, width);
    const below = [];
    const upto = [];
    for (const label of [0, 1]) {
      // In turn: how many lie between this knot and the last one, how many at this knot.
      const steps = wholeNumbers(packed.counts[label]);
      let total = 0;
      below.push([]);
      upto.push([]);
      for (let i = 0; i < values.length; i += 1) {
        total += steps[2 * i];
        below[label].push(total);
        total += steps[2 * i + 1];
        upto[label].push(total);
      }
    }
    return { values, below, upto, n: packed.n, complete: packed.complete };
  }

  /* All scores of several complete cells as one. */
  function pool(cells) {
    const all = new Float64Array([...new Set(cells.flatMap((cell) => [...cell.values]))]).sort();
    const merged = { values: all, below: [], upto: [], n: [], complete: true };
    for (const label of [0, 1]) {
      const below = new Array(all.length).fill(0);
      const upto = new Array(all.length).fill(0);
      for (const cell of cells) {
        let j = 0;
        let before = 0;
        for (let i = 0; i < all.length; i += 1) {
          below[i] += before;
          if (j < cell.values.length && cell.values[j] === all[i]) {
            before = cell.upto[label][j];
            j += 1;
          }
          upto[i] += before;
        }
      }
      merged.below.push(below);
      merged.upto.push(upto);
      merged.n.push(cells.reduce((sum, cell) => sum + cell.n[label], 0));
    }
    return merged;
  }

  /* Index of the last knot that is at most the score; -1 if none is. */
  function lastUpTo(values, score) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] <= score) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /* How many scores of a class are < score and <= score, each as [least, most]. */
  function counts(cell, label, score) {
    const i = lastUpTo(cell.values, score);
    if (i >= 0 && cell.values[i] === score) {
      const below = cell.below[label][i];
      const upto = cell.upto[label][i];
      return { below: [below, below], upto: [upto, upto] };
    }
    const least = i < 0 ? 0 : cell.upto[label][i];
    const most = i + 1 < cell.values.length ? cell.below[label][i + 1] : cell.n[label];
    return { below: [least, most], upto: [least, most] };
  }

  const fromTop = (n, [least, most]) => [n - most, n - least];

  /* How many scores are at least as extreme as the score. */
  function asExtreme(cell, label, tail, score) {
    const found = counts(cell, label, score);
    return tail === "low" ? found.upto : fromTop(cell.n[label], found.below);
  }

  /* How many scores lie strictly beyond it. */
  function beyond(cell, label, tail, score) {
    const found = counts(cell, label, score);
    return tail === "low" ? found.below : fromTop(cell.n[label], found.upto);
  }

  /* The k-th most extreme score of a class: { k, threshold }. On a thinned page perhaps with a
   * smaller k, the next one kept, which is stricter. */
  function orderStatistic(cell, label, tail, k) {
    const last = cell.values.length - 1;
    const n = cell.n[label];
    for (let step = 0, i = start(cell, label, tail, k); step <= last; step += 1) {
      if (i < 0 || i > last) break;
      const below = cell.below[label][i];
      const upto = cell.upto[label][i];
      if (upto > below) {
        const most = tail === "low" ? upto : n - below;
        return { k: Math.min(k, most), threshold: cell.values[i] };
      }
      i += tail === "low" ? -1 : 1;
    }
    return { k: 0, threshold: tail === "low" ? -Infinity : Infinity };
  }

  /* The last knot, seen from the extreme end, with fewer than k scores strictly beyond it. */
  function start(cell, label, tail, k) {
    const size = cell.values.length;
    let low = 0;
    let high = size;
    while (low < high) {
      const middle = (low + high) >> 1;
      const i = tail === "low" ? middle : size - 1 - middle;
      const count = tail === "low" ? cell.below[label][i] : cell.n[label] - cell.upto[label][i];
      if (count < k) low = middle + 1;
      else high = middle;
    }
    return tail === "low" ? low - 1 : size - low;
  }

  /* A score moved by a number, where that is inexact to the last one before it. */
  function moved(score, by) {
    const total = score + by;
    if (by === 0 || !Number.isFinite(score)) return score;
    if (!Number.isFinite(total)) return by > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE;
    const virtual = total - score;
    const lacking = score - (total - virtual) + (by - virtual);
    return (by > 0 ? lacking < 0 : lacking > 0) ? neighbour(total, by < 0) : total;
  }

  /* The next number above or below. */
  function neighbour(value, isAbove) {
    if (value === 0) return isAbove ? Number.MIN_VALUE : -Number.MIN_VALUE;
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    view.setBigInt64(0, view.getBigInt64(0) + (value > 0 === isAbove ? 1n : -1n));
    return view.getFloat64(0);
  }

  return { makeRanks, readCell, pool, asExtreme, beyond, orderStatistic, moved };
})();
