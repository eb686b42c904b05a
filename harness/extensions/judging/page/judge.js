// The judging page: what the judge says of each document goes to the command at once, and the next one is shown.

import { showDocument } from "./document.js";
import { at, complain, fillFacts, make, say } from "./elements.js";
import { makeSearch } from "./find.js";
import { nameGrade } from "./grades.js";
import { makeLists } from "./lists.js";
import { makeQuotes } from "./quotes.js";
import { ask } from "./server.js";
import { describeAnswer, isAnswered } from "./states.js";
import { describeFinish, showTeam } from "./team.js";

// Milliseconds between two questions for what other windows and other judges changed.
const PAUSE = 2000;

let session;
try {
  session = await ask("session");
} catch (error) {
  complain(error);
  throw error;
}
const { choices } = session;
let queriesById;
/** The query and the document that are shown; a query may have no document. */
const shown = { query: null, document: null };
let queue = Promise.resolve();
let isOver = false;

// What is shown.

/** Takes a session over into the page, and gives each query its documents. */
const take = (taken) => {
  session = taken;
  session.queries.forEach((query) => (query.documents = []));
  queriesById = new Map(session.queries.map((query) => [query.id, query]));
  session.documents.forEach((document) => queriesById.get(document.query).documents.push(document));
  lists.fill(session.queries);
};

const lists = makeLists(choices, (toQuery, toDocument) => {
  go(toQuery, toDocument);
  at("query").focus();
});

const showProgress = () => {
  const { documents } = session;
  const graded = documents.filter((document) => document.grade !== null).length;
  const untold = documents.filter((document) => document.cannot_tell).length;
  at("bar").max = Math.max(documents.length, 1);
  at("bar").value = graded + untold;
  const words = `${graded} of ${documents.length} graded${untold ? `, ${untold} cannot tell` : ""}`;
  at("count").textContent = words;
  document.title = `${words} – judging ${session.suite}`;
};

const show = () => {
  const { query, document } = shown;
  at("lists").hidden = at("item").hidden = !query;
  showProgress();
  if (!query) return;
  showDocument(session, query, document);
  quotes.show(document);
  lists.show(query, document);
  search.show(query);
  const all = listPlaces();
  const place = findPlace(all);
  at("previous").disabled = place === 0;
  at("next").disabled = place === all.length - 1;
};

const describe = () => {
  const { query, document } = shown;
  const place = `${at("place").textContent}: ${query.text}.`;
  if (!document) return `${place} ${at("no-document").textContent}`;
  return `${place} ${document.title || document.document}, ${describeAnswer(choices, document)}`;
};

// Where to go. A query without documents is a place too: documents can be found for it.

const listPlaces = () =>
  lists.listed.flatMap((query) => {
    const documents = query.documents.length ? query.documents : [null];
    return documents.map((document) => [query, document]);
  });

const findPlace = (all) => all.findIndex(([query, document]) => query === shown.query && document === shown.document);

/** In a narrow window the query and the grades stay in view, and of the document its end after one that is long. */
const narrow = matchMedia("(max-width: 760px)");

const go = (query, document, before = "") => {
  Object.assign(shown, { query, document });
  show();
  if (narrow.matches && at("item").getBoundingClientRect().top < 0) at("item").scrollIntoView();
  say(before, describe());
};

const move = (step) => {
  const all = listPlaces();
  const to = all[findPlace(all) + step];
  if (to) go(...to);
};

const moveToQuery = (step) => {
  const to = lists.listed[lists.listed.indexOf(shown.query) + step];
  if (to) go(to, to.documents[0] || null);
};

/** The next document without an answer: of those listed, after this one, and from the beginning again. */
const findOpen = (all) => {
  const start = findPlace(all) + 1;
  const order = [...all.slice(start), ...all.slice(0, start)];
  return order.find(([, document]) => document && !isAnswered(document) && document !== shown.document);
};

// What the judge does.

// One after the other: who grades fast presses a key before the answer to the last one is there.
const act = (action) => {
  queue = queue.then(async () => {
    if (isOver) return;
    try {
      await action();
    } catch (error) {
      if (error.changed) {
        at("finish").hidden = true;
        at("changed").hidden = false;
        at("changed-why").textContent = `${error.message}. The grades are kept.`;
        at("reread").focus();
      } else complain(error);
    }
  });
  return queue;
};

const findDocument = (sought) =>
  session.documents.find(({ query, document }) => query === sought.query && document === sought.document);

/** Takes what the command says of a document over into the page; returns the document, if the page has it. */
const takeAnswer = (answer) => {
  const changed = findDocument(answer);
  if (!changed) return undefined;
  changed.grade = answer.grade;
  changed.cannot_tell = answer.cannot_tell;
  changed.comment = answer.comment;
  changed.quotes = answer.quotes;
  lists.update(queriesById.get(changed.query));
  return changed;
};

