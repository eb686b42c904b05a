// The text of the request, with a mark at each line that live does not have.

import { at, make } from "./elements.js";

/** Lines of a text that are marked: of more it takes too long at each key. */
const MOST_LINES = 1000;

/** How much of the beginnings, and of the ends, of two lists of lines, or of two texts, is equal. */
const trim = (before, after) => {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { start, end };
};

/** The places of the lines of *after* that are not lines of *before*, by their longest common subsequence. */
export const findChanged = (before, after) => {
  const { start, end } = trim(before, after);
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  /** By a line of each, how long the common subsequence from there on is. */
  const lengths = [...old, ""].map(() => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      if (old[i] === now[j]) lengths[i][j] = lengths[i + 1][j + 1] + 1;
      else lengths[i][j] = Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const changed = new Set();
  let i = 0;
  for (let j = 0; j < now.length; j += 1) {
    while (i < old.length && old[i] !== now[j] && lengths[i + 1][j] >= lengths[i][j + 1]) i += 1;
    if (i < old.length && old[i] === now[j]) i += 1;
    else changed.add(start + j);
  }
  return changed;
};

/** The text area over its lines, which have the same text unseen, so that they wrap where it does. */
export const makeText = (live) => {
  const text = {};
  let liveLines = live.split("\n");
  let shown = [];
  let wrong = null;

  const makeLine = (line) => {
    const row = make("div");
    // A line without a character would have no height.
    row.append(make("span", line || " "));
    return row;
  };

  const paint = () => {
    const lines = at("text").value.split("\n");
    const box = at("lines");
    if (Math.max(lines.length, liveLines.length) > MOST_LINES) {
      shown = [];
      return box.replaceChildren();
    }
    const { start, end } = trim(shown, lines);
    // Only what was typed is made anew: a text may have thousands of lines.
    for (let count = shown.length - end - start; count > 0; count -= 1) box.children[start].remove();
    const next = box.children[start] || null;
    lines.slice(start, lines.length - end).forEach((line) => box.insertBefore(makeLine(line), next));
    shown = lines;
    const changed = findChanged(liveLines, lines);
    for (const [place, row] of [...box.children].entries()) {
      const name = place + 1 === wrong ? "wrong" : changed.has(place) ? "changed" : "";
      if (row.className !== name) row.className = name;
    }
  };

  text.read = () => at("text").value;

  text.set = (value) => {
    const area = at("text");
    const { start, end } = trim(area.value, value);
    // Where somebody is typing, the cursor stays at its place.
    area.setRangeText(value.slice(start, value.length - end), start, area.value.length - end, "preserve");
    text.mark(null);
  };

  /** Marks the line that the command could not read; none with null. */
  text.mark = (line) => {
    wrong = line;
    at("text").setAttribute("aria-invalid", String(line !== null));
    paint();
  };

  /** Marks what differs from another text. */
  text.compareWith = (other) => {
    liveLines = other.split("\n");
    paint();
  };
  return text;
};
