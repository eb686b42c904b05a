// Documents beyond the pool: the command asks the target for them, with other words or by an id.

import { at, make } from "./elements.js";
import { describeAnswer, nameGrade } from "./states.js";

const describeKnown = (choices, document, isListed) => {
  if (isListed) return describeAnswer(choices, document);
  return document.existing === null ? "" : `graded ${nameGrade(choices, document.existing)} in the suite`;
};

/** Lists *found* documents; *add* is called with the one to grade. Those in *listed* are on the page already. */
export const showFound = (choices, found, listed, add) => {
  const rows = found.map((document) => {
    const known = listed.find((other) => other.document === document.document);
    const row = make("li");
    const text = make("div");
    text.append(make("strong", document.title || document.document));
    if (document.title) text.append(" ", make("span", document.document, "id muted"));
    const state = describeKnown(choices, known || document, Boolean(known));
    if (state) text.append(" ", make("span", state, "muted"));
    const button = make("button", known ? "Show" : "Grade");
    button.type = "button";
    button.append(make("span", ` ${document.title || document.document}`, "hidden"));
    button.addEventListener("click", () => add(known || document));
    row.append(text, button);
    return row;
  });
  at("found").replaceChildren(...rows);
};

/** Shows the search for *query*: open where there is nothing else to do. */
export const showSearch = (query, isNew) => {
  if (!isNew) return;
  at("find-fold").open = !query.documents.length;
  at("found").replaceChildren();
  at("find-words").value = "";
  at("find-judged").hidden = !query.judged;
  at("find-judged").textContent = `Show the ${query.judged} that the suite judges`;
};