const keep = async (answer) => {
  const { query, document } = shown.document;
  takeAnswer(await ask("grade", { query, document, ...answer }));
};

const goOn = (before) => {
  const to = findOpen(listPlaces());
  if (to) return go(...to, before);
  show();
  if (session.documents.every(isAnswered)) say(`All documents are graded. Press w, then Enter, to ${finishing}.`);
  else say(`${before}All documents of the queries that are listed are graded.`);
};

const give = (choice) =>
  act(async () => {
    if (!shown.document) return;
    if (shown.document.grade === choice.grade) {
      await keep({ grade: null });
      return go(shown.query, shown.document, "Grade taken away. ");
    }
    await keep({ grade: choice.grade });
    goOn(`Graded ${nameGrade(choices, choice.grade)}. `);
  });

const cannotTell = () =>
  act(async () => {
    if (!shown.document) return;
    const isTold = shown.document.cannot_tell;
    await keep({ grade: null, cannot_tell: !isTold });
    if (isTold) go(shown.query, shown.document, "Not answered any more. ");
    else goOn("Cannot tell. ");
  });

const comment = () => {
  const commented = shown.document;
  const text = at("comment").value.trim();
  if (!commented || text === commented.comment) return;
  act(async () => {
    const { query, document, grade, cannot_tell } = commented;
    takeAnswer(await ask("grade", { query, document, grade, cannot_tell, comment: text }));
    say(text ? "The comment is kept." : "The comment is removed.");
  });
};

/** Marks a text of the document that is shown as a quote, or removes the quote where there is no grade. */
const quote = (text, grade, from) => {
  const quoted = shown.document;
  act(async () => {
    const { query, document } = quoted;
    takeAnswer(await ask("quote", { query, document, text, grade, from }));
    show();
    if (grade === null) at("quote").focus();
    say(grade === null ? "Quote removed." : `Marked as quote, ${nameGrade(choices, grade)}: ${text}`);
  });
};

const quotes = makeQuotes(session, quote);

/** Adds a document that was found to the page, and shows it. */
const add = (document) => {
  if (!shown.query.documents.includes(document)) {
    shown.query.documents.push(document);
    session.documents.push(document);
  }
  go(shown.query, document, "Added. ");
  at("query").focus();
};

/** Asks the target for documents of the query that is shown. */
const find = (given) =>
  act(async () => {
    const { query } = shown;
    say("Searching …");
    const { documents, missing } = await ask("search", { query: query.id, ...given });
    if (query !== shown.query) return;
    search.list(documents);
    const absent = missing ? ` ${missing} of those that the suite judges cannot be shown.` : "";
    say(`${documents.length || "No"} ${documents.length === 1 ? "document" : "documents"} found.${absent}`);
  });

const search = makeSearch(choices, find, add);

const skip = () =>
  act(() => {
    const to = findOpen(listPlaces());
    if (to) go(...to, "Skipped. ");
    else say("No other document that is listed is without a grade.");
  });

const undo = () =>
  act(async () => {
    const answer = await ask("undo", {});
    if (!("query" in answer)) return say("There is nothing to undo.");
    const changed = takeAnswer(answer);
    if (!changed) return say("Undone; the document is not in this pool.");
    go(queriesById.get(changed.query), changed, "Undone. ");
  });

/** Goes to the first document without an answer. */
const start = () => {
  const all = listPlaces();
  const first = all.find(([, document]) => document && !isAnswered(document)) || all[0] || [null, null];
  [shown.query, shown.document] = first;
  show();
};

/** Reads everything again, and stays at the document that is shown. */
const reload = async () => {
  const before = shown.document;
  take(await ask("session"));
  const same = before && findDocument(before);
  if (!same) return start();
  Object.assign(shown, { query: queriesById.get(same.query), document: same });
  show();
};

/** Whether the judge says nothing of a document any more. */
const isEmpty = (answer) => answer.grade === null && !answer.cannot_tell && !answer.comment && !answer.quotes.length;

const isNews = (answer) => {
  const known = findDocument(answer);
  const names = ["grade", "cannot_tell", "comment", "quotes"];
  return !known || names.some((name) => JSON.stringify(known[name]) !== JSON.stringify(answer[name]));
};

/** What other windows of the judge changed; a judge who settles is given what others differ on by now. */
const watch = () =>
  act(async () => {
    const changed = await ask(`changes?since=${encodeURIComponent(session.since)}`);
    showTeam(session.judge, changed.progress);
    session.since = changed.since;
    const news = (changed.changes || []).filter(isNews);
    // Another window may have found documents that this one does not have.
    const isUnknown = news.some((answer) => !findDocument(answer) && !isEmpty(answer));
    if (changed.reload || isUnknown) await reload();
    const taken = news.map(takeAnswer).filter(Boolean);
    if (!taken.length) return;
    show();
    say("Another window changed a grade or a quote.");
  });

