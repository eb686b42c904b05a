// Several judges: how far the others are, and what finishing means.

import { at } from "./elements.js";

export const showTeam = (judge, progress = []) => {
  const others = progress.filter((other) => other.judge !== judge);
  const words = others.map((other) => `${other.judge} ${other.done ? "is done" : `${other.graded} of ${other.documents}`}`);
  at("team").hidden = !words.length;
  at("team").textContent = `Graded by others: ${words.join(", ")}`;
};

/** Says at the button what finishing does, and returns it. One judge alone ends the command. */
export const describeFinish = (finish = "end") => {
  if (finish === "end") return "write the grades and end the command";
  at("finish-why").textContent = "Every grade is kept as soon as it is given.";
  if (finish !== "done") return "write the grades";
  at("finish").textContent = "I am done";
  return "say that you are done";
};
