// Both rankings of the chosen query, the relevant documents that neither shows, and one hit with its grade.

import { at, fillFacts, make, showText } from "./elements.js";
import { describeAgreement, formatDifference, formatScore } from "./figures.js";
import { nameGrade, shadeOf } from "./grades.js";
import { listen, makeOption, reveal } from "./listbox.js";

const SIDES = ["live", "try", "missing"];

/** The sign of what a hit did, its class, and the words for who does not see it. */
const describeMove = (hit) => {
  if (hit.is_new) return ["new", "rise"];
  if (hit.is_gone) return ["gone", "fall"];
  if (!hit.move) return ["", ""];
  return hit.move > 0 ? [`▲${hit.move}`, "rise", `up ${hit.move}`] : [`▼${-hit.move}`, "fall", `down ${-hit.move}`];
};

const listFacts = (query, answer, label) => {
  const facts = [["live", formatScore(query.live)]];
  const { row } = query;
  if (row && row.score !== null) {
    facts.push([label, formatScore(row.score)]);
    if (row.high > row.low) facts.push(["with ties", `${formatScore(row.low)} to ${formatScore(row.high)}`]);
    if (query.live !== null) facts.push(["difference", formatDifference(row.score - query.live)]);
  }
  if (query.of) facts.push([`variant of ${query.of}`, [query.rule, describeAgreement(query)].filter(Boolean).join(", ")]);
  facts.push(...Object.entries(answer?.params || {}));
  if (query.tags.length) facts.push(["tags", query.tags.join(", ")]);
  return facts;
};

/** Why the ranking of the try has no hit. */
const describeEmpty = (query, answer, label) => {
  if (answer?.try?.length || query.row?.error) return "";
  if (answer?.try) return "No hit.";
  return label === "try" ? "Change the request to see what moves." : "Waiting for its answer …";
};

/** A sign, with the words for who does not see it. */
const makeSign = (text, className, words) =>
  Object.assign(make("span", text, className), words ? { role: "img", ariaLabel: words } : {});

