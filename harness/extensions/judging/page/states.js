// How far documents and queries are.

export const isAnswered = (document) => document.grade !== null || document.cannot_tell;

/** Whether other judges gave different grades, on which this judge has not decided yet. */
const isOpenDisagreement = (document) => {
  const grades = document.others.filter((other) => other.grade !== null).map((other) => other.grade);
  return new Set(grades).size > 1 && !isAnswered(document);
};

/** The state of a query with its documents: ungraded, partly, done or disagreed. */
export const stateOf = (query) => {
  if (query.documents.some(isOpenDisagreement)) return "disagreed";
  const answered = query.documents.filter(isAnswered).length;
  if (query.documents.length && answered === query.documents.length) return "done";
  if (answered) return "partly";
  // All that was found has a grade in the suite.
  if (!query.documents.length && query.judged) return "done";
  return "ungraded";
};

/** How a grade is called: its name with the number, or the number. */
export const nameGrade = (choices, grade) => {
  const choice = choices.find((one) => one.grade === grade);
  return choice && choice.name ? `${choice.name} (${grade})` : String(grade);
};

/** What the judge said of a document, in words. */
export const describeAnswer = (choices, document) => {
  if (document.grade !== null) return `graded ${nameGrade(choices, document.grade)}`;
  return document.cannot_tell ? "cannot tell" : "not graded";
};

/** The color of a grade, as in a report: below zero, the lowest, and the others in four steps to the best. */
export const shadeOf = (choices, grade) => {
  if (grade < 0) return "gain-negative";
  const grades = [...new Set(choices.map((choice) => choice.grade))].sort((a, b) => a - b);
  const others = grades.filter((other) => other > Math.max(grades[0], 0));
  const step = others.indexOf(grade);
  if (step < 0) return "gain-0";
  return "gain-" + (others.length === 1 ? 4 : Math.round(1 + (3 * step) / (others.length - 1)));
};
