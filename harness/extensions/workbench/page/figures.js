// How figures are written.

/** Below this a difference is the noise of adding up, and no difference. */
const NOISE = 1e-9;

export const formatScore = (score, digits = 3) => (score === null ? "–" : score.toFixed(digits));

export const formatDifference = (difference, digits = 3) => {
  const size = Math.abs(difference).toFixed(digits);
  if (Number(size) === 0) return size;
  return (difference < 0 ? "-" : "+") + size;
};

export const formatRange = ([low, high], digits = 3) =>
  `${formatDifference(low, digits)} to ${formatDifference(high, digits)}`;

export const count = (number, word, words = `${word}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? word : words}`;

/** What a try does to the score of a query; null where one of the two scores is not there. */
export const differenceOf = (query, row) => {
  if (!row || row.score === null || query.live === null) return null;
  const difference = row.score - query.live;
  return Math.abs(difference) < NOISE ? 0 : difference;
};

/** How far a variant finds what its query finds: live, and by the try. */
export const describeAgreement = (variant) => {
  const values = [variant.live_agreement, variant.row?.agreement].filter((value) => typeof value === "number");
  return `${variant.agreement} ${values.map((value) => formatScore(value)).join(" → ") || "–"}`;
};

/** The class that colors a difference; what may be nothing has no color. */
export const colorOf = (difference, isGrey) => {
  if (difference === null || isGrey || difference === 0) return "muted";
  return difference < 0 ? "fall" : "rise";
};
