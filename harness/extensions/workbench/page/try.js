// The page on which a request is tried: what is typed goes to the command, and what it does to each query is shown.

import { showFigures } from "./bar.js";
import { makeDialogs } from "./dialogs.js";
import { makeDials } from "./dials.js";
import { at, complain, make, say, showText } from "./elements.js";
import { nameGrade } from "./grades.js";
import { listenToKeys } from "./keys.js";
import { makeLoop } from "./loop.js";
import { makeQueries } from "./queries.js";
import { makeRanking } from "./ranking.js";
import { ask } from "./server.js";
import { makeText } from "./text.js";
import { makeTries } from "./tries.js";

/** Milliseconds between two questions for what changed on the disk. */
const WATCH = 2000;
/** Milliseconds after which a ranking is emptied, if the one to be shown is not there. */
const PATIENCE = 150;

const session = {};
try {
  Object.assign(session, await ask("session"));
} catch (error) {
  complain(error);
  throw error;
}
const { choices } = session;

const NOTHING = { number: null, run: null, summary: null, stale: null, done: 0, total: 0 };
/** What all figures of the page are of: a try, or the run of the next one. */
const shown = { ...NOTHING };
/** The text that the command took last, and the values of dials that it does not have yet. */
const sent = { text: session.text, values: {} };
const AT_REST = { isSent: false, error: null, word: "" };
/** How far the newest text is: with an *error*, and a *word* for it, no further. */
const progress = { ...AT_REST };
/** A text that was not sent when an earlier try was opened. */
let draft = null;
/** Whether a text is sent though it was a try already, or was not answered. */
let isForced = false;
let queue = Promise.resolve();

// What is shown.

const nameShown = () => {
  if (shown.number === 0) return "as live";
  if (shown.number !== null) return `try ${shown.number}`;
  return shown.run === null ? "try" : "next try";
};

const isUnsent = () => text.read() !== sent.text || Object.keys(sent.values).length > 0;

const describeState = () => {
  if (progress.isSent) return ["sent", ""];
  if (progress.error) return [progress.word, "bad"];
  if (isUnsent()) return at("automatic").checked ? ["typing", ""] : ["not sent: Ctrl+Enter", "hardly"];
  if (shown.run !== null) return [`${shown.done} of ${shown.total}`, ""];
  return shown.number === null ? ["", ""] : ["done", "good"];
};

const showProgress = () => {
  [at("state").textContent, at("state").className] = describeState();
  showText("problem", progress.error?.message || "");
};

const show = () => {
  const isRunning = shown.run !== null;
  showFigures(session, nameShown(), shown.summary, isRunning);
  at("bar").classList.toggle("is-running", isRunning);
  at("try-head").textContent = nameShown();
  at("stale").hidden = !shown.stale;
  at("stale").firstElementChild.textContent = shown.stale || "";
  for (const id of ["keep", "write", "finish"]) at(id).disabled = !shown.number;
  showProgress();
};

/** Does one thing after the other, and for the ranking that is on its way: who is fast presses a key before it is there. */
const act = (action) => {
  queue = queue.then(() => ranked).then(action).catch(complain);
  return queue;
};

// The ranking of the chosen query.

let rankingTurn = 0;
let ranked = Promise.resolve();

/** The rankings of a query: of a try, of a run while it has no number yet, or of live alone. */
const askRanking = (query, number, run) => {
  const parts = [`query?id=${encodeURIComponent(query.id)}`];
  if (number !== null) parts.push(`try=${number}`);
  else if (run !== null) parts.push(`run=${encodeURIComponent(run)}`);
  return ask(parts.join("&"));
};

const loadRanking = () => {
  ranked = showRanking(queries.chosen);
};

const showRanking = async (query) => {
  if (!query) return;
  const own = ++rankingTurn;
  const late = setTimeout(() => own === rankingTurn && ranking.show(query, null, nameShown()), PATIENCE);
  try {
    const answer = await askRanking(query, shown.number, shown.run);
    if (own === rankingTurn) ranking.show(query, answer, nameShown());
  } catch (error) {
    complain(error);
  } finally {
    clearTimeout(late);
  }
};

