/* What a choice of level and method gives on the calibration, group by group. */
const Model = (() => {
  const RANK_METHODS = ["conformal", "high-probability", "simultaneous", "empirical"];

  const add = ([a, b], [c, d]) => [a + c, b + d];
  const without = (n, [least, most]) => [n - most, n - least];

  function makeModel(facts) {
    const cells = facts.scores.cells.map((packed) => Ranks.readCell(packed, facts.width));
    const pooled = pooledCell();
    const ranks = Ranks.makeRanks(facts.tables);

    function pooledCell() {
      if (facts.groups === null) return cells[0];
      if (facts.scores.pooled) return Ranks.readCell(facts.scores.pooled, facts.width);
      return Ranks.pool(cells);
    }

    /* A score on the safe side, and a threshold as far on its own: what a tolerance asks for. */
    const inward = (tail) => (tail === "low" ? facts.tolerance : -facts.tolerance);
    const safeScore = (score, tail) => Ranks.moved(score, inward(tail));
    const safeThreshold = (threshold, tail) => Ranks.moved(threshold, -inward(tail));

    const certifiedChoice = (test) => ({ alpha: test.alpha, method: test.method });

    function isCertified(test, choice) {
      return (
        choice.alpha === test.alpha &&
        choice.method.name === test.method.name &&
        (choice.method.delta ?? null) === (test.method.delta ?? null)
      );
    }

    /* The two errors of a cell at a threshold. */
    function errors(test, cell, threshold) {
      const other = 1 - test.nullClass;
      return {
        target: Ranks.beyond(cell, test.nullClass, test.tail, threshold),
        other: without(cell.n[other], Ranks.beyond(cell, other, test.tail, threshold)),
      };
    }

    /* How often the true rate is above alpha is true only of an alpha that was fixed in advance;
       of cross-fitted scores nothing is known. */
    function realised(k, n, beyond, alpha, fixedAlpha) {
      if (facts.crossFitted) return null;
      const found = Special.realisedRate(k, n, beyond, alpha);
      return fixedAlpha ? found : { ...found, above: null };
    }

    function fromCertificate(test, i) {
      const fact = test.cells[i];
      const cell = cells[i];
      const threshold = fact.threshold === null ? null : Number(fact.threshold);
      return {
        k: fact.k,
        wantedK: fact.k,
        heldK: fact.k,
        threshold,
        pooled: fact.pooled,
        target: fact.targetErrors === null ? null : [fact.targetErrors, fact.targetErrors],
        other: [fact.otherErrors, fact.otherErrors],
        realised: fact.k === null ? null : realised(fact.k, cell.n[test.nullClass], fact.beyond, test.alpha, test.fixedAlpha),
        remark: fact.remark,
      };
    }

    function fromRanks(test, { alpha, method }, i) {
      const cell = cells[i];
      const n = cell.n[test.nullClass];
      if (!ranks.knows(method, n)) return { unknown: true };
      const wantedK = ranks.criticalRank(method, n, alpha);
      if (wantedK > 0) {
        const found = Ranks.orderStatistic(cell, test.nullClass, test.tail, wantedK);
        const [k, threshold] = [found.k, safeThreshold(found.threshold, test.tail)];
        const counted = errors(test, cell, threshold);
        // A threshold that a tolerance moves is not the score of its rank: nothing bounds it from below.
        const beyond = facts.tolerance > 0 ? 0 : counted.target[0];
        const rate = realised(k, n, beyond, alpha, method.name !== "simultaneous");
        return { k, wantedK, heldK: k, threshold, pooled: false, realised: rate, ...counted };
      }
      if (facts.groups !== null && test.thinGroups === "pool") {
        const all = pooled.n[test.nullClass];
        if (!ranks.knows(method, all)) return { unknown: true };
        const wanted = ranks.criticalRank(method, all, alpha);
        if (wanted > 0) {
          const found = Ranks.orderStatistic(pooled, test.nullClass, test.tail, wanted);
          const threshold = safeThreshold(found.threshold, test.tail);
          return {
            k: null, // it is no rank among the scores of this group
            wantedK: wanted,
            heldK: found.k,
            threshold,
            pooled: true,
            realised: null,
            ...errors(test, cell, threshold),
          };
        }
      }
      return { impossible: true, needed: ranks.smallestN(method, alpha) };
    }

    /* One test at one choice: its cells, and both errors over all of them. */
    function outcome(test, choice) {
      const certified = isCertified(test, choice);
      const found = cells.map((cell, i) => {
        const result = certified ? fromCertificate(test, i) : fromRanks(test, choice, i);
        const n = cell.n[test.nullClass];
        const nOther = cell.n[1 - test.nullClass];
        return {
          group: facts.groups === null ? null : facts.groups[i],
          exactGroup: facts.groups === null ? null : facts.exactGroups[i],
          n,
          nOther,
          ...result,
          // The threshold depends on the models that gave the cross-fitted scores: no interval.
          interval:
            result.other && !facts.crossFitted
              ? result.other.map((count, end) => Special.clopperPearson(count, nOther)[end])
              : null,
        };
      });
      const outside = hidden(test, choice, certified);
      return {
        test,
        choice,
        certified,
        promised: certified ? test.promised : !facts.crossFitted && choice.method.name !== "empirical",
        cells: found,
        impossible: [...found.filter((cell) => cell.impossible), ...outside.impossible],
        unknown: [...found.filter((cell) => cell.unknown), ...outside.unknown],
        overall: overall(test, certified, found),
      };
    }

    /* The other error over all groups; of a what-if on a page without some groups, over the rest. */
    function overall(test, certified, found) {
      if (certified) {
        const all = [test.otherErrors, test.otherErrors];
        return { other: all, nOther: facts.totals[1 - test.nullClass], ofShown: false };
      }
      if (!found.every((cell) => cell.other)) return null;
      return {
        other: found.map((cell) => cell.other).reduce(add),
        nOther: found.reduce((sum, cell) => sum + cell.nOther, 0),
        ofShown: facts.hiddenGroups > 0,
      };
    }

    /* Where the groups outside the page would make the promise impossible. */
    function hidden(test, { alpha, method }, certified) {
      const found = { impossible: [], unknown: [] };
      if (certified || test.thinGroups === "pool") return found;
      const needed = () => ranks.smallestN(method, alpha);
      for (const [n, groups] of test.hiddenSizes) {
        if (!ranks.knows(method, n)) found.unknown.push({ n, groups });
        else if (!ranks.canPromise(method, n, alpha)) found.impossible.push({ n, groups, needed: needed() });
      }
      return found;
    }

    /* The one threshold of a test of both rates where its two cross; null where they do not. */
    function crossed(outcomes, i) {
      if (outcomes.length === 1) return null;
      const [fnr, fpr] = outcomes.map((o) => o.cells[i].threshold ?? null);
      const isBeyond = (one, two) => (facts.higherIsPositive ? one > two : one < two);
      if (fnr === null || fpr === null || !isBeyond(fnr, fpr)) return null;
      const middle = fpr / 2 + fnr / 2;
      const isBetween = isBeyond(middle, fpr) && !isBeyond(middle, fnr);
      return isBetween && Number.isFinite(middle) ? middle : fnr;
    }

    /* The controlled errors of the whole test in a cell: where thresholds cross, at the one between. */
    function targetErrors(outcomes, which, i) {
      const { test, cells: found } = outcomes[which];
      const middle = crossed(outcomes, i);
      if (middle === null) return found[i].target;
      const count = test.nullClass === 1 ? Ranks.beyond : Ranks.asExtreme;
      return count(cells[i], test.nullClass, test.tail, middle);
    }

    /* On how many calibration objects of each class a test of both rates makes no decision. */
    function undecided(outcomes) {
      if (outcomes.every((o) => o.certified)) {
        return facts.undecided.map((n, label) => ({ count: [n, n], n: facts.totals[label], ofShown: false }));
      }
      return [0, 1].map((label) => {
        let count = [0, 0];
        for (let i = 0; i < cells.length; i += 1) {
          const limits = outcomes.map((o) => o.cells[i].threshold ?? null);
          if (limits.includes(null)) return null;
          if (crossed(outcomes, i) !== null) continue;
          const out = outcomes
            .map((o, j) => Ranks.beyond(cells[i], label, o.test.tail, limits[j]))
            .reduce(add);
          const left = without(cells[i].n[label], out);
          count = add(count, [Math.max(0, left[0]), Math.max(0, left[1])]);
        }
        return { count, n: total(label), ofShown: facts.hiddenGroups > 0 };
      });
    }

    const total = (label) => cells.reduce((sum, cell) => sum + cell.n[label], 0);

    /* P-values and decision for one score: for each class { p, atMost }, or null if unknown. */
    function judge(score, i, outcomes) {
      const p = [0, 1].map((label) => {
        const own = outcomes.find((o) => o.test.nullClass === label);
        const { method } = (own || outcomes[0]).choice;
        if (!facts.totals[label]) return { unknown: true };
        if (!RANK_METHODS.includes(method.name)) return null;
        const cell = own && own.cells[i].pooled ? pooled : cells[i];
        const tail = (label === 1) === facts.higherIsPositive ? "low" : "high";
        const n = cell.n[label];
        if (!ranks.knows(method, n)) return null;
        const [least, most] = Ranks.asExtreme(cell, label, tail, safeScore(score, tail));
        return { p: ranks.pValue(method, most, n), atMost: least !== most, m: most, n };
      });
      const out = outcomes.map(({ test, cells: found }) => {
        const { threshold } = found[i];
        if (found[i].impossible) return "impossible";
        if (threshold === null || threshold === undefined) return null;
        return test.tail === "low" ? score < threshold : score > threshold;
      });
      const middle = crossed(outcomes, i);
      if (middle !== null && !out.includes("impossible")) {
        return { p, decision: Number(facts.higherIsPositive ? score >= middle : score <= middle) };
      }
      return { p, decision: decide(outcomes, out) };
    }

    /* 0 or 1 for a class, "undecided" or "impossible"; null if no threshold decides. */
    function decide(outcomes, out) {
      if (out.includes("impossible")) return "impossible";
      if (out.includes(null)) return null;
      if (outcomes.length === 1) {
        const { nullClass } = outcomes[0].test;
        return out[0] ? 1 - nullClass : nullClass;
      }
      // Thresholds that do not cross never reject both classes.
      const [notPositive, notNegative] = out;
      return notPositive || notNegative ? Number(notNegative) : "undecided";
    }

    /* Both error shares at every knot of a cell, from the extreme end on. */
    function curve(test, i) {
      const cell = cells[i];
      const other = 1 - test.nullClass;
      const points = [];
      for (let j = 0; j < cell.values.length; j += 1) {
        const low = test.tail === "low";
        const count = (label) => (low ? cell.below[label][j] : cell.n[label] - cell.upto[label][j]);
        points.push({
          target: count(test.nullClass) / cell.n[test.nullClass],
          other: 1 - count(other) / cell.n[other],
        });
      }
      return test.tail === "low" ? points : points.reverse();
    }

    return {
      cells,
      pooled,
      ranks,
      certifiedChoice,
      isCertified,
      outcome,
      crossed,
      targetErrors,
      undecided,
      judge,
      curve,
      complete: cells.every((cell) => cell.complete),
    };
  }

  return { makeModel, RANK_METHODS };
})();
