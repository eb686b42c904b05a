"use strict";
(async () => {
  const token = new URLSearchParams(location.search).get("token");
  const at = (id) => document.getElementById(id);
  const made = (name, text) => Object.assign(document.createElement(name), { textContent: text });

  // What is seen anyway, *also*, is told to screen readers only.
  const say = (text, also = "") => {
    at("said").replaceChildren(text, Object.assign(made("span", also), { className: "hidden" }));
    at("said").classList.remove("problem");
  };

  const complain = (error) => {
    say(error.message);
    at("said").classList.add("problem");
    at("said").scrollIntoView({ block: "nearest" });
  };

  const ask = async (path, sent) => {
    const options = { headers: { "X-Judging-Token": token } };
    if (sent) {
      options.method = "POST";
      options.headers["Content-Type"] = "application/json";
      options.body = JSON.stringify(sent);
    }
    let response;
    try {
      response = await fetch(path, options);
    } catch {
      throw new Error("The command does not answer any more. The grades so far are kept: start it again to go on.");
    }
    const isJson = response.headers.get("Content-Type").startsWith("application/json");
    const answer = isJson ? await response.json() : { error: await response.text() };
    if (!response.ok) throw Object.assign(new Error(answer.error), { changed: answer.changed });
    return answer;
  };

  let session;
  try {
    session = await ask("session");
  } catch (error) {
    complain(error);
    return;
  }
  const { documents, choices } = session;
  const counts = new Map();
  documents.forEach((one) => counts.set(one.query, [...(counts.get(one.query) || []), one]));
  const queries = [...counts.keys()];
  const open = documents.findIndex((one) => one.grade === null);
  let place = Math.max(open, 0);
  let queue = Promise.resolve();
  let over = false;

  const named = (grade) => {
    const choice = choices.find((one) => one.grade === grade);
    return choice && choice.name ? `${choice.name} (${grade})` : String(grade);
  };

  // The color of a grade, as in a report: below zero, the lowest, and the others in four steps to the best.
  const shadeOf = (grade) => {
    if (grade < 0) return "gain-negative";
    const grades = [...new Set(choices.map((one) => one.grade))].sort((a, b) => a - b);
    const others = grades.filter((one) => one > Math.max(grades[0], 0));
    const step = others.indexOf(grade);
    if (step < 0) return "gain-0";
    return "gain-" + (others.length === 1 ? 4 : Math.round(1 + (3 * step) / (others.length - 1)));
  };

  const listed = (list, pairs) => {
    list.replaceChildren(...pairs.flatMap(([name, value]) => [made("dt", name), made("dd", value)]));
  };

  const showProgress = () => {
    const graded = documents.filter((one) => one.grade !== null).length;
    at("bar").max = documents.length;
    at("bar").value = graded;
    at("count").textContent = `${graded} of ${documents.length} graded`;
    document.title = `${graded} of ${documents.length} – judging ${session.suite}`;
    at("undo").disabled = false;
  };

  const show = () => {
    const one = documents[place];
    const siblings = counts.get(one.query);
    const query = `Query ${queries.indexOf(one.query) + 1} of ${queries.length}`;
    at("place").textContent = `${query}, document ${siblings.indexOf(one) + 1} of ${siblings.length}`;
    at("query").textContent = one.text;
    listed(at("params"), Object.entries(one.params));
    at("title").textContent = one.title || one.document;
    at("id").textContent = one.title ? one.document : "";
    at("snippet").textContent = one.snippet || "";
    listed(at("fields"), Object.entries(one.fields).filter(([, text]) => text !== one.title));
    const ranks = Object.entries(one.ranks).map(([name, rank]) => `rank ${rank} for ${name}`);
    const existing = one.existing === null ? [] : [`graded ${named(one.existing)} in the suite`];
    const others = Object.entries(one.others).map(([name, grade]) => `graded ${named(grade)} by ${name}`);
    at("ranks").textContent = [...ranks, ...existing, ...others].join(", ");
    for (const button of at("grades").children) {
      const { grade } = choices[button.dataset.choice];
      button.setAttribute("aria-pressed", String(grade === one.grade));
      button.className = grade === one.grade ? shadeOf(grade) : "";
    }
    at("previous").disabled = place === 0;
    at("next").disabled = place === documents.length - 1;
    showProgress();
  };

  const described = () => {
    const one = documents[place];
    const grade = one.grade === null ? "not graded" : `graded ${named(one.grade)}`;
    return `${at("place").textContent}: ${one.text}. ${one.title || one.document}, ${grade}`;
  };

  const go = (to, before = "") => {
    if (to < 0 || to >= documents.length) return;
    place = to;
    show();
    say(before, described());
  };

  const nextOpen = () => {
    const order = documents.map((_, step) => (place + 1 + step) % documents.length);
    return order.find((index) => documents[index].grade === null && index !== place);
  };

  // One after the other: who grades fast presses a key before the answer to the last one is there.
  const act = (action) => {
    queue = queue.then(async () => {
      if (over) return;
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
  };

  const give = (choice) =>
    act(async () => {
      const one = documents[place];
      const grade = one.grade === choice.grade ? null : choice.grade;
      await ask("grade", { query: one.query, document: one.document, grade });
      one.grade = grade;
      if (grade === null) return go(place, "Grade taken away. ");
      const to = nextOpen();
      if (to !== undefined) return go(to, `Graded ${named(grade)}. `);
      show();
      say("All documents are graded. Press w, then Enter, to write the grades.");
    });

  const skip = () => act(() => {
    const to = nextOpen();
    if (to === undefined) say("No other document is without a grade.");
    else go(to, "Skipped. ");
  });

  const undo = () =>
    act(async () => {
      const changed = await ask("undo", {});
      if (!("query" in changed)) return say("There is nothing to undo.");
      const to = documents.findIndex((one) => one.query === changed.query && one.document === changed.document);
      if (to < 0) return say("Undone; the document is not in this pool.");
      documents[to].grade = changed.grade;
      go(to, "Undone. ");
    });

  const finish = (reread) =>
    act(async () => {
      const { said } = await ask("finish", { reread });
      over = true;
      at("item").hidden = true;
      at("end").hidden = true;
      say([...said, "You can close this page."].join("\n"));
    });

  choices.forEach((choice, index) => {
    const button = made("button", choice.name || String(choice.grade));
    button.type = "button";
    button.dataset.choice = index;
    if (choice.key) button.append(made("kbd", choice.key));
    button.addEventListener("click", () => give(choice));
    at("grades").append(button);
  });

  const moves = {
    j: ["next document; also → and ↓", () => act(() => go(place + 1))],
    k: ["previous document; also ← and ↑", () => act(() => go(place - 1))],
    s: ["skip to the next document without a grade", skip],
    u: ["undo the last grade, also one of an earlier session", undo],
    w: ["then Enter: write the grades and end the command", () => at(at("finish").hidden ? "reread" : "finish").focus()],
    "?": ["list these keys", () => at("help").showModal()],
  };
  const arrows = { ArrowRight: "j", ArrowDown: "j", ArrowLeft: "k", ArrowUp: "k" };

  const keys = choices.filter((one) => one.key).map((one) => [one.key, `grade ${named(one.grade)}; again: take it away`]);
  for (const [key, words] of [...keys, ...Object.entries(moves).map(([key, [words]]) => [key, words])]) {
    const term = document.createElement("dt");
    term.append(made("kbd", key));
    at("keys").append(term, made("dd", words));
  }

  for (const [id, key] of Object.entries({ previous: "k", next: "j", skip: "s", undo: "u", "help-opens": "?" })) {
    at(id).addEventListener("click", moves[key][1]);
  }
  at("finish").addEventListener("click", () => finish(false));
  at("reread").addEventListener("click", () => finish(true));
  at("help-closes").addEventListener("click", () => at("help").close());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || at("help").open || over) return;
    const choice = choices.find((one) => one.key && one.key === event.key);
    const move = moves[arrows[event.key] || event.key];
    if (!choice && !move) return;
    event.preventDefault();
    if (choice) give(choice);
    else move[1]();
  });

  at("suite").textContent = session.suite;
  at("about").textContent = `Judge: ${session.judge}${session.blind ? ", in blind order" : ""}`;
  at("notes").hidden = !session.notes.length;
  at("notes").textContent = session.notes.join(" ");
  at("item").hidden = false;
  show();
  at("query").focus();
})();