const watchOn = async () => {
  await watch();
  if (!isOver) setTimeout(watchOn, PAUSE);
};

const finish = (reread) =>
  act(async () => {
    const { said } = await ask("finish", { reread });
    isOver = true;
    for (const id of ["lists", "item", "guide", "end"]) at(id).hidden = true;
    say([...said, "You can close this page."].join("\n"));
  });

// Guidelines, and what finishing does.

const finishing = describeFinish(session.finish);

at("guidelines").textContent = session.guidelines;
const meanings = choices.filter((choice) => choice.description);
fillFacts(at("meanings"), meanings.map((choice) => [nameGrade(choices, choice.grade), choice.description]));
at("guide").hidden = !session.guidelines && !meanings.length;
// Where the guidelines have a column of their own, nothing is gained by hiding them.
at("guide-fold").open = matchMedia("(min-width: 1400px)").matches;

// Buttons and keys.

choices.forEach((choice, index) => {
  const button = make("button");
  button.type = "button";
  button.dataset.choice = index;
  const name = make("span", choice.name || String(choice.grade), "name");
  if (choice.key) name.append(make("kbd", choice.key));
  button.append(name);
  if (choice.description) button.append(make("small", choice.description));
  button.addEventListener("click", () => give(choice));
  at("grades").append(button);
});

const searchList = () => {
  at("lists-fold").open = true;
  at("filter-text").focus();
};

const readGuidelines = () => {
  at("guide-fold").open = true;
  at("guide-fold").firstElementChild.focus();
};

const moves = {
  j: ["next document; also → and ↓", () => act(() => move(1))],
  k: ["previous document; also ← and ↑", () => act(() => move(-1))],
  n: ["next query", () => act(() => moveToQuery(1))],
  p: ["previous query", () => act(() => moveToQuery(-1))],
  s: ["skip to the next document without a grade", skip],
  t: ["cannot tell; again: take it away", cannotTell],
  c: ["comment on this document; Enter keeps the comment", () => shown.document && at("comment").focus()],
  f: ["find other documents for this query; Escape leaves the search", search.open],
  q: ["mark the text that is selected as a quote", quotes.mark],
  u: ["undo the last grade or quote, also one of an earlier session", undo],
  "/": ["search in the list of queries; Escape leaves it", searchList],
  g: ["read the guidelines", readGuidelines],
  w: [`then Enter: ${finishing}`, () => at(at("finish").hidden ? "reread" : "finish").focus()],
  "?": ["list these keys", () => at("help").showModal()],
};
if (at("guide").hidden) delete moves.g;
if (!session.searches) delete moves.f;
if (!session.quoted_field) delete moves.q;
at("find-fold").hidden = !session.searches;
const arrows = { ArrowRight: "j", ArrowDown: "j", ArrowLeft: "k", ArrowUp: "k" };

const keys = choices
  .filter((choice) => choice.key)
  .map((choice) => [choice.key, `grade ${nameGrade(choices, choice.grade)}; again: take it away`]);
for (const [key, words] of [...keys, ...Object.entries(moves).map(([key, [words]]) => [key, words])]) {
  const term = make("dt");
  term.append(make("kbd", key));
  at("keys").append(term, make("dd", words));
}

const clicks = { previous: "k", next: "j", skip: "s", undo: "u", "cannot-tell": "t", "help-opens": "?" };
for (const [id, key] of Object.entries(clicks)) at(id).addEventListener("click", moves[key][1]);
at("finish").addEventListener("click", () => finish(false));
at("reread").addEventListener("click", () => finish(true));
at("help-closes").addEventListener("click", () => at("help").close());
at("comment").addEventListener("change", comment);

const leave = () => {
  document.activeElement.blur();
  at("query").focus();
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open || isOver) return;
  if (event.target.matches("input, select, textarea")) {
    const keepsComment = event.target.id === "comment" && event.key === "Enter" && !event.shiftKey;
    if (event.key !== "Escape" && !keepsComment) return;
    event.preventDefault();
    if (!keepsComment && event.target.id === "comment") at("comment").value = shown.document.comment;
    return leave();
  }
  const choice = choices.find((one) => one.key && one.key === event.key);
  const moved = moves[arrows[event.key] || event.key];
  if (!choice && !moved) return;
  event.preventDefault();
  if (choice) give(choice);
  else moved[1]();
});

// The first page.

at("suite").textContent = session.suite;
at("about").textContent = `Judge: ${session.judge}${session.blind ? ", in blind order" : ""}`;
at("notes").hidden = !session.notes.length;
at("notes").textContent = session.notes.join(" ");
take(session);
start();
showTeam(session.judge, session.progress);
if (shown.query) at("query").focus();
else say("There is nothing to judge yet.");
if (session.since !== undefined) setTimeout(watchOn, PAUSE);
