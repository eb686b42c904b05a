// Quotes: texts of the document that is shown, which the judge selects and marks.

import { at, make, say } from "./elements.js";
import { nameGrade } from "./grades.js";

const LONGEST = 2000;
const LONGEST_SOURCE = 200;

const makeOption = (value, text) => Object.assign(make("option", text), { value });

/** The text that is selected, if all of it is in *element*; blanks collapse. */
const readSelection = (element) => {
  const selection = getSelection();
  if (!element || !selection.rangeCount) return "";
  if (!element.contains(selection.getRangeAt(0).commonAncestorContainer)) return "";
  return selection.toString().trim().replace(/\s+/g, " ");
};

/** The quotes of a document. *quote* is called with a text, its grade, null to remove it, and the field of its source. */
export const makeQuotes = (session, quote) => {
  const { choices, quoted_field } = session;
  const quotes = {};
  const grades = choices.map((choice) => choice.grade).filter((grade) => grade > 0);
  grades.sort((a, b) => b - a);
  at("quote-grade").replaceChildren(...grades.map((grade) => makeOption(grade, nameGrade(choices, grade))));
  // The field stays chosen: chunks of one index say in the same one which document they are from.
  let source = "";
  at("quote-from").addEventListener("change", () => (source = at("quote-from").value));

  const findText = () => [...at("fields").children].find((element) => element.dataset.field === quoted_field);

  const makeRow = (marked) => {
    const text = make("div", marked.text);
    text.append(" ", make("span", `${nameGrade(choices, marked.grade)}, from ${marked.from}`, "muted"));
    const button = make("button", "Remove");
    button.type = "button";
    button.append(make("span", ` ${marked.text}`, "hidden"));
    button.addEventListener("click", () => quote(marked.text, null, ""));
    const row = make("li");
    row.append(text, button);
    return row;
  };

  quotes.show = (document) => {
    at("quotes").hidden = !document || !grades.length || (!findText() && !document.quotes.length);
    if (!document) return;
    at("quote-list").replaceChildren(...document.quotes.map(makeRow));
    const fields = document.fields.filter(({ name, text }) => name !== quoted_field && text.length <= LONGEST_SOURCE);
    at("quote-from").replaceChildren(
      makeOption("", `this hit: ${document.document}`),
      ...fields.map((field) => makeOption(field.name, `${field.name}: ${field.text}`)),
    );
    at("quote-from").value = fields.some((field) => field.name === source) ? source : "";
  };

  quotes.mark = () => {
    const text = readSelection(findText());
    if (at("quotes").hidden) return say("This document has no text to quote from.");
    if (!text) return say(`Select words in ${quoted_field} first.`);
    if (text.length > LONGEST) return say(`A quote has at most ${LONGEST} characters; ${text.length} are selected.`);
    quote(text, Number(at("quote-grade").value), at("quote-from").value);
  };

  // A press of the button must not end the selection.
  at("quote").addEventListener("mousedown", (event) => event.preventDefault());
  at("quote").addEventListener("click", quotes.mark);
  return quotes;
};
