// How candidates look, and how they are told in words: by the rules, or by their shares.

import { symbol } from "./geometry.js";
import { percent } from "./numbers.js";

const SCALE = 10000n;
const MAX_NAMED = 4;
const PLAIN = { classes: " gs-plain", weight: 0 };
const REMOVED = { classes: " gs-removed", weight: 0 };

/**
 * @param {number} mask Candidates, bit d - 1 for digit d.
 * @param {number} n
 * @param {number} removed The candidates among these that a step of logic removes.
 * @returns {({classes: string, weight: number}|null)[]} One for each digit.
 */
export function looksByRules(mask, n, removed = 0) {
  return Array.from({ length: n }, (_, index) => {
    if (!((mask >> index) & 1)) return null;
    return (removed >> index) & 1 ? REMOVED : PLAIN;
  });
}

/**
 * @param {bigint[]} shares How many solutions have each digit in a cell.
 * @param {bigint} count How many solutions there are.
 * @param {number} mask Candidates by the rules; others are not shown.
 * @returns {({classes: string, weight: number}|null)[]} One for each digit.
 */
export function looksByShares(shares, count, mask) {
  return shares.map((share, index) => {
    if (!((mask >> index) & 1)) return null;
    let classes = "";
    if (share === 0n) classes += " gs-out";
    else if (share === count) classes += " gs-sure";
    else if (share === 1n) classes += " gs-unique";
    return { classes, weight: weightOf(share, count) };
  });
}

/** The root of a share, so that small ones are seen, in steps that the eye can tell apart. */
function weightOf(share, count) {
  if (share === 0n) return 0;
  const root = Math.sqrt(Number((share * SCALE) / count) / Number(SCALE));
  return Math.max(Math.round(root * 50) / 50, 0.04);
}

/** @returns {string} "empty, 3 candidates: 1 4 9" */
export function wordsByRules(mask, n) {
  const digits = [];
  for (let digit = 1; digit <= n; digit++) {
    if ((mask >> (digit - 1)) & 1) digits.push(symbol(digit));
  }
  if (digits.length === 0) return "empty, no candidate";
  const noun = digits.length === 1 ? "candidate" : "candidates";
  return `empty, ${digits.length} ${noun}: ${digits.join(" ")}`;
}

/** @returns {string} "empty, 3 candidates: 1 4 9; 4: 75 %, 1: 25 %", the largest first. */
export function wordsByShares(shares, count, mask) {
  return `${wordsByRules(mask, shares.length)}; ${largestOf(shares, count)}`;
}

function largestOf(shares, count) {
  const able = shares
    .map((share, index) => ({ share, name: symbol(index + 1) }))
    .filter(({ share }) => share > 0n)
    .sort((a, b) => (a.share < b.share ? 1 : a.share > b.share ? -1 : 0));
  if (able.length === 0) return "no digit leaves a solution";
  if (able.length === 1) return `always ${able[0].name}`;
  const named = able.slice(0, MAX_NAMED);
  const parts = named.map(({ share, name }) => `${name}: ${percent(share, count)}`);
  if (able.length > named.length) parts.push(`${able.length - named.length} more`);
  return parts.join(", ");
}
