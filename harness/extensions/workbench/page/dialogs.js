// Keeping a try with a name, writing it into the suite, and the verdict of the queries that were held out.

import { at, complain, make, say, showText } from "./elements.js";
import { count } from "./figures.js";

const KINDS = { "+": "ins", "-": "del" };

const showDiff = (lines) => {
  const rows = lines.map((line) => {
    const isHead = line.startsWith("+++") || line.startsWith("---");
    return make((!isHead && KINDS[line[0]]) || "span", `${line}\n`);
  });
  at("diff").replaceChildren(...rows);
};

/** Shows in an element that something is asked, and then what *take* makes of it. */
const showAnswer = async (id, take) => {
  at(id).textContent = "Asking …";
  try {
    await take();
  } catch (error) {
    at(id).textContent = error.message;
  }
};

/** Dialogs of the try that is shown. *ask* asks the command. */
export const makeDialogs = (session, ask, tries) => {
  const dialogs = {};
  let token = null;

  /** Calls *open* with the try that is shown. */
  const withTry = (dialogs.withTry = (open) => () => {
    const row = tries.findShown();
    if (row) open(row);
    else say("There is no try yet: change the request first.");
  });

  dialogs.keep = withTry((row) => {
    at("keeping-name").value = row.name;
    at("keeping").showModal();
    at("keeping-name").select();
  });

  at("keeping-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    at("keeping").close();
    if (event.submitter?.value === "") return;
    try {
      const row = await ask("keep", { try: tries.shown, name: at("keeping-name").value.trim() });
      tries.take([row]);
      say("", `Kept as ${row.name}.`);
    } catch (error) {
      complain(error);
    }
  });

  const readWriting = () => ({
    try: tries.shown,
    how: new FormData(at("writing-form")).get("how"),
    name: at("writing-name").value.trim(),
  });

  /** Asks what would be written, and shows it: nothing is written before it was seen. */
  const preview = async (problem = "") => {
    token = null;
    at("write-now").disabled = true;
    showText("writing-problem", problem);
    try {
      const answer = await ask("write", readWriting());
      ({ token } = answer);
      at("writing-file").textContent = answer.file;
      showDiff(answer.diff);
      at("write-now").disabled = false;
    } catch (error) {
      at("writing-file").textContent = "";
      showDiff([]);
      showText("writing-problem", [problem, error.message].filter(Boolean).join(" "));
    }
  };

  const writeNow = async () => {
    at("write-now").disabled = true;
    try {
      const answer = await ask("write", { ...readWriting(), token, write: true });
      at("writing").close();
      say(answer.sentence);
    } catch (error) {
      // The file changed since: what would be written now is shown again.
      if (error.status === 409) await preview(error.message);
      else showText("writing-problem", error.message);
    }
  };

  dialogs.write = withTry((row) => {
    at("writing-name").value = `${session.request}-try-${row.number}`;
    at("writing").showModal();
    preview();
  });

  at("write-now").addEventListener("click", writeNow);
  at("writing-form").addEventListener("change", () => preview());
  at("writing-form").addEventListener("submit", (event) => {
    event.preventDefault();
    // Enter in the name shows the change: only the button writes.
    if (event.submitter.value) at("writing").close();
    else preview();
  });

  dialogs.finish = withTry(() => {
    at("finishing-why").textContent = session.hold_out
      ? session.hold_out.sentence
      : "No queries were held out: there is no verdict beyond the figures of the page.";
    at("verdict").textContent = "";
    at("look").hidden = !session.hold_out;
    at("finishing").showModal();
  });

  at("look").addEventListener("click", async () => {
    at("look").disabled = true;
    await showAnswer("verdict", async () => {
      const answer = await ask("finish", { try: tries.shown });
      session.hold_out.sentence = at("verdict").textContent = answer.sentence;
      at("verdict").className = { gain: "rise", loss: "fall" }[answer.verdict] || "";
    });
    at("look").disabled = false;
  });

  /** Asks what the try changes, or, with *isSent*, which of that did it: that takes searches. */
  const askWhy = (isSent) => {
    at("why-send").disabled = true;
    showAnswer("why-lines", async () => {
      const answer = await ask("why", { try: tries.shown, send: isSent });
      at("why-lines").textContent = answer.lines.join("\n");
      at("why-send").disabled = !answer.searches;
      at("why-send").textContent = `Send ${count(answer.searches, "search", "searches")}`;
    });
  };

  dialogs.why = withTry(() => {
    at("why").showModal();
    askWhy(false);
  });

  at("why-send").addEventListener("click", () => askWhy(true));
  return dialogs;
};
