// Lists of which one line is chosen, with arrows or with a click.

import { make } from "./elements.js";

const STEPS = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

/**
 * Lets *box* be moved through: *choose* is called with the place of a line, *find* returns the place of the chosen line
 * and how many lines there are.
 *
 * The focus stays on the box, and screen readers follow `aria-activedescendant`: so a line may leave the page while it
 * is out of sight.
 */
export const listen = (box, find, choose) => {
  const isSideways = box.getAttribute("aria-orientation") === "horizontal";
  const foreign = isSideways ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || foreign.includes(event.key)) return;
    if (!(event.key in STEPS)) return;
    event.preventDefault();
    const { place, length } = find();
    if (length) choose(Math.min(Math.max(place + STEPS[event.key], 0), length - 1));
  });
  box.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(Number(option.dataset.place));
  });
};

/** A line of the list *box*, at *place* of *length*. */
export const makeOption = (box, place, length, isChosen) => {
  const option = Object.assign(make("div"), {
    id: `${box.id}-${place}`,
    role: "option",
    ariaSelected: String(isChosen),
    ariaPosInSet: place + 1,
    ariaSetSize: length,
  });
  option.dataset.place = place;
  if (isChosen) box.setAttribute("aria-activedescendant", option.id);
  return option;
};

/** Scrolls *box*, and nothing around it, until what reaches from *top* to *bottom* in it is in sight. */
export const reveal = (box, top, bottom) => {
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
};
