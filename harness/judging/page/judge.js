// The judging page: what the judge says of each document goes to the command at once, and the next one is shown.

import { showDocument } from "./document.js";
import { at, complain, fillFacts, make, say } from "./elements.js";
import { showFound, showSearch } from "./find.js";
import { makeLists } from "./lists.js";
import { ask } from "./server.js";
import { describeAnswer, isAnswered, nameGrade } from "./states.js";
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
let query;
let document_;
let queue = Promise.resolve();
let isOver = false;

// What is shown.

/** Takes a session over into the page, and gives each query its documents. */
const take = (taken) => {
  session = taken;
  queriesById = new Map(session.queries.map((one) => [one.id, Object.assign(one, { documents: [] })]));
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

let searched;

const show = () => {
  at("lists").hidden = at("item").hidden = !query;
  showProgress();
  if (!query) return;
  showDocument(session, query, document_);
  lists.show(query, document_);
  showSearch(query, query !== searched);
  searched = query;
  const place = places().findIndex(([, document]) => document === document_);
  at("previous").disabled = place === 0;
  at("next").disabled = place === places().length - 1;
};

const describe = () => {
  if (!document_) return `${at("place").textContent}: ${query.text}. ${at("no-document").textContent}`;
  const title = document_.title || document_.document;
  return `${at("place").textContent}: ${query.text}. ${title}, ${describeAnswer(choices, document_)}`;
};

// Where to go. A query without documents is a place too: documents can be found for it.

const listPlaces = (listed) =>
  listed.flatMap((query) => (query.documents.length ? query.documents.map((one) => [query, one]) : [[query, null]]));

const places = () => listPlaces(lists.listed);

const findPlace = (all) => all.findIndex(([other, document]) => other === query && document === document_);

const go = (toQuery, toDocument, before = "") => {
  query = toQuery;
  document_ = toDocument;
  show();
  say(before, describe());
};

const move = (step) => {
  const all = places();
  const to = all[findPlace(all) + step];
  if (to) go(...to);
};

const moveToQuery = (step) => {
  const to = lists.listed[lists.listed.indexOf(query) + step];
  if (to) go(to, to.documents[0] || null);
};

/** The next document without an answer: of those listed, after this one, and from the beginning again. */
const findOpen = (all) => {
  const start = findPlace(all) + 1;
  const order = [...all.slice(start), ...all.slice(0, start)];
  return order.find(([, document]) => document && !isAnswered(document) && document !== document_);
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

/** Takes what the command says of a document over into the page; returns the document, if the page has it. */
const takeAnswer = (answer) => {
  const changed = session.documents.find((one) => one.query === answer.query && one.document === answer.document);
  if (!changed) return undefined;
  changed.grade = answer.grade;
  changed.cannot_tell = answer.cannot_tell;
  changed.comment = answer.comment;
  lists.update(queriesById.get(changed.query));
  return changed;
};

/** Takes a change over as `takeAnswer`; returns nothing if the page has it already. */
const takeChange = (answer) => {
  const known = session.documents.find((one) => one.query === answer.query && one.document === answer.document);
  if (!known) return undefined;
  const isSame = ["grade", "cannot_tell", "comment"].every((name) => known[name] === answer[name]);
  return isSame ? undefined : takeAnswer(answer);
};

const keep = async (answer) => {
  takeAnswer(await ask("grade", { query: document_.query, document: document_.document, ...answer }));
};

const goOn = (before) => {
  const to = findOpen(places());
  if (to) return go(...to, before);
  show();
  if (session.documents.every(isAnswered)) say(`All documents are graded. Press w, then Enter, to ${finishing}.`);
  else say(`${before}All documents of the queries that are listed are graded.`);
};

const give = (choice) =>
  act(async () => {
    if (!document_) return;
    if (document_.grade === choice.grade) {
      await keep({ grade: null });
      return go(query, document_, "Grade taken away. ");
    }
    await keep({ grade: choice.grade });
    goOn(`Graded ${nameGrade(choices, choice.grade)}. `);
  });

const cannotTell = () =>
  act(async () => {
    if (!document_) return;
    const isTold = document_.cannot_tell;
    await keep({ grade: null, cannot_tell: !isTold });
    if (isTold) go(query, document_, "Not answered any more. ");
    else goOn("Cannot tell. ");
  });

const comment = () => {
  const commented = document_;
  const text = at("comment").value.trim();
  if (!commented || text === commented.comment) return;
  act(async () => {
    const { query, document, grade, cannot_tell } = commented;
    takeAnswer(await ask("grade", { query, document, grade, cannot_tell, comment: text }));
    say(text ? "The comment is kept." : "The comment is removed.");
  });
};

/** Adds a document that was found to the page, and shows it. */
const add = (document) => {
  if (!query.documents.includes(document)) {
    query.documents.push(document);
    session.documents.push(document);
  }
  at("find-fold").open = false;
  go(query, document, "Added. ");
  at("query").focus();
};

/** Asks the target for documents of the query that is shown. */
const find = (given) =>
  act(async () => {
    say("Searching …");
    const { documents, missing } = await ask("search", { query: query.id, ...given });
    showFound(choices, documents, query.documents, add);
    const absent = missing ? ` ${missing} of those that the suite judges cannot be shown.` : "";
    say(`${documents.length || "No"} ${documents.length === 1 ? "document" : "documents"} found.${absent}`);
  });

const findWords = (event) => {
  event.preventDefault();
  const words = at("find-words").value.trim();
  if (words) find({ words });
};

const findId = () => {
  const document = at("find-words").value.trim();
  if (document) find({ document });
};

const openSearch = () => {
  at("find-fold").open = true;
  at("find-words").focus();
};

const skip = () =>
  act(() => {
    const to = findOpen(places());
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
  const all = places();
  [query, document_] = all.find(([, one]) => one && !isAnswered(one)) || all[0] || [];
  show();
};

const takeChanges = (changes) => {
  const changed = changes.map(takeChange).filter(Boolean);
  if (!changed.length) return;
  show();
  say("Another window changed a grade.");
};

/** What other windows of the judge changed; a judge who settles is given what others differ on by now. */
const watch = () =>
  act(async () => {
    const changed = await ask(`changes?since=${encodeURIComponent(session.since)}`);
    showTeam(session.judge, changed.progress);
    session.since = changed.since;
    if (!changed.reload) return takeChanges(changed.changes);
    const before = document_;
    take(await ask("session"));
    const same = session.documents.find((one) => one.query === before?.query && one.document === before?.document);
    if (!same) return start();
    [query, document_] = [queriesById.get(same.query), same];
    show();
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
  c: ["comment on this document; Enter keeps the comment", () => document_ && at("comment").focus()],
  f: ["find other documents for this query; Escape leaves the search", openSearch],
  u: ["undo the last grade, also one of an earlier session", undo],
  "/": ["search in the list of queries; Escape leaves it", searchList],
  g: ["read the guidelines", readGuidelines],
  w: [`then Enter: ${finishing}`, () => at(at("finish").hidden ? "reread" : "finish").focus()],
  "?": ["list these keys", () => at("help").showModal()],
};
if (at("guide").hidden) delete moves.g;
if (!session.searches) delete moves.f;
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
at("find").addEventListener("submit", findWords);
at("find-id").addEventListener("click", findId);
at("find-judged").addEventListener("click", () => find({ judged: true }));

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
    if (!keepsComment && event.target.id === "comment") at("comment").value = document_.comment;
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
if (query) at("query").focus();
else say("There is nothing to judge yet.");
if (session.since !== undefined) setTimeout(watchOn, PAUSE);
