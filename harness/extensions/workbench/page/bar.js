// The bar: figures of the try beside live.

import { at, make } from "./elements.js";
import { colorOf, count, formatDifference, formatRange, formatScore } from "./figures.js";

const DIGITS = 4;

const addFigure = (list, name, value, className = "", also = "") => {
  const group = make("div");
  const description = make("dd", "", className);
  description.append(value);
  if (also) description.append(" ", make("span", also, "also"));
  group.append(make("dt", name), description);
  list.append(group);
};

const addOutcome = (list, summary) => {
  const value = make("span");
  value.append(
    make("span", String(summary.wins), "rise"),
    " / ",
    make("span", String(summary.losses), "fall"),
    ` / ${summary.same}`,
  );
  addFigure(list, "won / lost / same", value);
};

const addDifference = (list, summary) => {
  if (summary.difference === null) return;
  const interval = summary.interval ? formatRange(summary.interval, DIGITS) : "";
  const color = colorOf(summary.difference, summary.is_grey);
  addFigure(list, "difference", formatDifference(summary.difference, DIGITS), `main ${color}`, interval);
};

/** The thresholds that would fail: what they are, and on demand why. */
const addFailing = (list, failing) => {
  const texts = failing.map((threshold) => threshold.text);
  const value = make("span", texts.join("; ") || "nothing", "clipped");
  value.title = texts.join("\n");
  const alike = failing.filter((threshold) => threshold.live_too).length;
  const also = alike ? `${alike === failing.length ? "" : `${alike} of them `}live too` : "";
  addFigure(list, "would fail", value, alike < failing.length ? "fall" : "", also);
};

/** Figures of a try that is over. */
const fillRest = (list, summary, label) => {
  const { best, latency, graded_here: graded } = summary;
  addFailing(list, summary.failing);
  const range = summary.range ? `difference ${formatRange(summary.range, DIGITS)}` : "";
  addFigure(list, "unjudged hits", summary.unjudged.toLocaleString("en"), "", range);
  if (graded?.count) {
    const without = graded.without === null ? "" : `without them ${formatDifference(graded.without, DIGITS)}`;
    addFigure(list, "graded while ranks were seen", String(graded.count), "", without);
  }
  if (best) {
    const interval = best.interval ? formatRange(best.interval, DIGITS) : "–";
    addFigure(list, `best of ${count(best.of, "try", "tries")}`, interval);
  }
  const searches = count(summary.searches, "search", "searches");
  addFigure(list, label, searches, "", `${summary.seconds.toFixed(2)} s`);
  if (latency) {
    const [live, now] = [latency.live, latency.try].map((times) => times.map((time) => Math.round(time)).join(" / "));
    addFigure(list, "p50 / p95 of a search", `${now} ms`, "", `live ${live} ms`);
  }
};

/** Shows the figures: *summary* is null until all rows of the try are there. */
export const showFigures = (session, label, summary, isRunning) => {
  const lead = at("lead");
  lead.replaceChildren();
  const live = summary ? summary.live : session.live;
  addFigure(lead, `${session.measure} live`, formatScore(live, DIGITS));
  if (summary) {
    addFigure(lead, label, formatScore(summary.try, DIGITS));
    addDifference(lead, summary);
    addOutcome(lead, summary);
  } else if (isRunning) addFigure(lead, label, "…", "muted");
  at("figures").replaceChildren();
  if (summary) fillRest(at("figures"), summary, label);
  at("rest").hidden = !summary;
};
