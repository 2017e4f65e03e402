/* Numbers as people read and write them. */
const Numbers = (() => {
  const SHORT = 6;
  const TINY = 1e-8;
  const count = (n) => n.toLocaleString("en-US");

  /* A text of all digits, cut after so many characters. Halves go to the even neighbour, as in
     Python, so that the page never writes one number in two ways. */
  const EXACT = 100;
  const isHalf = (rest) => /^\.?50*$/.test(rest);
  const endsEven = (text) => "02468".includes(text.replace(/\.$/, "").slice(-1));

  function fixed(value, places) {
    const all = value.toFixed(EXACT);
    const end = all.indexOf(".") + (places ? 1 + places : 0);
    const [kept, rest] = [all.slice(0, end), all.slice(end)];
    return isHalf(rest) && endsEven(kept) ? kept : value.toFixed(places);
  }

  function significant(value, number) {
    const [all, exponent] = value.toExponential(EXACT).split("e");
    const end = number === 1 ? 1 : number + 1;
    const [kept, rest] = [all.slice(0, end), all.slice(end)];
    return isHalf(rest) && endsEven(kept) ? Number(`${kept}e${exponent}`) : Number(value.toPrecision(number));
  }

  /* A number written out, without an exponent. */
  function plain(value) {
    const [digits, exponent] = String(value).split("e-");
    const decimals = Number(exponent) + (digits.split(".")[1] ?? "").length;
    return exponent === undefined ? digits : value.toFixed(Math.min(decimals, EXACT));
  }

  /* A rate with two decimals, or two digits where it is tiny; below TINY, digits would be noughts. */
  function percent(rate) {
    const value = 100 * rate;
    if (rate > 0 && rate < TINY) return `<${(100 * TINY).toFixed(6)}%`;
    return rate === 0 || rate >= 0.001 ? `${fixed(value, 2)}%` : `${plain(significant(value, 2))}%`;
  }

  /* A number times a power of ten, by moving the point in its shortest text: nothing is rounded. */
  function shifted(value, places) {
    const [digits, exponent] = Number(value).toExponential().split("e");
    return Number(`${digits}e${Number(exponent) + places}`);
  }

  /* A promised rate, which must not be rounded. */
  const exactPercent = (rate) => `${plain(shifted(rate, 2))}%`;

  /* A decimal comma might also part thousands: it is not guessed. */
  const hasComma = (text) => text.includes(",");

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

  /* A number with so many digits, never below it if upwards, else never above it. */
  function rounded(value, digits, upwards) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const near = Number(`${mantissa}e${exponent}`);
    if (near === value || near > value === upwards) return near;
    const whole = Number(mantissa.replace(".", "")) + (upwards ? 1 : -1);
    const next = Number(`${whole}e${Number(exponent) - digits + 1}`);
    return Number.isFinite(next) ? next : value;
  }

  /* A score in six digits, marked where that is not all of it. */
  function shortScore(value, width, upwards) {
    const text = score(value, width);
    const digits = text.replace(/e.*/, "").replace(/\D/g, "").replace(/^0+/, "");
    if (!Number.isFinite(value) || digits.length <= SHORT) return text;
    return `≈\u00a0${rounded(value, SHORT, upwards)}`;
  }

  /* A p-value in four digits; a bound from above is never written smaller than it is. */
  function pValue(p, isBound) {
    if (p === 0) return "0";
    return String(isBound ? rounded(p, 4, true) : significant(p, 4));
  }

  /* A score as the number type of the calibration holds it. */
  function readScore(text, width) {
    const value = text.trim() === "" ? NaN : Number(text);
    const held = width === 4 ? Math.fround(value) : value;
    // Beyond the range of float32 it is compared as it is, not as infinity.
    return Number.isFinite(held) === Number.isFinite(value) ? held : value;
  }

  /* "112 of 1,000": how many of a round number a rate makes. */
  function outOf(rate) {
    let base = 1000;
    while (rate > 0 && rate * base < 1 && base < 1e9) base *= 10;
    const number = rate * base;
    const text = number >= 10 || number === 0 ? count(Number(fixed(number, 0))) : significant(number, 2);
    return `${text} of ${count(base)}`;
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

  return {
    count,
    percent,
    exactPercent,
    fromPercent,
    hasComma,
    score,
    shortScore,
    readScore,
    pValue,
    outOf,
    range,
    ticks,
  };
})();
