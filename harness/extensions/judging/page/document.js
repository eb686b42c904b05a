// One query and one of its documents, as the judge reads them.

import { showOthers } from "./adjudicate.js";
import { at, fillFacts, make } from "./elements.js";
import { nameGrade, shadeOf } from "./grades.js";

/** Characters of a query that stays in view in a narrow window; a longer one would hide the document. */
const LONGEST_IN_VIEW = 160;

const showQuery = (session, query) => {
  at("query").textContent = query.text;
  at("query").classList.toggle("is-long", query.text.length > LONGEST_IN_VIEW);
  at("need").textContent = query.need;
  at("need").hidden = !query.need;
  fillFacts(at("params"), Object.entries(query.params));
};

/** Where the document is from: its ranks, and its grade in the suite. */
const describeOrigin = (choices, document) => {
  const ranks = Object.entries(document.ranks).map(([name, rank]) => `rank ${rank} for ${name}`);
  if (document.existing !== null) ranks.push(`graded ${nameGrade(choices, document.existing)} in the suite`);
  return ranks.join(", ");
};

/** Fills an element with parts of a text, of which every second one has words of the query. */
const markParts = (element, parts) => {
  element.replaceChildren(...parts.map((part, index) => (index % 2 ? make("mark", part) : part)));
  return element;
};

const showTitle = (document) => {
  const parts = document.title ? document.title_parts : [document.document];
  if (!document.link) return markParts(at("title"), parts);
  const link = Object.assign(make("a"), { href: document.link, target: "_blank", rel: "noreferrer noopener" });
  at("title").replaceChildren(markParts(link, parts));
};

const showImage = (document) => {
  const box = at("image");
  box.replaceChildren();
  box.hidden = !document.image;
  if (!document.image) return;
  const image = new Image();
  image.alt = "";
  image.referrerPolicy = "no-referrer";
  image.addEventListener("error", () => (box.hidden = true));
  image.src = document.image;
  box.append(image);
};

/** Shows *document* of *query*, or that the query has none. */
export const showDocument = (session, query, document) => {
  const { queries, choices } = session;
  showQuery(session, query);
  at("document").hidden = at("answers").hidden = !document;
  at("no-document").hidden = Boolean(document);
  const place = `Query ${queries.indexOf(query) + 1} of ${queries.length}`;
  if (!document) {
    at("place").textContent = place;
    let reason = "The search has no hit to grade.";
    if (query.judged) reason = "Every hit has a grade in the suite already.";
    if (query.elsewhere) reason = "The hits of this query are given to other judges.";
    at("no-document").textContent = reason;
    return;
  }
  at("place").textContent = `${place}, document ${query.documents.indexOf(document) + 1} of ${query.documents.length}`;
  showTitle(document);
  showImage(document);
  at("id").textContent = document.title ? document.document : "";
  at("snippet").textContent = document.snippet || "";
  const fields = document.fields.filter((field) => field.text !== document.title);
  at("fields").replaceChildren(
    ...fields.flatMap((field) => {
      const text = markParts(make("dd"), field.parts);
      text.dataset.field = field.name;
      return [make("dt", field.name), text];
    }),
  );
  at("origin").textContent = describeOrigin(choices, document);
  showOthers(choices, document.others);
  for (const button of at("grades").children) {
    const { grade } = choices[button.dataset.choice];
    const isChosen = grade === document.grade;
    button.setAttribute("aria-pressed", String(isChosen));
    button.className = isChosen ? shadeOf(choices, grade) : "";
  }
  at("cannot-tell").setAttribute("aria-pressed", String(document.cannot_tell));
  // Another window may change something while the judge writes.
  if (!at("comment").matches(":focus")) at("comment").value = document.comment;
};
