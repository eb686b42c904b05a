// The keys of the page, and their list.

import { at, make } from "./elements.js";
import { nameGrade } from "./grades.js";

const FIELDS = "textarea, select, input:not([type=checkbox], [type=radio])";

const addKey = (key, words) => {
  const term = make("dt");
  term.append(make("kbd", key));
  at("keys").append(term, make("dd", words));
};

/**
 * Listens to keys: *moves* has words and what is done by key. *give* is called with the grade whose key is pressed inside
 * a ranking, where it comes before all else.
 */
export const listenToKeys = ({ moves, choices, isInRanking, give, send, leave }) => {
  addKey("Ctrl+Enter", "send the text now");
  addKey("Esc", "leave the text, or another field; close the explanation");
  for (const choice of choices.filter((one) => one.key)) {
    addKey(choice.key, `inside a ranking: grade ${nameGrade(choices, choice.grade)}; again: take it away`);
  }
  for (const [key, [words]] of Object.entries(moves)) addKey(key, words);
  at("help-opens").addEventListener("click", moves["?"][1]);

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
    else moves[event.key][1]();
  });
};
