/* Beta distributions in double precision, for whole-number parameters up to ten million.
 *
 * The factor x^a (1 - x)^b / B(a, b) is written with deviances and Stirling errors, never with
 * differences of large logarithms, so it keeps twelve digits where log-gamma would keep seven.
 */
const Special = (() => {
  const HALF_LOG_2PI = 0.9189385332046727;
  const EPSILON = Number.EPSILON;

  /* log(gamma(z)) - ((z - 1/2) log z - z + log(2 pi) / 2), for z >= 1. */
  function stirlingError(z) {
    if (z < 16) {
      // gamma(z + 1) = z gamma(z), down to where the series is exact.
      let shift = 0;
      let up = z;
      while (up < 16) {
        shift += Math.log(up);
        up += 1;
      }
      const high = (up - 0.5) * Math.log(up) - up + stirlingError(up);
      return high - shift - ((z - 0.5) * Math.log(z) - z);
    }
    const w = 1 / (z * z);
    return (
      (1 / 12 -
        w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * (691 / 360360)))))) /
      z
    );
  }

  /* z log(z / m) + m - z, where gap = z - m, without cancellation where the gap is small. */
  function deviance(z, m, gap) {
    if (Math.abs(gap) > 0.1 * (z + m)) return z * Math.log(z / m) - gap;
    const v = gap / (z + m);
    const square = v * v;
    let power = 2 * z * v;
    let total = gap * v;
    for (let j = 3; j < 200; j += 2) {
      power *= square;
      const next = total + power / j;
      if (next === total) break;
      total = next;
    }
    return total;
  }

  /* a - (a + b) x, from the smaller of x and y = 1 - x, which has the more digits. */
  const distance = (a, b, x, y) => (x <= 0.5 ? a - (a + b) * x : (a + b) * y - b);

  /* log of x^a (1 - x)^b / B(a, b). */
  function logFactor(a, b, x) {
    const n = a + b;
    const y = 1 - x;
    const gap = distance(a, b, x, y);
    return (
      0.5 * Math.log((a / n) * b) -
      HALF_LOG_2PI +
      (stirlingError(n) - stirlingError(a) - stirlingError(b)) -
      deviance(a, n * x, gap) -
      deviance(b, n * y, -gap)
    );
  }

  /* I_x(a, b) / factor for x below the mean: a continued fraction by Lentz's method, in the form
   * of Didonato and Morris, which needs about sqrt(a + b) steps at most. */
  function fraction(a, b, x, y) {
    const lambda = distance(a, b, x, y);
    let f = (a * (lambda + 1)) / (a + 1);
    let c = f;
    let d = 0;
    for (let m = 1; m < 100000; m += 1) {
      const low = a + 2 * m - 1;
      const alpha = ((a + m - 1) / low) * ((a + b + m - 1) / low) * m * (b - m) * x * x;
      const beta =
        m + (m * (b - m) * x) / low + ((a + m) * (lambda + 1 + m * (1 + y))) / (low + 2);
      c = beta + alpha / c;
      d = 1 / (beta + alpha * d);
      const step = c * d;
      f *= step;
      if (Math.abs(step - 1) < EPSILON) break;
    }
    return 1 / f;
  }

  /* Both tails of Beta(a, b) at x: the smaller one is exact, the other its complement. */
  function tails(a, b, x) {
    const y = 1 - x;
    if (x <= 0) return { lower: 0, upper: 1 };
    if (y <= 0) return { lower: 1, upper: 0 };
    const factor = Math.exp(logFactor(a, b, x));
    if (x <= a / (a + b)) {
      const lower = factor * fraction(a, b, x, y);
      return { lower, upper: 1 - lower };
    }
    const upper = factor * fraction(b, a, y, x);
    return { lower: 1 - upper, upper };
  }

  const betaCdf = (a, b, x) => tails(a, b, x).lower;
  const betaSurvival = (a, b, x) => tails(a, b, x).upper;

  function betaDensity(a, b, x) {
    if (x <= 0) return a === 1 ? b : 0;
    if (x >= 1) return b === 1 ? a : 0;
    return Math.exp(logFactor(a, b, x) - Math.log(x) - Math.log1p(-x));
  }

  /* x with the given tail probability. Newton's method for the logarithm of the tail, which is
   * concave for a, b >= 1, kept inside a bracket that shrinks at every step. */
  function solve(a, b, probability, tail) {
    if (probability <= 0) return tail === "lower" ? 0 : 1;
    if (probability >= 1) return tail === "lower" ? 1 : 0;
    const target = Math.log(probability);
    let low = 0;
    let high = 1;
    let x = a / (a + b);
    for (let i = 0; i < 200; i += 1) {
      const t = tails(a, b, x);
      const value = t[tail];
      const miss = Math.log(value) - target;
      if ((tail === "lower") === miss > 0) high = x;
      else low = x;
      const slope = betaDensity(a, b, x) / value;
      let next = x - (tail === "lower" ? miss : -miss) / slope;
      if (!(next > low && next < high)) next = low > 0 ? Math.sqrt(low * high) : high / 16;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (Math.abs(next - x) <= 2 * EPSILON * x || high - low <= EPSILON * high) return next;
      x = next;
    }
    return x;
  }

  const betaQuantile = (a, b, probability) => solve(a, b, probability, "lower");
  const betaUpperQuantile = (a, b, probability) => solve(a, b, probability, "upper");

  /* The exact 95% interval of a rate. */
  function clopperPearson(errors, n, confidence = 0.95) {
    const tail = (1 - confidence) / 2;
    const right = n - errors;
    return [
      errors === 0 ? 0 : betaQuantile(errors, right + 1, tail),
      right === 0 ? 1 : betaUpperQuantile(errors + 1, right, tail),
    ];
  }

  /* Bounds of the true rate: its distribution is at most Beta(k, n + 1 - k), and the interval holds
   * whatever is tied. `beyond` scores are strictly beyond the threshold; null if ties are broken. */
  function realisedRate(k, n, beyond, alpha) {
    const b = n + 1 - k;
    return {
      k,
      n,
      beyond,
      mean: k / (n + 1),
      low: atLeast(k, n, beyond, 0.05),
      high: betaQuantile(k, b, 0.95),
      above: betaSurvival(k, b, alpha),
    };
  }

  /* A rate that the true one is at least, except with this chance. */
  function atLeast(k, n, beyond, error) {
    const j = beyond === null ? k : beyond;
    return j === 0 ? 0 : betaQuantile(j, n + 1 - j, error);
  }

  return {
    atLeast,
    betaCdf,
    betaSurvival,
    betaDensity,
    betaQuantile,
    betaUpperQuantile,
    clopperPearson,
    realisedRate,
  };
})();
