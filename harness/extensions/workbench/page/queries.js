// The list of queries: losses first, filtered, and of many only those in sight in the page.

import { at, make } from "./elements.js";
import { colorOf, describeAgreement, differenceOf, formatDifference, formatScore } from "./figures.js";
import { listen, makeOption, reveal } from "./listbox.js";

/** Rows above and below those in sight. */
const SPARE = 6;
/** The difference whose bar has the whole length. */
const FULL = 0.5;

/** Queries without an answer first, as something is wrong there; without a difference, as if nothing had moved. */
const rankLoss = (query) => {
  if (query.row?.error) return -Infinity;
  return differenceOf(query, query.row) ?? 0;
};

const rankScore = (query) => query.row?.score ?? query.live ?? -Infinity;

const ORDERS = {
  losses: (one, other) => rankLoss(one) - rankLoss(other),
  wins: (one, other) => rankLoss(other) - rankLoss(one),
  score: (one, other) => rankScore(one) - rankScore(other),
  weight: (one, other) => other.weight - one.weight,
  suite: () => 0,
};

// Two infinities have no difference.
const compareBy = (order) => (one, other) => ORDERS[order](one, other) || 0;

const hasState = (query, state) => {
  if (state === "unanswered") return Boolean(query.row ? query.row.error : query.live_error);
  if (!query.row) return false;
  if (state === "moved") return query.row.moved;
  if (state === "unjudged") return query.row.unjudged > 0;
  const difference = differenceOf(query, query.row);
  return difference !== null && { lost: difference < 0, won: difference > 0, same: difference === 0 }[state];
};

/** *queries*, each with its variants below it. */
const addVariants = (queries) => queries.flatMap((query) => [query, ...query.variants]);

