// How grades are called, and how they look.

/** How a grade is called: its name with the number, or the number. */
export const nameGrade = (choices, grade) => {
  const choice = choices.find((one) => one.grade === grade);
  return choice && choice.name ? `${choice.name} (${grade})` : String(grade);
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
