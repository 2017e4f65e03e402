/* Numbers as people read and write them. */
const Numbers = (() => {
  const count = (n) => n.toLocaleString("en-US");

  /* A rate with two decimals, or two digits where it is tiny. */
  function percent(rate) {
    const value = 100 * rate;
    return rate === 0 || rate >= 0.001 ? `${value.toFixed(2)}%` : `${Number(value.toPrecision(2))}%`;
  }

  /* A number times a power of ten, by moving the point in its shortest text: nothing is rounded. */
  function shifted(value, places) {
    const [digits, exponent] = Number(value).toExponential().split("e");
    return Number(`${digits}e${Number(exponent) + places}`);
  }

  /* A promised rate, which must not be rounded. */
  const exactPercent = (rate) => `${shifted(rate, 2)}%`;

  /* The rate that is written in percent; NaN if it is not one strictly between 0 and 1. */
  function fromPercent(text) {
    const trimmed = text.trim().replace("%", "");
    const rate = trimmed === "" ? NaN : shifted(Number(trimmed), -2);
    return rate > 0 && rate < 1 ? rate : NaN;
  }

  /* The shortest text that is this score in its own number type. */
  function score(value, width) {
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (width === 8) return String(value);
    for (let digits = 1; digits < 10; digits += 1) {
      const text = value.toPrecision(digits);
      if (Math.fround(Number(text)) === value) return String(Number(text));
    }
    return String(value);
  }

  /* A score as the number type of the calibration holds it. */
  function readScore(text, width) {
    const value = text.trim() === "" ? NaN : Number(text);
    const rounded = width === 4 ? Math.fround(value) : value;
    // Beyond the range of float32 it is compared as it is, not as infinity.
    return Number.isFinite(rounded) === Number.isFinite(value) ? rounded : value;
  }

  /* "112 of 1,000": how many of a round number a rate makes. */
  function outOf(rate) {
    let base = 1000;
    while (rate > 0 && rate * base < 1 && base < 1e9) base *= 10;
    const number = rate * base;
    const text = number >= 10 || number === 0 ? count(Math.round(number)) : number.toPrecision(2);
    return `${number >= 10 ? text : Number(text)} of ${count(base)}`;
  }

  /* A count that is known exactly, or within limits. */
  const range = ([least, most]) =>
    least === most ? count(least) : `${count(least)} to ${count(most)}`;

  /* Round numbers for the ticks of an axis. */
  function ticks(low, high, wanted) {
    const width = high / 2 - low / 2;
    const rough = (width / wanted) * 2;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) || 10 * power;
    const found = [];
    if (!(step > 0) || !Number.isFinite(step)) return found;
    const first = Math.ceil(low / step);
    for (let i = first; i * step <= high && found.length < 20; i += 1) {
      found.push(Number((i * step).toPrecision(12)));
    }
    return found;
  }

  return { count, percent, exactPercent, fromPercent, score, readScore, outOf, range, ticks };
})();
