// The keys of the page, and their list.

import { at, make } from "./elements.js";
import { nameGrade } from "./grades.js";

const FIELDS = "textarea, select, input:not([type=checkbox], [type=radio])";

/** Lists the keys of grades with the others, without those that do nothing here. */
const listKeys = (choices, absent) => {
  for (const row of at("keys").children) row.hidden = absent.includes(row.firstElementChild.textContent);
  for (const choice of choices.filter((one) => one.key)) {
    const row = make("div");
    const term = make("dt");
    term.append(make("kbd", choice.key));
    row.append(term, make("dd", `inside a ranking: grade ${nameGrade(choices, choice.grade)}; again: take it away`));
    at("keys").append(row);
  }
};

/**
 * Listens to keys: *moves* has what is done by key, but for those that are *absent*. *give* is called with the grade whose
 * key is pressed inside a ranking, where it comes before all else.
 */
export const listenToKeys = ({ moves, absent, choices, isInRanking, give, send, leave }) => {
  listKeys(choices, absent);
  at("help-opens").addEventListener("click", moves["?"]);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
      return;
    }
    // Brackets need AltGr on many keyboards, which some systems report as Ctrl and Alt.
    const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
    if (isShortcut && !event.getModifierState("AltGraph")) return;
    if (event.key === "Escape") {
      event.preventDefault();
      leave();
      return;
    }
    if (event.target.matches(FIELDS)) return;
    const choice = isInRanking() && choices.find((one) => one.key && one.key === event.key);
    if (!choice && !moves[event.key]) return;
    event.preventDefault();
    if (choice) give(choice);
    else moves[event.key]();
  });
};
