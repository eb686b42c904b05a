// The numbers of a request, each with what is live and two buttons for its steps.

import { at, make } from "./elements.js";

/** *value* and *steps* of *step*, not below 0, which engines refuse; without what decimal fractions leave behind. */
const addSteps = (value, steps, step) =>
  Number(Math.max(value + steps * step, value < 0 ? -Infinity : 0).toPrecision(12));

/** The dials; *change* is called with the values that were set, by pointer. */
export const makeDials = (change) => {
  const dials = {};
  let inputs = new Map();

  const markChanged = (input) => {
    const { live, row } = inputs.get(input);
    row.classList.toggle("changed", Number(input.value) !== live);
  };

  const set = (input, value) => {
    input.value = String(value);
    markChanged(input);
    change({ [inputs.get(input).pointer]: value });
  };

  const step = (input, steps) => set(input, addSteps(Number(input.value) || 0, steps, inputs.get(input).step));

  const makeStep = (input, sign, name) => {
    const ariaLabel = `${name} ${sign < 0 ? "down" : "up"}`;
    // The arrows do the same for who has a keyboard.
    const button = Object.assign(make("button", sign < 0 ? "−" : "+"), { type: "button", tabIndex: -1, ariaLabel });
    button.addEventListener("click", (event) => step(input, event.shiftKey ? 10 * sign : sign));
    return button;
  };

  const makeDial = (dial, place) => {
    const row = make("div", "", "dial");
    const id = `dial-${place}`;
    const input = Object.assign(make("input"), { type: "number", step: "any", id, value: dial.value });
    const label = Object.assign(make("label", dial.name), { htmlFor: id });
    // What differs stands at its end, so that its beginning is cut off; the mark keeps its slashes in place.
    const pointer = make("span", `\u200e${dial.pointer}`, "pointer muted");
    pointer.title = dial.pointer;
    const live = make("span", dial.live === null ? "new" : String(dial.live), "was muted");
    live.title = "live";
    inputs.set(input, { ...dial, row });
    row.append(label, pointer, live, makeStep(input, -1, dial.name), input, makeStep(input, 1, dial.name));
    markChanged(input);
    return row;
  };

  const update = (filled) => {
    for (const [place, [input, known]] of [...inputs].entries()) {
      Object.assign(known, filled[place]);
      if (Number(input.value) !== known.value) input.value = known.value;
      markChanged(input);
    }
  };

  /** Shows other dials. Where only values differ, what has the focus stays. */
  dials.fill = (filled) => {
    const pointers = [...inputs.values()].map((dial) => dial.pointer);
    const isSame = pointers.length === filled.length && filled.every((dial, place) => dial.pointer === pointers[place]);
    if (isSame) return update(filled);
    const focused = inputs.get(document.activeElement)?.pointer;
    inputs = new Map();
    at("dials").replaceChildren(...filled.map(makeDial));
    at("dials").hidden = !filled.length;
    for (const [input, dial] of inputs) if (dial.pointer === focused) input.focus();
  };

  dials.focus = () => [...inputs.keys()][0]?.focus();

  at("dials").addEventListener("keydown", (event) => {
    if (!inputs.has(event.target) || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    const sign = event.key === "ArrowUp" ? 1 : -1;
    step(event.target, event.shiftKey ? 10 * sign : sign);
  });
  at("dials").addEventListener("input", (event) => {
    const { value } = event.target;
    if (value === "" || !Number.isFinite(Number(value))) return;
    markChanged(event.target);
    change({ [inputs.get(event.target).pointer]: Number(value) });
  });
  return dials;
};
