"use strict";
(() => {
  document.documentElement.classList.add("js");
  const data = JSON.parse(document.getElementById("data").textContent);

  const LEFT = 74, RIGHT = 12, TOP = 8, HEIGHT = 150, AXIS = 18, LANE = 16, ROWS = 25, FEW_ROWS = 10;

  const svgElement = (name, attributes, parent, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };

  const htmlElement = (name, className, parent, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };

  const isNumber = (value) => value !== null && value !== undefined;
  // As the terminal rounds: what is halfway between two figures, as 1/32 is, becomes the even one.
  const round = (value) => {
    const isHalfway = Math.abs(value * 32) % 2 === 1;
    const isEven = Math.floor(Math.abs(value) * 10000) % 2 === 0;
    return (isHalfway && isEven ? value * (1 - 1e-9) : value).toFixed(4);
  };
  const score = (value) => (isNumber(value) ? round(value) : "–");
  const difference = (value) => {
    if (!isNumber(value)) return "–";
    const text = round(value);
    return Number(text) === 0 ? "0.0000" : value > 0 ? "+" + text : text;
  };
  const change = (after, before) => (isNumber(after) && isNumber(before) ? after - before : null);
  const direction = (value) => (isNumber(value) && Math.abs(value) >= 0.00005 ? (value > 0 ? "rise" : "fall") : "");
  const plural = (number, word) => number + " " + (number === 1 ? word : word.replace(/y$/, "ie") + "s");

  // a list of changes has the place of a run and what holds from there on, by turns
  const valueAt = (changes, place) => {
    let found = null;
    for (let index = 0; changes && index < changes.length && changes[index] <= place; index += 2)
      found = changes[index + 1];
    return found;
  };

  const hitsAt = (query, place) => {
    let found = [];
    for (const [from, hits] of query.hits || []) {
      if (from > place) break;
      found = hits;
    }
    return found;
  };

  // the ends of an axis, and the places of its lines
  const makeScale = (values) => {
    let low = Math.min(...values), high = Math.max(...values);
    if (!isFinite(low)) [low, high] = [0, 1];
    const margin = Math.max((high - low) * 0.06, 0.005);
    low -= margin;
    high += margin;
    const size = 10 ** Math.floor(Math.log10(high - low));
    const step = [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5].map((factor) => factor * size).find((one) => (high - low) / one <= 4);
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(tick);
    // As many as the step has: of 0.025 three, or labels at equal distances would differ unevenly.
    let decimals = 0;
    while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1;
    return { low, high, ticks, format: (tick) => tick.toFixed(decimals) };
  };

  const show = (timeline, section) => {
    const [filters, runsForm] = section.querySelectorAll("form");
    const fields = { ...filters.elements, ...runsForm.elements };
    for (const form of [filters, runsForm])
      for (const field of form.elements) if (field.name) fields[field.name] = field;
    const charts = section.querySelector(".charts");
    const panel = section.querySelector(".comparison");
    const readout = section.querySelector(".readout");
    const last = timeline.runs.length - 1;
    const state = { run: last, before: Math.max(0, last - 1), hover: null, isAll: false };
    const drawn = [];

    const nameRun = (place) => "run " + timeline.runs[place].number;

    const lineOf = (measure) => timeline.lines[fields.tag.value][measure] || {};

    const outlines = (xs, y, line) => {
      const parts = [];
      let pen = "M";
      line.forEach((value, place) => {
        if (!isNumber(value)) {
          pen = "M";
          return;
        }
        parts.push(pen + xs[place].toFixed(1) + " " + y(value).toFixed(1));
        pen = "L";
      });
      // a line of one point has a length, so that its round end is drawn
      return parts.length === 1 ? parts[0] + "h.1" : parts.join("");
    };

    const areas = (xs, y, low, high) => {
      const parts = [];
      let begin = null;
      for (let place = 0; place <= low.length; place += 1) {
        const has = place < low.length && isNumber(low[place]) && isNumber(high[place]);
        if (has && begin === null) begin = place;
        if (!has && begin !== null) {
          const there = [], back = [];
          for (let inside = begin; inside < place; inside += 1) {
            there.push(xs[inside].toFixed(1) + " " + y(high[inside]).toFixed(1));
            back.unshift(xs[inside].toFixed(1) + " " + y(low[inside]).toFixed(1));
          }
          parts.push("M" + there.concat(back).join("L") + "Z");
          begin = null;
        }
      }
      return parts.join("");
    };

    const placeAt = (svg, event) => {
      const box = svg.getBoundingClientRect();
      const share = (event.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT - RIGHT);
      return Math.max(0, Math.min(last, Math.round(share * last)));
    };

    const listen = (svg) => {
      svg.addEventListener("pointermove", (event) => {
        state.hover = placeAt(svg, event);
        guide();
      });
      svg.addEventListener("pointerleave", () => {
        state.hover = null;
        guide();
      });
      svg.addEventListener("click", (event) => {
        const place = placeAt(svg, event);
        if (event.shiftKey) select(state.run, place, true);
        else select(place);
      });
    };

    const addGuides = (svg, xs, height, y, means) => {
      const guides = {};
      for (const name of ["before", "hover", "run"])
        guides[name] = svgElement("line", { class: "guide " + name, y1: TOP, y2: height, x1: 0, x2: 0 }, svg);
      const dot = y && svgElement("circle", { class: "dot", r: 4, cx: 0, cy: 0 }, svg);
      return () => {
        for (const name of ["before", "hover", "run"]) {
          const place = state[name];
          guides[name].setAttribute("visibility", place === null ? "hidden" : "visible");
          if (place === null) continue;
          guides[name].setAttribute("x1", xs[place].toFixed(1));
          guides[name].setAttribute("x2", xs[place].toFixed(1));
        }
        if (!dot) return;
        const place = state.hover === null ? state.run : state.hover;
        dot.setAttribute("visibility", isNumber(means[place]) ? "visible" : "hidden");
        if (!isNumber(means[place])) return;
        dot.setAttribute("cx", xs[place].toFixed(1));
        dot.setAttribute("cy", y(means[place]).toFixed(1));
      };
    };

    const drawDates = (svg, xs, height, width) => {
      const most = Math.max(2, Math.min(6, Math.floor((width - LEFT) / 110)));
      const places = new Set();
      for (let index = 0; index < most; index += 1) places.add(Math.round((index * last) / Math.max(1, most - 1)));
      for (const place of places) {
        const anchor = last && place === last ? "end" : place === 0 ? "start" : "middle";
        svgElement("text", { x: xs[place].toFixed(1), y: height + 14, "text-anchor": anchor }, svg, timeline.runs[place].time.slice(0, 10));
      }
    };

    const drawChart = (measure, xs, width) => {
      const line = lineOf(measure);
      const means = line.mean || timeline.runs.map(() => null);
      const figure = htmlElement("figure", "chart", charts);
      const caption = htmlElement("figcaption", "", figure);
      htmlElement("b", "", caption, measure);
      const figures = htmlElement("span", "", caption);
      const bottom = TOP + HEIGHT;
      const names = ["mean", "least", "most"];
      if (fields.day.checked) names.push("day");
      if (fields.intervals.checked) names.push("low", "high");
      const scale = makeScale(names.flatMap((name) => line[name] || []).filter(isNumber));
      const y = (value) => bottom - ((value - scale.low) / (scale.high - scale.low)) * HEIGHT;
      const known = means.filter(isNumber);
      const label = known.length
        ? measure + " of " + plural(known.length, "run") + ", from " + score(Math.min(...known)) + " to " + score(Math.max(...known)) + ", last " + score(known[known.length - 1])
        : measure + ": no run has a score";
      const svg = svgElement("svg", { role: "img", "aria-label": label, viewBox: "0 0 " + width + " " + (bottom + AXIS), height: bottom + AXIS }, figure);
      for (const tick of scale.ticks) {
        svgElement("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick).toFixed(1), y2: y(tick).toFixed(1) }, svg);
        svgElement("text", { x: LEFT - 6, y: (y(tick) + 4).toFixed(1), "text-anchor": "end" }, svg, scale.format(tick));
      }
      if (fields.intervals.checked && line.low) svgElement("path", { class: "interval", d: areas(xs, y, line.low, line.high) }, svg);
      if (line.least) svgElement("path", { class: "band", d: areas(xs, y, line.least, line.most) }, svg);
      if (fields.day.checked && line.day) svgElement("path", { class: "day", d: outlines(xs, y, line.day) }, svg);
      svgElement("path", { class: "line", d: outlines(xs, y, means) }, svg);
      drawDates(svg, xs, bottom, width);
      const moveGuides = addGuides(svg, xs, bottom, y, means);
      listen(svg);
      drawn.push(() => {
        moveGuides();
        const place = state.hover === null ? state.run : state.hover;
        const parts = [nameRun(place) + ", " + timeline.runs[place].time.slice(0, 10) + ": " + score(means[place])];
        if (line.low && isNumber(line.low[place])) parts.push("interval " + score(line.low[place]) + " to " + score(line.high[place]));
        if (line.least && isNumber(line.least[place])) parts.push("ties " + score(line.least[place]) + " to " + score(line.most[place]));
        if (line.day && isNumber(line.day[place]) && score(line.day[place]) !== score(means[place])) parts.push("of the day " + score(line.day[place]));
        figures.textContent = parts.join("; ");
      });
    };

    const drawMarks = (xs, width) => {
      const lanes = timeline.kinds.map((kind, index) => [kind, index]);
      const places = new Map();
      timeline.runs.forEach((run, place) => {
        for (const [kind] of run.changes) {
          if (!places.has(kind)) places.set(kind, new Set());
          places.get(kind).add(place);
        }
      });
      const shown = lanes.filter(([, index]) => places.has(index));
      if (!shown.length) return;
      const figure = htmlElement("figure", "chart", charts);
      const caption = htmlElement("figcaption", "", figure);
      htmlElement("b", "", caption, "What changed");
      const text = htmlElement("span", "", caption);
      const bottom = TOP + shown.length * LANE;
      const label = shown.map(([kind, index]) => {
        const numbers = [...places.get(index)].map((place) => timeline.runs[place].number);
        const most = numbers.length > 12 ? plural(numbers.length, "run") : "run " + numbers.join(", ");
        return kind + " before " + most;
      });
      const svg = svgElement("svg", { role: "img", "aria-label": "Changes: " + label.join("; "), viewBox: "0 0 " + width + " " + (bottom + AXIS), height: bottom + AXIS }, figure);
      shown.forEach(([kind, index], row) => {
        const top = TOP + row * LANE;
        svgElement("rect", { class: "lane", x: LEFT - 4, y: top + 1, width: width - LEFT - RIGHT + 8, height: LANE - 3, rx: 3 }, svg);
        svgElement("text", { x: LEFT - 8, y: top + 11, "text-anchor": "end" }, svg, kind);
        for (const place of places.get(index)) {
          svgElement("rect", { class: "mark", x: (xs[place] - 1.5).toFixed(1), y: top + 1, width: 3, height: LANE - 3 }, svg);
        }
      });
      drawDates(svg, xs, bottom, width);
      const moveGuides = addGuides(svg, xs, bottom);
      listen(svg);
      drawn.push(() => {
        moveGuides();
        const place = state.hover === null ? state.run : state.hover;
        const changes = timeline.runs[place].changes.map(([, what]) => what);
        text.textContent = nameRun(place) + ": " + (changes.length ? changes.join("; ") : "nothing");
      });
    };

    const draw = () => {
      drawn.length = 0;
      charts.replaceChildren();
      const width = Math.max(260, Math.floor(charts.clientWidth));
      const xs = timeline.runs.map((_, place) => (last ? LEFT + (place / last) * (width - LEFT - RIGHT) : (width + LEFT) / 2));
      for (const measure of timeline.measures) drawChart(measure, xs, width);
      drawMarks(xs, width);
      // The legend names what is drawn, and nothing else.
      for (const item of section.querySelectorAll("[data-drawn]")) item.hidden = !charts.querySelector("svg ." + item.dataset.drawn);
      guide();
    };

    let waits = false;
    const guide = () => {
      if (waits) return;
      waits = true;
      requestAnimationFrame(() => {
        waits = false;
        for (const update of drawn) update();
      });
    };

    // Two runs side by side.

    const addRow = (body, heading, cells) => {
      const row = htmlElement("tr", "", body);
      const cell = htmlElement("th", "", row);
      cell.scope = "row";
      if (typeof heading === "string") cell.textContent = heading;
      else cell.append(...heading);
      for (const [text, className, label] of cells) {
        const figure = htmlElement("td", ("number " + (className || "")).trim(), row, text);
        if (label) figure.dataset.label = label;
      }
      return row;
    };

    const addTable = (headings, className) => {
      const table = htmlElement("table", className, panel);
      const row = htmlElement("tr", "", htmlElement("thead", "", table));
      headings.forEach((heading, column) => {
        const cell = htmlElement("th", column ? "number" : "", row, heading);
        cell.scope = "col";
      });
      return htmlElement("tbody", "", table);
    };

    const describeRun = (place) => {
      const run = timeline.runs[place];
      return [run.time + " UTC", ...run.about, plural(run.queries, "query")].join(", ");
    };

    const listChanges = () => {
      const [from, to] = [Math.min(state.run, state.before), Math.max(state.run, state.before)];
      const found = new Map();
      for (let place = from + 1; place <= to; place += 1)
        for (const [kind, text] of timeline.runs[place].changes) {
          if (!found.has(kind)) found.set(kind, []);
          found.get(kind).push([place, text]);
        }
      return [...found].sort(([first], [second]) => first - second);
    };

    const showChanges = () => {
      const changes = listChanges();
      if (!changes.length) {
        htmlElement("p", "muted", panel, "Nothing is known to have changed between them.");
        return;
      }
      htmlElement("p", "", panel, "Changed between them:");
      const list = htmlElement("ul", "moved", panel);
      for (const [kind, where] of changes) {
        const item = htmlElement("li", "", list);
        htmlElement("b", "", item, timeline.kinds[kind] + ": ");
        const shown = where.slice(-5).map(([place, text]) => (where.length === 1 && place === state.run ? text : text + " (" + nameRun(place) + ")"));
        const more = where.length > 5 ? ", and " + (where.length - 5) + " times before" : "";
        item.append(shown.join("; ") + more);
      }
    };

    const showMeasures = () => {
      const names = [nameRun(state.run), nameRun(state.before)];
      const body = addTable(["Measure", names[0], names[1], "Change", "Of the day"], "stacked");
      for (const measure of timeline.measures) {
        const line = lineOf(measure);
        const at = (name, place) => (line[name] ? line[name][place] : null);
        const moved = change(at("mean", state.run), at("mean", state.before));
        addRow(body, measure, [
          [score(at("mean", state.run)), "", names[0]],
          [score(at("mean", state.before)), "", names[1]],
          [difference(moved), direction(moved), "change"],
          [score(at("day", state.run)) + ", " + score(at("day", state.before)), "", "of the day"],
        ]);
      }
    };

    const gradeOf = (query, number, most) => {
      const [id, grade] = query.documents[number];
      const item = htmlElement("li");
      const badge = htmlElement("span", "grade", item, isNumber(grade) ? String(grade) : "?");
      if (!isNumber(grade)) badge.classList.add("unjudged");
      else if (grade <= 0) badge.classList.add("gain-0");
      else badge.classList.add("gain-" + Math.min(4, Math.max(1, Math.ceil((grade / most) * 4))));
      item.append(" ");
      htmlElement("bdi", "id", item, id);
      return item;
    };

    const openQuery = (button, query, row) => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isOpen));
      if (isOpen) {
        row.nextSibling.remove();
        return;
      }
      const cell = htmlElement("td", "", htmlElement("tr", "open"));
      cell.colSpan = row.cells.length;
      row.after(cell.parentNode);
      if (!query.hits) {
        cell.textContent = "This page omits the hits of this query to limit its size.";
        return;
      }
      const two = htmlElement("div", "two", cell);
      const most = Math.max(1, ...query.documents.map(([, grade]) => grade || 0));
      for (const place of [state.run, state.before]) {
        const side = htmlElement("div", "", two);
        htmlElement("h5", "", side, nameRun(place));
        const hits = hitsAt(query, place);
        if (!hits.length) htmlElement("p", "muted", side, "no hits");
        const list = htmlElement("ol", "", side);
        for (const number of hits) list.append(gradeOf(query, number, most));
        if (!hits.length) list.remove();
      }
    };

    const showQueries = () => {
      const measure = fields.measure.value;
      const rows = timeline.queries.map((query) => {
        const [after, before] = [state.run, state.before].map((place) => valueAt(query.scores[measure], place));
        return { query, after, before, moved: change(after, before) };
      });
      const known = rows.filter((row) => isNumber(row.after) || isNumber(row.before));
      const size = (row) => (isNumber(row.moved) ? Math.abs(row.moved) : isNumber(row.after) !== isNumber(row.before) ? 0.00001 : -1);
      known.sort((first, second) => size(second) - size(first) || (first.after ?? 2) - (second.after ?? 2));
      const changed = known.filter((row) => direction(row.moved));
      const up = changed.filter((row) => row.moved > 0).length;
      htmlElement("h4", "", panel, "Queries by " + measure);
      htmlElement("p", "muted", panel, plural(up, "query") + " rose, " + plural(changed.length - up, "query") + " fell, of " + plural(known.length, "query") + " on this page.");
      if (!known.length) return;
      const names = [nameRun(state.run), nameRun(state.before)];
      const body = addTable(["Query", names[0], names[1], "Change"], "stacked queries-of-runs");
      // those that changed, and where few did, those with the lowest scores
      const rowsShown = state.isAll ? known.length : Math.min(ROWS, Math.max(changed.length, FEW_ROWS));
      for (const { query, after, before, moved } of known.slice(0, rowsShown)) {
        const button = htmlElement("button", "opener");
        button.type = "button";
        button.setAttribute("aria-expanded", "false");
        htmlElement("bdi", "id", button, query.id);
        const heading = [button];
        if (query.text && query.text !== query.id) heading.push(" ", htmlElement("bdi", "title", null, query.text));
        const row = addRow(body, heading, [
          [score(after), "", names[0]],
          [score(before), "", names[1]],
          [difference(moved), direction(moved), "change"],
        ]);
        button.addEventListener("click", () => openQuery(button, query, row));
      }
      if (known.length > rowsShown) {
        const button = htmlElement("button", "more", panel, "Show all " + known.length);
        button.type = "button";
        button.addEventListener("click", () => {
          state.isAll = true;
          compare();
        });
      }
    };

    const compare = () => {
      panel.replaceChildren();
      const isOne = state.run === state.before;
      const heading = nameRun(state.run) + (isOne ? "" : " against " + nameRun(state.before));
      htmlElement("h3", "", panel, heading[0].toUpperCase() + heading.slice(1));
      const list = htmlElement("ul", "moved", panel);
      for (const place of isOne ? [state.run] : [state.run, state.before]) {
        const item = htmlElement("li", "", list);
        htmlElement("b", "", item, nameRun(place));
        item.append(": " + describeRun(place));
      }
      if (!isOne) showChanges();
      showMeasures();
      showQueries();
      const measure = fields.measure.value;
      const line = lineOf(measure).mean || [];
      readout.textContent = heading[0].toUpperCase() + heading.slice(1) + ": " + measure + " " + score(line[state.run]) + (isOne ? "" : ", " + difference(change(line[state.run], line[state.before])));
    };

    const select = (run, before, isKept) => {
      if (isKept !== undefined) fields.previous.checked = !isKept;
      state.run = run;
      if (before !== undefined) state.before = before;
      if (fields.previous.checked) state.before = Math.max(0, run - 1);
      fields.before.disabled = fields.previous.checked;
      for (const name of ["run", "before"]) {
        fields[name].value = state[name] + 1;
        fields[name].setAttribute("aria-valuetext", nameRun(state[name]) + ", " + timeline.runs[state[name]].time.slice(0, 10));
      }
      compare();
      guide();
      const numbers = timeline.runs[state.run].number + (fields.previous.checked ? "" : "-" + timeline.runs[state.before].number);
      if (isReady) history.replaceState(null, "", "#" + section.id + "/" + numbers);
    };

    let isReady = false;
    filters.addEventListener("change", () => {
      draw();
      compare();
    });
    fields.run.addEventListener("input", () => select(Number(fields.run.value) - 1));
    fields.before.addEventListener("input", () => select(state.run, Number(fields.before.value) - 1));
    fields.previous.addEventListener("change", () => select(state.run));
    fields.measure.addEventListener("change", compare);
    new ResizeObserver(() => {
      if (charts.clientWidth && Math.floor(charts.clientWidth) !== drawnWidth) {
        drawnWidth = Math.floor(charts.clientWidth);
        requestAnimationFrame(draw); // charts of another height at once are an error of the observer
      }
    }).observe(charts);
    let drawnWidth = Math.floor(charts.clientWidth);
    draw();
    select(state.run);
    isReady = true;

    const first = timeline.runs[0].number;
    return (run, before) => {
      const inside = (number) => Math.max(0, Math.min(last, number - first));
      if (before === undefined) select(inside(run), undefined, false);
      else select(inside(run), inside(before), true);
      section.querySelector(".filters.runs").scrollIntoView({ block: "start" });
      fields.run.focus({ preventScroll: true });
    };
  };

  const selectors = new Map();
  data.forEach((timeline, index) => {
    const section = document.getElementById("s" + (index + 1));
    selectors.set(section.id, show(timeline, section));
  });

  const follow = () => {
    const found = /^#(s\d+)\/(\d+)(?:-(\d+))?$/.exec(location.hash);
    if (found && selectors.has(found[1])) selectors.get(found[1])(Number(found[2]), found[3] && Number(found[3]));
  };
  addEventListener("hashchange", follow);
  follow();
})();