const queries = makeQueries(() => {
  closeExplanation();
  loadRanking();
});
const ranking = makeRanking(choices, () => closeExplanation());

// The loop: text, run, rows.

const takeText = (answer, wanted) => {
  // Who typed meanwhile goes on with that text, and the dials are set in it next.
  if (text.read() === wanted.text) text.set(answer.text);
  else sent.values = { ...wanted.values, ...sent.values };
  sent.text = answer.text;
  fillDials(answer.dials);
};

/** Shows dials with what was set in them and is not sent yet. */
const fillDials = (filled) =>
  dials.fill(filled.map((dial) => ({ ...dial, value: sent.values[dial.pointer] ?? dial.value })));

const begin = (run) => {
  Object.assign(shown, NOTHING, { run });
  queries.begin();
  tries.show(null);
  closeExplanation();
};

const end = (answers) => {
  shown.run = null;
  if (answers.try) {
    shown.number = answers.try.number;
    tries.take([answers.try]);
    tries.show(shown.number);
  }
  queries.settle();
  if (answers.summary) say("", answers.summary.sentence);
};

const fail = (error, word = "failed") => {
  Object.assign(progress, { isSent: false, error, word });
  showProgress();
};

const readWanted = () => {
  if (!isUnsent() && !isForced) return null;
  const wanted = { text: text.read(), first: queries.listFirst(), force: isForced };
  isForced = false;
  if (Object.keys(sent.values).length) wanted.values = sent.values;
  sent.values = {};
  return wanted;
};

const loop = makeLoop(ask, readWanted, {
  sent: () => {
    Object.assign(progress, AT_REST, { isSent: true });
    text.mark(null);
    showProgress();
  },
  accepted: (answer, wanted) => {
    takeText(answer, wanted);
    draft = null;
    if (answer.run === undefined) {
      progress.isSent = false;
      loop.leave();
      act(() => openTry(answer.try, false));
    }
    showProgress();
  },
  refused: (error, wanted) => {
    sent.values = { ...wanted.values, ...sent.values };
    text.mark(error.line ?? null);
    fail(error, error.line ? `wrong at line ${error.line}` : "refused");
  },
  arrived: async (answers, isCurrent) => {
    const { run, part_of: again } = answers;
    const query = queries.chosen;
    const isRanked = query && answers.rows.some((row) => row.query === query.id);
    // It is shown with the row, not after it: so that neither is of another try than the other.
    if (isRanked) rankingTurn += 1;
    const own = rankingTurn;
    let answer = null;
    if (isRanked) answer = await askRanking(query, answers.try?.number ?? again, run);
    if (!isCurrent()) return;
    progress.isSent = false;
    const isFirst = again === null && shown.run !== run;
    if (isFirst) begin(run);
    Object.assign(shown, { done: answers.done, total: answers.total });
    if (answers.summary) shown.summary = answers.summary;
    queries.take(answers.rows);
    if (answers.over || answers.error) end(answers);
    if (answers.error) fail(new Error(answers.error));
    else if (answers.over && shown.number === null) fail(new Error("No query has an answer."));
    show();
    if (answer && own === rankingTurn) ranking.show(query, answer, nameShown());
    else if (isFirst || answers.over || own !== rankingTurn) loadRanking();
  },
  failed: fail,
});

const noteTyping = () => {
  progress.error = null;
  if (!isUnsent()) loop.hold();
  else if (at("automatic").checked) loop.sendSoon();
  showProgress();
};

const text = makeText(session.live_text);
const dials = makeDials((values) => {
  Object.assign(sent.values, values);
  noteTyping();
});
at("text").addEventListener("input", () => {
  text.mark(null);
  noteTyping();
});
at("automatic").addEventListener("change", noteTyping);

