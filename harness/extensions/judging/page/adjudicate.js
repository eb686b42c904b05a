// What other judges say of a document, side by side, for the judge who settles their differences.

import { at, make } from "./elements.js";
import { nameGrade, shadeOf } from "./grades.js";

const makeGrade = (choices, other) => {
  const cell = make("td");
  if (other.grade === null) cell.append(make("span", "cannot tell", "muted"));
  else cell.append(make("span", nameGrade(choices, other.grade), `chip ${shadeOf(choices, other.grade)}`));
  return cell;
};

export const showOthers = (choices, others) => {
  at("others").hidden = !others.length;
  const rows = others.map((other) => {
    const row = make("tr");
    const heading = make("th", other.judge);
    heading.scope = "row";
    row.append(heading, makeGrade(choices, other), make("td", other.comment));
    return row;
  });
  at("others-rows").replaceChildren(...rows);
};