/** The rankings; *choose* is called when another hit is chosen. */
export const makeRanking = (choices, choose) => {
  const ranking = { chosen: null, query: null };
  let lists = { live: [], try: [], missing: [] };

  const makeGrade = (grade) => {
    const isJudged = grade !== null;
    const words = isJudged ? `grade ${nameGrade(choices, grade)}` : "not judged";
    const color = isJudged ? shadeOf(choices, grade) : "unjudged";
    return Object.assign(makeSign(isJudged ? String(grade) : "?", `grade ${color}`, words), { title: words });
  };

  const makeName = (hit) => {
    const name = make("span", "", "name");
    name.append(make("span", hit.title || hit.document, hit.title ? "of" : "of id"));
    if (hit.title) name.append(" ", make("span", hit.document, "id muted"));
    name.title = hit.title ? `${hit.title} (${hit.document})` : hit.document;
    return name;
  };

  const makeHit = (side, hit, other) => {
    const [sign, color, words] = describeMove(hit);
    const move = makeSign(sign, `move ${color}`, words);
    const rank = make("span", String(hit.rank), "number rank");
    if (hit.tied) {
      rank.classList.add("tied");
      rank.title = "tied with a neighbour: they may change places";
    }
    const before = make("span", other ? String(other.rank) : "–", "number before muted");
    before.title = "live rank";
    const gain = make("span", hit.gain ? formatScore(hit.gain) : (hit.gain ?? ""), "number muted gain");
    if (side === "try") return [rank, before, move, makeName(hit), makeGrade(hit.grade), gain];
    return [rank, makeName(hit), move, makeGrade(hit.grade), gain];
  };

  const makeMissing = (missing) => [
    makeName(missing),
    makeGrade(missing.grade),
    make("span", missing.where, "where muted"),
  ];

  const isChosen = (side, place) => ranking.chosen?.side === side && ranking.chosen.place === place;

  const paintSide = (side) => {
    const box = at(`${side}-hits`);
    const hits = lists[side];
    const others = new Map(lists.live.map((hit) => [hit.document, hit]));
    const document = ranking.chosen?.hit.document;
    const options = hits.map((hit, place) => {
      const option = makeOption(box, place, hits.length, isChosen(side, place));
      option.classList.toggle("is-gone", Boolean(hit.is_gone));
      option.classList.toggle("is-same", hit.document === document);
      option.append(...(side === "missing" ? makeMissing(hit) : makeHit(side, hit, others.get(hit.document))));
      return option;
    });
    if (ranking.chosen?.side !== side) box.removeAttribute("aria-activedescendant");
    box.hidden = !options.length;
    box.replaceChildren(...options);
  };

  const paint = () => {
    SIDES.forEach(paintSide);
    at("missing-part").hidden = !lists.missing.length;
    const { chosen } = ranking;
    at("hit").hidden = !chosen;
    if (!chosen) return;
    const { hit } = chosen;
    const where = chosen.side === "missing" ? "missing" : `${chosen.side}, rank ${hit.rank}`;
    at("hit-heading").textContent = `${hit.title || hit.document} (${where})`;
    fillFacts(at("hit-texts"), Object.entries(hit.texts));
    for (const button of at("grades").children) {
      const { grade } = choices[button.dataset.choice];
      button.setAttribute("aria-pressed", String(grade === hit.grade));
      button.className = grade === hit.grade ? shadeOf(choices, grade) : "";
    }
  };

  const chooseAt = (side, place) => {
    const hit = lists[side][place];
    if (!hit) return;
    ranking.chosen = { side, place, hit };
    paint();
    const option = at(`${side}-hits-${place}`);
    const box = at("ranking");
    const top = option.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
    reveal(box, top, top + option.offsetHeight + at("hit").offsetHeight);
    choose();
  };

  /** Gives the focus to a side, and chooses its hit that is nearest to *place*. */
  const goTo = (side, place) => {
    const to = Math.min(Math.max(place, 0), lists[side].length - 1);
    // Chosen before: what gets the focus without a chosen hit chooses its first.
    ranking.chosen = { side, place: to, hit: lists[side][to] };
    at(`${side}-hits`).focus({ preventScroll: true });
    chooseAt(side, to);
  };

  /** The same hit in other rankings: it may have moved. */
  const findAgain = (before) => {
    if (!before) return null;
    for (const side of [before.side, ...SIDES]) {
      const place = lists[side].findIndex((hit) => hit.document === before.hit.document);
      if (place >= 0) return { side, place, hit: lists[side][place] };
    }
    return null;
  };

  /** Shows the rankings of *query*: *answer* is null while there is none of the try, whose name is *label*. */
  ranking.show = (query, answer, label) => {
    at("query").textContent = query.text;
    fillFacts(at("facts"), listFacts(query, answer, label));
    showText("unanswered", query.row?.error || query.live_error || "");
    at("live-heading").replaceChildren("live", make("span", ": hits that are gone", "only-narrow"));
    at("try-heading").replaceChildren(label, make("span", ": rank, live rank", "only-narrow"));
    const live = answer?.live || (ranking.query === query ? lists.live : []);
    lists = { live, try: answer?.try || [], missing: answer?.missing || [] };
    showText("waiting", describeEmpty(query, answer, label));
    ranking.chosen = ranking.query === query ? findAgain(ranking.chosen) : null;
    ranking.query = query;
    paint();
  };

  /** Goes to the next hit of the side that has the focus, or of the try. */
  ranking.move = (step) => {
    const focused = SIDES.find((side) => document.activeElement === at(`${side}-hits`));
    const first = lists.try.length ? "try" : "live";
    const side = focused || ranking.chosen?.side || first;
    if (lists[side].length) goTo(side, ranking.chosen?.side === side ? ranking.chosen.place + step : 0);
  };

  /** Goes to the relevant documents that are missing; returns whether there are any. */
  ranking.goToMissing = () => {
    if (!lists.missing.length) return false;
    goTo("missing", 0);
    return true;
  };

  ranking.hasFocus = () => at("ranking").contains(document.activeElement);

  for (const side of SIDES) {
    const find = () => ({ place: ranking.chosen?.side === side ? ranking.chosen.place : -1, length: lists[side].length });
    listen(at(`${side}-hits`), find, (place) => chooseAt(side, place));
    // Whoever comes with Tab stands on a hit, as a grade is for one.
    at(`${side}-hits`).addEventListener("focus", () => {
      if (ranking.chosen?.side !== side && at(`${side}-hits`).matches(":focus-visible")) chooseAt(side, 0);
    });
  }
  at("live-hits").addEventListener("keydown", (event) => event.key === "ArrowRight" && cross("try"));
  at("try-hits").addEventListener("keydown", (event) => event.key === "ArrowLeft" && cross("live"));

  /** Goes to the same document on the other side, or to the one of the same rank. */
  const cross = (side) => {
    if (!lists[side].length) return;
    const { hit, place } = ranking.chosen;
    const same = lists[side].findIndex((other) => other.document === hit.document);
    goTo(side, same < 0 ? place : same);
  };

  /** Shows why a hit has its score: *lines* with a depth each. */
  ranking.explain = (heading, lines) => {
    at("explanation").hidden = false;
    at("explanation-heading").textContent = heading;
    const rows = lines.map((line) => {
      const row = make("li");
      row.style.paddingLeft = `${line.depth * 14}px`;
      if (line.value !== null) row.append(make("span", String(Number(line.value.toPrecision(5))), "value number"));
      row.append(make("span", line.text));
      return row;
    });
    at("explanation-lines").replaceChildren(...rows);
    at("explanation").scrollIntoView({ block: "nearest" });
  };
  return ranking;
};
