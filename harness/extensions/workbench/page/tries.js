// The strip of tries, newest first, and the text that was typed but is none yet.

import { at, make } from "./elements.js";
import { colorOf, formatDifference } from "./figures.js";
import { listen, makeOption } from "./listbox.js";

/** The strip; *open* is called with the try that is chosen. */
export const makeTries = (open) => {
  const tries = { rows: [], shown: null };

  /** The row of the try that is shown; nothing for none, and for what is live. */
  tries.findShown = () => tries.rows.find((row) => row.number === tries.shown);

  const box = at("try-list");

  const makeRow = (row, place) => {
    const option = makeOption(box, place, tries.rows.length, row.number === tries.shown);
    if (row.kept) option.append(Object.assign(make("span", "★", "kept"), { title: "kept" }), make("span", "kept ", "hidden"));
    option.append(make("span", String(row.number), "muted number"), " ", make("span", row.name, "name"));
    if (row.difference !== null) {
      const color = colorOf(row.difference, row.is_grey);
      option.append(" ", make("span", formatDifference(row.difference), `number ${color}`));
    }
    option.title = [row.name, row.summary_line, row.stale].filter(Boolean).join("\n");
    return option;
  };

  const paint = () => {
    box.removeAttribute("aria-activedescendant");
    box.replaceChildren(...tries.rows.map(makeRow));
    box.hidden = !tries.rows.length;
    at("no-try").hidden = tries.rows.length > 0;
    at("tries-heading").textContent = tries.rows.length ? `Tries ${tries.rows.length}` : "Tries";
    const option = box.querySelector("[aria-selected=true]");
    if (!option) return;
    const left = option.offsetLeft - box.offsetLeft;
    if (left < box.scrollLeft || left + option.offsetWidth > box.scrollLeft + box.clientWidth) box.scrollLeft = left;
  };

  /** Takes rows, of which some may be known. What is live can be shown as a try of the number 0, and is none. */
  tries.take = (rows) => {
    const known = new Map(tries.rows.map((row) => [row.number, row]));
    for (const row of rows.filter(({ number }) => number > 0)) known.set(row.number, row);
    tries.rows = [...known.values()].sort((one, other) => other.number - one.number);
    paint();
  };

  tries.show = (number) => {
    tries.shown = number;
    paint();
  };

  const find = () => ({
    place: tries.rows.findIndex((row) => row.number === tries.shown),
    length: tries.rows.length,
  });

  /** The try before the one that is shown, or after it; nothing where there is none. */
  tries.findBeside = (step) => {
    const { place, length } = find();
    // Newest first: the one before stands after it. Where none is shown, the newest is the one before.
    return tries.rows[place < 0 && step > 0 ? length : place - step];
  };

  listen(box, find, (place) => open(tries.rows[place]));
  return tries;
};
