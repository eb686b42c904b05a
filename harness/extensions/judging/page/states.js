// How far documents and queries are.

import { nameGrade } from "./grades.js";

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

/** What the judge said of a document, in words. */
export const describeAnswer = (choices, document) => {
  if (document.grade !== null) return `graded ${nameGrade(choices, document.grade)}`;
  return document.cannot_tell ? "cannot tell" : "not graded";
};
