// Elements of the page. Whatever comes from an index or a suite is set as text, never as HTML.

export const at = (id) => document.getElementById(id);

export const make = (name, text = "", className = "") =>
  Object.assign(document.createElement(name), { textContent: text, className });

/** Fills a list of terms and descriptions. */
export const fillFacts = (list, facts) => {
  list.replaceChildren(...facts.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
};

/** Shows a text in an element, which is hidden without one. */
export const showText = (id, text) => {
  at(id).textContent = text;
  at(id).hidden = !text;
};

/** Says something to everybody; what is seen anyway, *also*, is said to screen readers only. */
export const say = (text, also = "") => {
  at("said").replaceChildren(text, make("span", also, "hidden"));
  at("said").classList.remove("problem");
};

export const complain = (error) => {
  say(error.message);
  at("said").classList.add("problem");
  at("said").scrollIntoView({ block: "nearest" });
};
