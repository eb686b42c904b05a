"use strict";
(() => {
  document.documentElement.classList.add("js");
  // The tables of queries, by their elements. `rows` are all rows in their order, also those that wait in a template,
  // as to lay out thousands takes seconds; the table has the first `shown` of those that fit its filters.
  const listings = new Map();
  const STEP = 200;
  // a narrow window shows each query as a card, of which few fill a screen
  const narrow = matchMedia("(max-width: 760px)");
  const FEW = 5;
  const detailRows = new Map();

  const withDetail = (row) => (detailRows.has(row) ? [row, detailRows.get(row)] : [row]);

  const showMore = (listing, count = STEP) => {
    const { body, fitting, more } = listing;
    const rows = fitting.slice(listing.shown, listing.shown + count);
    body.append(...rows.flatMap(withDetail));
    listing.shown += rows.length;
    more.hidden = listing.shown === fitting.length;
    more.textContent = "Show more: " + listing.shown + " of " + fitting.length + " queries are listed";
  };

  const linkOf = (row) => row.querySelector("[data-opens]");

  const close = (row) => {
    const holder = detailRows.get(row);
    if (!holder) return;
    const link = linkOf(row);
    document.getElementById(link.dataset.opens).append(holder.querySelector(".detail"));
    holder.remove();
    detailRows.delete(row);
    link.setAttribute("aria-expanded", "false");
  };

  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  const address = (hash) => history.replaceState(null, "", hash || location.pathname + location.search);

  const open = (row) => {
    if (detailRows.has(row)) return;
    const link = linkOf(row);
    const holder = document.createElement("tr");
    holder.className = "open";
    const cell = holder.insertCell();
    cell.colSpan = row.cells.length;
    cell.append(document.getElementById(link.dataset.opens).querySelector(".detail"));
    row.after(holder);
    detailRows.set(row, holder);
    link.setAttribute("aria-expanded", "true");
  };

  const filter = (listing) => {
    const { body, form, rows } = listing;
    const wanted = {
      text: form.elements.text.value.trim().toLowerCase(),
      outcome: form.elements.outcome ? form.elements.outcome.value : "",
      tag: form.elements.tag ? form.elements.tag.value : "",
      blamed: form.elements.blamed ? form.elements.blamed.checked : false,
    };
    listing.fitting = rows.filter((row) => {
      const words = (row.cells[0].textContent + " " + row.cells[1].textContent).toLowerCase();
      return (
        (!wanted.text || words.includes(wanted.text)) &&
        (!wanted.outcome || row.dataset.outcome === wanted.outcome) &&
        (!wanted.tag || (row.dataset.tags || "").includes(" " + wanted.tag + " ")) &&
        (!wanted.blamed || "blamed" in row.dataset)
      );
    });
    const count = listing.fitting.length;
    form.querySelector("output").textContent = count === rows.length ? "" : count + " of " + rows.length + " shown";
    body.replaceChildren();
    listing.shown = 0;
    showMore(listing, narrow.matches ? FEW : STEP);
  };

  const valueOf = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent.toLowerCase();
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v.replace("inf", "Infinity"));
  };

  const sort = (listing, column, kind, direction) => {
    listing.rows.forEach(close);
    const order = (a, b) => (a === b ? 0 : a < b ? -direction : direction);
    const keyed = listing.rows.map((row) => [valueOf(row, column, kind), row]);
    keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : order(a, b)));
    listing.rows = keyed.map(([, row]) => row);
    filter(listing);
  };

  const makeSortable = (heading, listing) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heading.parentElement.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      sort(listing, heading.cellIndex, heading.dataset.sort, direction);
    });
  };

  // a card has no headings above its figures
  const nameFigures = () => {
    for (const [table, { rows }] of listings) {
      const headings = [...table.tHead.rows[0].cells];
      for (const row of rows)
        headings.forEach((heading, column) => {
          if (column > 1 && heading.dataset.sort) row.cells[column].dataset.label = heading.textContent;
        });
    }
  };

  const addressOf = (row) => (linkOf(row) ? linkOf(row).dataset.opens : row.id);

  const rowAt = (hash) => {
    const rows = [...listings.values()].flatMap((listing) => listing.rows);
    const alike = (form) => rows.find((row) => form(addressOf(row)) === form(hash));
    // a report of one request calls a query products/shoes, one of several products:current/shoes
    return alike(decoded) || alike((text) => decoded(text.replace(/:[^/]*\//, "/")));
  };

  const reveal = (element) => {
    for (let part = element.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  };

  const follow = () => {
    const row = location.hash && rowAt(location.hash.slice(1));
    if (!row) return;
    const listing = [...listings.values()].find(({ rows }) => rows.includes(row));
    if (!listing.fitting.includes(row)) {
      listing.form.reset();
      filter(listing);
    }
    const place = listing.fitting.indexOf(row);
    if (place >= listing.shown) showMore(listing, place + 1 - listing.shown);
    const link = linkOf(row);
    if (link) open(row);
    reveal(row);
    row.scrollIntoView({ block: "start" });
    if (link) link.focus({ preventScroll: true });
  };

  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting && !narrow.matches) target.click();
  });

  for (const table of document.querySelectorAll("table.queries")) {
    const body = table.tBodies[0];
    const form = document.querySelector('[data-for="' + table.id + '"]');
    const later = document.querySelector('[data-rows="' + table.id + '"]');
    const rows = [...body.rows, ...(later ? later.content.children : [])];
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    table.after(more);
    const listing = { body, form, rows, fitting: rows, shown: body.rows.length, more };
    listings.set(table, listing);
    more.addEventListener("click", () => showMore(listing));
    showMore(listing, 0);
    seen.observe(more);
    table.querySelectorAll(":scope > thead th[data-sort]").forEach((heading) => makeSortable(heading, listing));
    for (const link of rows.map(linkOf).filter(Boolean)) {
      link.setAttribute("role", "button");
      link.setAttribute("aria-expanded", "false");
    }
    table.addEventListener("click", (event) => {
      const link = event.target.closest("[data-opens]");
      if (!link) return;
      event.preventDefault();
      const row = link.closest("tr");
      const isOpen = detailRows.has(row);
      (isOpen ? close : open)(row);
      if (!isOpen) address("#" + link.dataset.opens);
      else if (rowAt(location.hash.slice(1)) === row) address("");
    });
    table.addEventListener("keydown", (event) => {
      if (event.key === " " && event.target.matches("[data-opens]")) {
        event.preventDefault();
        event.target.click();
      }
    });
    form.hidden = false;
    if (narrow.matches) filter(listing);
    form.addEventListener("input", () => filter(listing));
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  if (narrow.matches) nameFigures();
  narrow.addEventListener("change", () => narrow.matches && nameFigures());
  for (const link of document.querySelectorAll("[data-filters]")) {
    link.addEventListener("click", () => {
      const listing = listings.get(document.getElementById(link.dataset.filters));
      listing.form.reset();
      listing.form.elements.tag.value = link.dataset.tag;
      filter(listing);
      reveal(listing.form);
    });
  }
  // What is folded away on a screen is printed, with the rankings of the queries to look at; then all is as it was.
  let unfolded = [];
  let opened = [];
  addEventListener("beforeprint", () => {
    const firstQueries = [...document.querySelectorAll(".first-queries a")].map((link) => rowAt(link.hash.slice(1)));
    opened = firstQueries.filter((row) => row && linkOf(row) && !detailRows.has(row));
    opened.forEach(open);
    nameFigures(); // a sheet of paper is narrow
    listings.forEach((listing) => showMore(listing, Infinity));
    unfolded = [...document.querySelectorAll("main details:not([open])")];
    unfolded.forEach((part) => (part.open = true));
  });
  addEventListener("afterprint", () => {
    opened.forEach(close);
    unfolded.forEach((part) => (part.open = false));
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const text = button.parentElement.querySelector("pre, a");
    const copied = text.href || text.textContent.trim();
    getSelection().selectAllChildren(text);
    const done = () => (button.textContent = "Copied");
    if (navigator.clipboard) navigator.clipboard.writeText(copied).then(done, () => {});
    else if (!text.href && document.execCommand("copy")) done();
  });
  addEventListener("hashchange", follow);
  const first = document.querySelector(".rankings > details[open]");
  if (first && !location.hash && !narrow.matches) open(rowAt(first.id));
  follow();
})();
