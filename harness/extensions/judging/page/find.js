// Documents beyond the pool: the command asks the target for them, with other words or by an id.

import { at, make } from "./elements.js";
import { nameGrade } from "./grades.js";
import { describeAnswer } from "./states.js";

/**
 * The search below a query. *find* is called with what is sought, *add* with a document that is to be graded.
 *
 * What was found stays until another query is shown.
 */
export const makeSearch = (choices, find, add) => {
  const search = {};
  let query = null;
  let found = [];

  const describe = (document, isListed) => {
    if (isListed) return describeAnswer(choices, document);
    return document.existing === null ? "" : `graded ${nameGrade(choices, document.existing)} in the suite`;
  };

  const makeRow = (document) => {
    const listed = query.documents.find((other) => other.document === document.document);
    const title = document.title || document.document;
    const text = make("div");
    text.append(make("strong", title));
    if (document.title) text.append(" ", make("span", document.document, "id muted"));
    text.append(" ", make("span", describe(listed || document, Boolean(listed)), "muted"));
    const [field] = document.fields.filter((other) => other.text !== document.title);
    const snippet = document.snippet || field?.text;
    if (snippet) text.append(make("p", snippet, "muted"));
    const button = make("button", listed ? "Show" : "Grade");
    button.type = "button";
    button.append(make("span", ` ${title}`, "hidden"));
    button.addEventListener("click", () => add(listed || document));
    const row = make("li");
    row.append(text, button);
    return row;
  };

  const update = () => at("found").replaceChildren(...found.map(makeRow));

  /** Lists documents that were found. */
  search.list = (documents) => {
    found = documents;
    update();
  };

  /** Shows the search for *shown*: open where there is nothing else to do. */
  search.show = (shown) => {
    if (query !== shown) {
      found = [];
      at("find-words").value = "";
      at("find-fold").open = !shown.documents.length;
      at("find-judged").hidden = !shown.judged;
      at("find-judged").textContent = `Show the ${shown.judged} that the suite judges`;
    }
    query = shown;
    update();
  };

  search.open = () => {
    at("find-fold").open = true;
    at("find-words").focus();
  };

  at("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const words = at("find-words").value.trim();
    if (words) find({ words });
  });
  at("find-id").addEventListener("click", () => {
    const document = at("find-words").value.trim();
    if (document) find({ document });
  });
  at("find-judged").addEventListener("click", () => find({ judged: true }));
  return search;
};