const sendNow = () => {
  isForced = Boolean(progress.error);
  if (isUnsent() || isForced) loop.send();
  else say("The text is that of the try that is shown.");
};

// Tries.

const openTry = async (number, isTextShown = true) => {
  if (isTextShown) {
    loop.hold();
    if (isUnsent()) draft = text.read();
  }
  const answer = await ask(`try?number=${number}`);
  loop.leave();
  if (isTextShown) {
    sent.text = answer.text;
    sent.values = {};
    Object.assign(progress, AT_REST);
    text.set(answer.text);
    fillDials(answer.dials);
  }
  Object.assign(shown, { number, run: null, summary: answer.summary, stale: answer.stale });
  queries.begin();
  queries.take(answer.rows);
  queries.settle();
  tries.take([answer.row]);
  tries.show(number);
  show();
  closeExplanation();
  loadRanking();
  say("", answer.summary.sentence);
};

const tries = makeTries((row) => act(() => openTry(row.number)));
const dialogs = makeDialogs(session, ask, tries);

const goBeside = (step) =>
  act(() => {
    const row = tries.findBeside(step);
    if (row) return openTry(row.number);
    if (step < 0) return say("There is no try before.");
    if (draft === null) return say("There is no later try.");
    text.set(draft);
    draft = null;
    noteTyping();
    say("This is the text that was not sent.");
  });

const repeatQuery = ({ number }) =>
  act(async () => {
    const { run } = await ask("again", { query: queries.chosen.id, try: number });
    loop.follow(run);
  });

const measureAgain = () => {
  isForced = true;
  loop.send();
};

// Hits: grades and explanations.

const takeGrade = (answer) => {
  for (const [id, live] of Object.entries(answer.live)) queries.byId.get(id).live = live;
  queries.take(answer.rows);
  if (answer.summary) {
    shown.summary = answer.summary;
    session.live = answer.summary.live;
  }
  tries.take(answer.tries);
  const { chosen } = queries;
  if (chosen?.id === answer.query) {
    rankingTurn += 1;
    ranking.show(chosen, answer.ranking, nameShown());
  } else if (chosen?.id in answer.live) loadRanking();
  show();
  say("", answer.said);
};

const give = (choice) =>
  act(async () => {
    const { chosen, query } = ranking;
    if (!chosen) return;
    if (shown.run !== null) return say("Grade when all answers are there.");
    const { document, grade: before, is_own: isOwn } = chosen.hit;
    // A grade of this session is taken away when it is given again; one of the suite is confirmed.
    const grade = isOwn && before === choice.grade ? null : choice.grade;
    takeGrade(await ask("grade", { query: query.id, document, grade, try: shown.number }));
  });

const undo = () => act(async () => takeGrade(await ask("undo", { try: shown.number })));

let explained = "";

const closeExplanation = () => {
  explained = "";
  at("explanation").hidden = true;
};

const explain = () =>
  act(async () => {
    const { chosen, query } = ranking;
    if (!chosen) return say("First choose a hit: n.");
    const { document, title } = chosen.hit;
    const side = chosen.side === "live" || shown.number === null ? "live" : "try";
    // Whichever other hit is chosen, the explanation is closed.
    const above = explained === "alone" && chosen.place > 0 && chosen.side !== "missing";
    const { lines } = await ask("explain", { query: query.id, document, side, try: shown.number, above });
    explained = above ? "above" : "alone";
    ranking.explain(`${title || document}${above ? " against the hit above" : ""}, ${side}`, lines);
    say("", `Explained in ${lines.length} lines.`);
  });

// Keys and buttons.

const leave = () => {
  if (at("explanation").hidden || document.activeElement === at("text")) at("list").focus();
  else closeExplanation();
};

/** How many keys that lead to a hit are not done yet: a grade that is pressed after them is for that hit. */
let leading = 0;

const goToHit = (action) => {
  leading += 1;
  act(action).then(() => (leading -= 1));
};

const sayUnless = (isDone, sentence) => isDone || say(sentence);

