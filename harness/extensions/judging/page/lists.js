// The list of queries with their states, and the documents of the query that is shown.

import { at, make } from "./elements.js";
import { nameGrade, shadeOf } from "./grades.js";
import { describeAnswer, isAnswered, stateOf } from "./states.js";

const SIGNS = { ungraded: "○", partly: "◐", done: "●", disagreed: "≠" };
const WIDE = matchMedia("(min-width: 1000px)");

/** Whether a query has a state, or a document of which the judge cannot tell, or with a comment. */
const hasState = (query, state) => {
  if (state === "untold") return query.documents.some((document) => document.cannot_tell);
  if (state === "commented") return query.documents.some((document) => document.comment);
  return stateOf(query) === state;
};

const matches = (query, filter) => {
  if (filter.state && !hasState(query, filter.state)) return false;
  if (filter.tag && !query.tags.includes(filter.tag)) return false;
  const texts = [query.id, query.text, query.need];
  for (const document of query.documents) texts.push(document.document, document.title || "");
  return texts.some((text) => text.toLowerCase().includes(filter.text));
};

const describeProgress = (query) => {
  if (!query.documents.length && query.elsewhere) return "given to others";
  if (!query.documents.length) return query.judged ? "all graded" : "no hit";
  return `${query.documents.filter(isAnswered).length} of ${query.documents.length}`;
};

/**
 * The lists; *open* shows a query, or one of its documents.
 *
 * `listed` has the queries that the filter left when it was changed last: a query does not vanish while it is graded.
 */
export const makeLists = (choices, open) => {
  const lists = { listed: [] };
  let queries = [];
  let rows = new Map();
  let shown = { query: null, document: null };

  const choose = (query, document) => {
    if (!WIDE.matches) at("lists-fold").open = false;
    open(query, document);
  };

  const makeRow = (query) => {
    const row = make("li");
    const button = make("button");
    button.type = "button";
    button.append(make("span", "", "sign"), make("span", query.text, "name"), make("span", "", "far muted"));
    button.addEventListener("click", () => choose(query, query.documents[0] || null));
    row.append(button);
    rows.set(query, row);
    return row;
  };

  const updateRow = (query) => {
    const button = rows.get(query).firstChild;
    const [sign, , far] = button.children;
    const state = stateOf(query);
    sign.replaceChildren(SIGNS[state]);
    sign.className = `sign is-${state}`;
    sign.setAttribute("role", "img");
    sign.setAttribute("aria-label", state);
    far.textContent = describeProgress(query);
  };

  const makeDocument = (document) => {
    const row = make("li");
    const button = make("button");
    button.type = "button";
    button.append(make("span", document.title || document.document, "name"));
    if (document.grade !== null) {
      button.append(make("span", nameGrade(choices, document.grade), `chip ${shadeOf(choices, document.grade)}`));
    } else button.append(make("span", describeAnswer(choices, document), "far muted"));
    if (document === shown.document) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => choose(shown.query, document));
    row.append(button);
    return row;
  };

  /** Marks what is shown, and lists its documents. */
  lists.show = (query, document) => {
    const old = rows.get(shown.query);
    if (old) {
      old.querySelector("ol")?.remove();
      old.firstChild.removeAttribute("aria-current");
    }
    shown = { query, document };
    updateRow(query);
    const row = rows.get(query);
    row.firstChild.setAttribute("aria-current", "true");
    if (query.documents.length) {
      const documents = make("ol");
      documents.setAttribute("aria-label", "Documents of this query");
      documents.append(...query.documents.map(makeDocument));
      row.append(documents);
    }
    // Only the list is scrolled: the document stays where it is.
    const current = row.querySelector("ol [aria-current]") || row.firstChild;
    const box = at("list");
    const above = current.getBoundingClientRect().top - box.getBoundingClientRect().top;
    if (above < 0 || above + current.offsetHeight > box.clientHeight) box.scrollTop += above - box.clientHeight / 3;
  };

  lists.update = updateRow;

  lists.filter = () => {
    const filter = {
      text: at("filter-text").value.trim().toLowerCase(),
      state: at("filter-state").value,
      tag: at("filter-tag").value,
    };
    const isAny = !filter.text && !filter.state && !filter.tag;
    lists.listed = isAny ? queries : queries.filter((query) => matches(query, filter));
    at("list").replaceChildren(...lists.listed.map((query) => rows.get(query)));
    const found = `${lists.listed.length} of ${queries.length}`;
    at("list-count").textContent = isAny ? "" : `${found} queries are listed; moving from one to the next keeps to them.`;
    at("lists-heading").textContent = isAny ? `Queries (${queries.length})` : `Queries (${found})`;
  };

  /** Lists other queries. */
  lists.fill = (filled) => {
    queries = filled;
    rows = new Map();
    queries.forEach((query) => {
      makeRow(query);
      updateRow(query);
    });
    const tags = [...new Set(queries.flatMap((query) => query.tags))].sort();
    const chosen = at("filter-tag").value;
    const all = Object.assign(make("option", "all"), { value: "" });
    at("filter-tag").replaceChildren(all, ...tags.map((tag) => Object.assign(make("option", tag), { value: tag })));
    at("filter-tag").value = tags.includes(chosen) ? chosen : "";
    at("filter-tag-label").hidden = !tags.length;
    lists.filter();
  };

  for (const id of ["filter-text", "filter-state", "filter-tag"]) at(id).addEventListener("input", lists.filter);
  const fold = () => {
    at("lists-fold").open = WIDE.matches;
    // Beside the document the list cannot be folded, and its heading is nothing to stop at.
    at("lists-fold").firstElementChild.tabIndex = WIDE.matches ? -1 : 0;
  };
  WIDE.addEventListener("change", fold);
  fold();
  return lists;
};