/** The list; *open* is called with the query that is chosen. */
export const makeQueries = (open) => {
  const queries = { all: [], listed: [], found: 0, chosen: null };
  let height = 0;
  let isRunning = false;
  let walked = null;
  let frame = 0;
  const box = at("list");

  const makeBar = (difference) => {
    const bar = make("span", "", `bar ${colorOf(difference, false)}`);
    const length = make("i", "", difference < 0 ? "down" : "up");
    length.style.width = `${Math.min(Math.abs(difference) / FULL, 1) * 50}%`;
    bar.append(length, make("b", difference ? formatDifference(difference) : "0"));
    return bar;
  };

  const fillScores = (option, query) => {
    const { row } = query;
    option.append(make("span", query.live_error ? "none" : query.live_found ?? formatScore(query.live), "number muted"));
    if (row?.error) {
      option.append(make("span", "no answer", "none"));
      return;
    }
    if (!row) {
      // What has no answer yet has no score of another try either.
      option.append(make("span", isRunning ? "…" : "", "number muted"), make("span"), make("span"));
      return;
    }
    const score = make("span", row.found ?? formatScore(row.score), "number");
    if (row.score !== null && row.high > row.low) {
      score.classList.add("tied");
      score.title = `${formatScore(row.low)} to ${formatScore(row.high)}: ties may change places`;
    }
    const difference = differenceOf(query, row);
    option.append(score, difference === null ? make("span") : makeBar(difference));
    const unjudged = make("span", row.unjudged ? String(row.unjudged) : "", "number muted");
    if (row.unjudged) unjudged.append(make("span", " unjudged", "hidden"));
    option.append(unjudged);
  };

  const makeRow = (place) => {
    const query = queries.listed[place];
    const option = makeOption(box, place, queries.listed.length, query === queries.chosen);
    option.style.top = `${place * height}px`;
    const name = make("span", query.text, "name");
    if (query.of) {
      option.classList.add("variant");
      name.prepend(make("span", "variant ", "hidden"));
      name.append(" ", make("span", describeAgreement(query), "muted"));
    }
    name.title = name.textContent;
    option.append(name);
    fillScores(option, query);
    return option;
  };

  const listPlaces = () => {
    const first = Math.max(Math.floor(box.scrollTop / height) - SPARE, 0);
    const last = Math.min(Math.ceil((box.scrollTop + box.clientHeight) / height) + SPARE, queries.listed.length);
    const places = Array.from({ length: last - first }, (_, place) => first + place);
    const chosen = queries.listed.indexOf(queries.chosen);
    // Screen readers need the chosen row, wherever it is.
    if (chosen >= 0 && chosen < first) places.unshift(chosen);
    if (chosen >= last) places.push(chosen);
    return places;
  };

  const paint = () => {
    frame = 0;
    at("rows").style.height = `${queries.listed.length * height}px`;
    box.removeAttribute("aria-activedescendant");
    at("rows").replaceChildren(...listPlaces().map(makeRow));
    at("none-listed").hidden = queries.listed.length > 0;
    const found = queries.found === queries.all.length ? "" : `${queries.found.toLocaleString("en")} of `;
    at("queries-heading").textContent = `Queries ${found}${queries.all.length.toLocaleString("en")}`;
  };

  /** Paints before the next frame, however often it is called until then. */
  const paintSoon = () => (frame ||= requestAnimationFrame(paint));

  const measure = () => {
    height = Number.parseFloat(getComputedStyle(box).getPropertyValue("--row"));
    paintSoon();
  };

  /** Lists what the filter leaves, in its order. Neither changes while rows arrive or grades are given. */
  const list = () => {
    const words = at("filter-words").value.trim().toLowerCase();
    const state = at("filter-state").value;
    const tag = at("filter-tag").value;
    const matches = (query) =>
      (!words || query.lower.includes(words)) && (!tag || query.tags.includes(tag)) && (!state || hasState(query, state));
    const found = queries.all.filter(matches).sort(compareBy(at("order").value));
    queries.found = found.length;
    queries.listed = addVariants(found);
    paintSoon();
  };

  const choose = (place) => {
    queries.choose(queries.listed[place]);
    reveal(box, place * height, (place + 1) * height);
    paint();
  };

  /** Goes to the next query that was lost, or won, the first of an order first; returns whether there is one. */
  queries.walk = (outcome, order) => {
    const places = queries.listed.filter((query) => !query.of && hasState(query, outcome)).sort(compareBy(order));
    // The first step leads to the greatest one, wherever the chosen query stands.
    const isWalking = walked?.outcome === outcome && walked.query === queries.chosen;
    const next = places[isWalking ? places.indexOf(walked.query) + 1 : 0];
    if (!next) return false;
    walked = { outcome, query: next };
    choose(queries.listed.indexOf(next));
    return true;
  };

  queries.move = (step) => {
    const place = queries.listed.indexOf(queries.chosen) + step;
    if (place >= 0 && place < queries.listed.length) choose(place);
  };

  queries.choose = (query) => {
    queries.chosen = query;
    open(query);
    paintSoon();
  };

  /** The ids of what is sent first: the chosen query, and those in sight. */
  queries.listFirst = () => {
    const first = Math.floor(box.scrollTop / height);
    const inSight = queries.listed.slice(first, first + Math.ceil(box.clientHeight / height) + 1);
    if (queries.chosen) inSight.unshift(queries.chosen);
    return [...new Set(inSight.map((query) => query.of || query.id))];
  };

  /** Takes the queries of a session, and chooses the first if none was chosen. */
  queries.fill = (filled) => {
    const id = queries.chosen?.id;
    queries.all = filled.map((query) => {
      const variants = query.variants.map((variant) => ({ ...variant, row: null, of: query.id, tags: query.tags }));
      const words = [query, ...variants].map(({ id, text }) => `${id} ${text}`);
      return { ...query, variants, row: null, lower: words.join(" ").toLowerCase() };
    });
    queries.byId = new Map(addVariants(queries.all).map((query) => [query.id, query]));
    const tags = [...new Set(queries.all.flatMap((query) => query.tags))].sort();
    at("filter-tag").replaceChildren(new Option("all tags", ""), ...tags.map((tag) => new Option(tag, tag)));
    at("filter-tag-label").hidden = !tags.length;
    list();
    queries.chosen = queries.byId.get(id) || queries.listed[0] || null;
  };

  /** Forgets all rows: those of a new run arrive. */
  queries.begin = () => {
    isRunning = true;
    for (const query of queries.byId.values()) query.row = null;
    paintSoon();
  };

  queries.take = (rows) => {
    for (const row of rows) {
      const query = queries.byId.get(row.query);
      if (query) query.row = row;
    }
    paintSoon();
  };

  /** All rows are there: now the order is made anew. */
  queries.settle = () => {
    isRunning = false;
    walked = null;
    list();
  };

  const find = () => ({ place: queries.listed.indexOf(queries.chosen), length: queries.listed.length });
  listen(box, find, choose);
  box.addEventListener("scroll", paintSoon, { passive: true });
  for (const id of ["filter-words", "filter-state", "filter-tag", "order"]) {
    at(id).addEventListener("input", () => {
      box.scrollTop = 0;
      list();
    });
  }
  new ResizeObserver(measure).observe(box);
  measure();
  return queries;
};