const moves = {
  e: () => at("text").focus(),
  d: () => dials.focus(),
  j: () => queries.move(1),
  k: () => queries.move(-1),
  l: () => sayUnless(queries.walk("lost", "losses"), "No further query lost."),
  w: () => sayUnless(queries.walk("won", "wins"), "No further query won."),
  n: () => goToHit(() => ranking.move(1)),
  p: () => goToHit(() => ranking.move(-1)),
  m: () => goToHit(() => sayUnless(ranking.goToMissing(), "No relevant document is missing.")),
  x: explain,
  u: undo,
  r: dialogs.withTry(repeatQuery),
  "[": () => goBeside(-1),
  "]": () => goBeside(1),
  y: dialogs.why,
  b: dialogs.keep,
  s: dialogs.write,
  f: dialogs.finish,
  "/": () => at("filter-words").focus(),
  "?": () => at("help").showModal(),
};
const absent = [!session.has_explain && "x", !session.has_why && "y", session.judge === null && "u"].filter(Boolean);
for (const key of absent) delete moves[key];

choices.forEach((choice, place) => {
  const button = make("button");
  button.type = "button";
  button.dataset.choice = place;
  button.append(make("span", nameGrade(choices, choice.grade)));
  if (choice.key) button.append(" ", make("kbd", choice.key));
  button.addEventListener("click", () => give(choice));
  at("grades").append(button);
});
at("grades").hidden = session.judge === null;
at("explain").hidden = !session.has_explain;
at("explain").addEventListener("click", explain);
at("send").addEventListener("click", sendNow);
at("again").addEventListener("click", measureAgain);
for (const name of ["keep", "write", "finish"]) at(name).addEventListener("click", dialogs[name]);
listenToKeys({
  moves,
  absent,
  choices: session.judge === null ? [] : choices,
  isInRanking: () => leading > 0 || ranking.hasFocus(),
  give,
  send: sendNow,
  leave,
});

// In one column the request comes last.
const WIDE = matchMedia("(min-width: 1280px)");
const arrange = () => {
  const order = WIDE.matches ? ["request", "queries", "ranking"] : ["queries", "ranking", "request"];
  document.querySelector("main").append(...order.map(at));
};
WIDE.addEventListener("change", arrange);

// Changes on the disk.

const takeSession = () => {
  Object.assign(shown, NOTHING);
  queries.fill(session.queries);
  tries.take(session.tries);
  tries.show(null);
  at("suite").textContent = session.suite;
  at("against").textContent = `${session.request} against ${session.against}`;
  const notes = [...session.notes];
  if (session.hold_out) notes.push(session.hold_out.sentence);
  showText("notes", notes.join(" "));
};

/** Reads everything again. What was typed stays, and is sent again. */
const reload = async () => {
  const isUntouched = text.read() === session.text;
  Object.assign(session, await ask("session"));
  loop.leave();
  takeSession();
  text.compareWith(session.live_text);
  show();
  loadRanking();
  if (isUntouched) {
    sent.text = session.text;
    text.set(session.text);
    dials.fill(session.dials);
  } else if (at("automatic").checked) {
    isForced = true;
    loop.sendSoon();
  } else fail(new Error("The figures are not those of the suite any more: Ctrl+Enter sends the text again."));
};

const watch = async () => {
  const changed = await ask("changes");
  if (changed.reload) await reload();
  if (!changed.said) return;
  at("notes").append(` ${changed.said}`);
  at("notes").hidden = false;
  say("", changed.said);
};

const watchOn = async () => {
  await act(watch);
  setTimeout(watchOn, WATCH);
};

// The first page.

document.title = `Trying ${session.suite}`;
arrange();
at("automatic").checked = !session.manual;
text.set(session.text);
dials.fill(session.dials);
takeSession();
show();
if (session.shown === null) loadRanking();
else act(() => openTry(session.shown));
at("list").focus({ preventScroll: true });
if (session.watches) setTimeout(watchOn, WATCH);
