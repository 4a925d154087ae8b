// Numbers for people: BigInts of any size, parts of a whole, and times.

const SCALES = ["million", "billion", "trillion", "quadrillion", "quintillion", "sextillion"];
SCALES.push("septillion", "octillion", "nonillion");
const ONES = ["", "un", "duo", "tre", "quattuor", "quin", "sex", "septen", "octo", "novem"];
const TENS = ["dec", "vigint", "trigint", "quadragint", "quinquagint", "sexagint", "septuagint"];
TENS.push("octogint", "nonagint");
const SPACE = "\u00a0";
const YEAR = 31557600;

/**
 * All digits, in groups of three.
 *
 * @param {bigint} number At least 0.
 * @returns {string} "4,715"
 */
export function group(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * As `group`, but of a long number only the first and the last digits.
 *
 * @param {bigint} number At least 0.
 * @param {number} [most] Digits that are shown without leaving any out.
 * @returns {string}
 */
export function groupShort(number, most = 40) {
  if (String(number).length <= most) return group(number);
  const groups = group(number).split(",");
  const half = Math.floor(most / 6);
  return `${groups.slice(0, half).join(",")} \u2026 ${groups.slice(-half).join(",")}`;
}

/**
 * A number that people wrote, with or without groups of three digits.
 *
 * @param {string} text "4715", "4,715", "4 715", ...
 * @returns {?bigint} null if it is none.
 */
export function readNumber(text) {
  const isNumber = /^\s*(?:\d+|\d{1,3}([\s,._'\u2019])\d{3}(?:\1\d{3})*)\s*$/.test(text);
  return isNumber ? BigInt(text.replace(/\D/g, "")) : null;
}

/**
 * The size of a number in words of the short scale.
 *
 * @param {bigint} number At least 0.
 * @returns {string} "6.7 sextillion", or "about 1.2 x 10^345" above the names; "" below a million.
 */
export function inWords(number) {
  const exponent = String(number).length - 1;
  if (exponent < 6) return "";
  const name = scaleName(Math.floor(exponent / 3) - 2);
  const before = (exponent % 3) + 1;
  if (name === null) {
    const [digits, power] = rounded(number, 2);
    return `about ${digits[0]}.${digits[1]} \u00d7 10^${power}`;
  }
  // One digit after the point, and none where three stand before it.
  const [digits, larger] = rounded(number, Math.min(before + 1, 3));
  if (larger > exponent) return inWords(10n ** BigInt(larger));
  const fraction = digits.slice(before).replace(/0+$/, "");
  return `${digits.slice(0, before)}${fraction && `.${fraction}`}${SPACE}${name}`;
}

/**
 * A part of a whole; never "0 %" for something, nor "100 %" for less than all.
 *
 * @param {bigint} part From 0 to the whole.
 * @param {bigint} whole
 * @returns {string} "12.5 %"
 */
export function percent(part, whole) {
  return percents([part], whole)[0];
}

/**
 * Parts of a whole, each as `percent` gives it, but all with the same number of decimals.
 *
 * @param {bigint[]} parts Each from 0 to the whole.
 * @param {bigint} whole
 * @returns {string[]} ["22.35 %", "9.80 %", "0 %"]
 */
export function percents(parts, whole) {
  const inner = parts.filter((part) => extremeOf(part, whole) === "");
  const fine = inner.some((part) => part * 100n < whole * 10n || part * 1000n > whole * 999n);
  const scale = fine ? 10000n : 1000n;
  const unitsOf = (part) => (2n * part * scale + whole) / (2n * whole);
  let decimals = fine ? 2 : 1;
  let per = 1n;
  while (decimals > 0 && inner.every((part) => unitsOf(part) % (per * 10n) === 0n)) {
    decimals--;
    per *= 10n;
  }
  return parts.map((part) => {
    const extreme = extremeOf(part, whole);
    if (extreme !== "") return extreme;
    const text = String(unitsOf(part) / per).padStart(decimals + 1, "0");
    const number = decimals > 0 ? `${text.slice(0, -decimals)}.${text.slice(-decimals)}` : text;
    return `${number}${SPACE}%`;
  });
}

/** None, all, almost none and almost all as percent; "" for other parts. */
function extremeOf(part, whole) {
  if (whole === 0n || part === 0n) return `0${SPACE}%`;
  if (part === whole) return `100${SPACE}%`;
  if (part * 10000n < whole) return `<${SPACE}0.01${SPACE}%`;
  if ((whole - part) * 10000n < whole) return `>${SPACE}99.99${SPACE}%`;
  return "";
}

/**
 * A part of a whole as a number from 0 to 1, for drawing.
 *
 * @param {bigint} part
 * @param {bigint} whole
 * @returns {number}
 */
export function fractionOf(part, whole) {
  return whole === 0n ? 0 : Number((part * 1000000n) / whole) / 1e6;
}

/**
 * A time.
 *
 * @param {number} seconds
 * @returns {string} "63 ms", "1.2 s", "3 minutes", "15 years"
 */
export function duration(seconds) {
  if (seconds < 0.001) return `${(seconds * 1000).toFixed(1)}${SPACE}ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)}${SPACE}ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)}${SPACE}s`;
  if (seconds < 100) return `${Math.round(seconds)}${SPACE}s`;
  const units = [["minute", 60], ["hour", 3600], ["day", 86400], ["year", YEAR]];
  const [unit, length] = units.findLast(([, length]) => seconds >= 1.5 * length);
  const number = seconds / length;
  const whole = BigInt(Math.round(number < 100 ? number : Number(number.toPrecision(2))));
  const words = inWords(whole) || group(whole);
  return `${words}${SPACE}${unit}s`;
}

/**
 * What something should take. Estimates end at thousands of years on one core: they are then lower
 * than the time itself, and many cores make them lower still.
 *
 * @param {number} seconds
 * @returns {string} "about 3 minutes", "decades or longer", "more than a thousand years"
 */
export function price(seconds) {
  if (seconds >= 1000 * YEAR) return "more than a thousand years";
  return seconds >= 10 * YEAR ? "decades or longer" : `about${SPACE}${duration(seconds)}`;
}

/** The leading digits of a number, rounded, and the power of ten of the first of them. */
function rounded(number, digits) {
  const length = String(number).length;
  if (length <= digits) return [String(number).padEnd(digits, "0"), length - 1];
  const unit = 10n ** BigInt(length - digits);
  const all = String((2n * number + unit) / (2n * unit));
  return [all.slice(0, digits), length - 1 + all.length - digits];
}

/** The name of 10^(3 * index + 6); null above centillions. */
function scaleName(index) {
  if (index < SCALES.length) return SCALES[index];
  const latin = index + 1;
  if (latin > 100) return null;
  if (latin === 100) return "centillion";
  return `${ONES[latin % 10]}${TENS[Math.floor(latin / 10) - 1]}illion`;
}
