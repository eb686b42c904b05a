"use strict";
(() => {
  document.documentElement.classList.add("js");
  const detailRows = new Map();

  const rowsOf = (table) => [...table.tBodies[0].rows].filter((row) => !row.classList.contains("open"));

  const close = (link) => {
    const id = link.dataset.opens;
    const row = detailRows.get(id);
    if (!row) return;
    const detail = row.querySelector(".detail");
    if (detail) document.getElementById(id).append(detail);
    row.remove();
    detailRows.delete(id);
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

  const open = (link) => {
    const id = link.dataset.opens;
    if (detailRows.has(id)) return;
    const row = link.closest("tr");
    const holder = document.createElement("tr");
    holder.className = "open";
    const cell = holder.insertCell();
    cell.colSpan = row.cells.length;
    cell.append(document.getElementById(id).querySelector(".detail"));
    row.after(holder);
    detailRows.set(id, holder);
    link.setAttribute("aria-expanded", "true");
  };

  const filter = (form) => {
    const table = document.getElementById(form.dataset.for);
    const wanted = {
      text: form.elements.text.value.trim().toLowerCase(),
      outcome: form.elements.outcome.value,
      tag: form.elements.tag ? form.elements.tag.value : "",
      blamed: form.elements.blamed ? form.elements.blamed.checked : false,
    };
    let shown = 0;
    const rows = rowsOf(table);
    for (const row of rows) {
      const words = (row.cells[0].textContent + " " + row.cells[1].textContent).toLowerCase();
      const fits =
        (!wanted.text || words.includes(wanted.text)) &&
        (!wanted.outcome || row.dataset.outcome === wanted.outcome) &&
        (!wanted.tag || (row.dataset.tags || "").includes(" " + wanted.tag + " ")) &&
        (!wanted.blamed || "blamed" in row.dataset);
      row.hidden = !fits;
      const link = row.querySelector("[data-opens]");
      if (link && detailRows.has(link.dataset.opens)) detailRows.get(link.dataset.opens).hidden = !fits;
      if (fits) shown += 1;
    }
    form.querySelector("output").textContent = shown === rows.length ? "" : shown + " of " + rows.length + " shown";
  };

  const valueOf = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent.toLowerCase();
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v.replace("inf", "Infinity"));
  };

  const sort = (table, column, kind, direction) => {
    table.querySelectorAll("[aria-expanded=true]").forEach(close);
    const order = (a, b) => (a === b ? 0 : a < b ? -direction : direction);
    const keyed = rowsOf(table).map((row) => [valueOf(row, column, kind), row]);
    keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : order(a, b)));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  };

  const makeSortable = (heading, table) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      table.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      sort(table, heading.cellIndex, heading.dataset.sort, direction);
    });
  };

  // a narrow window shows each query as a card, where its figures have no headings above them
  const nameFigures = (table) => {
    const headings = [...table.tHead.rows[0].cells];
    for (const row of rowsOf(table))
      headings.forEach((heading, column) => {
        if (column > 1 && heading.dataset.sort) row.cells[column].dataset.label = heading.textContent;
      });
  };

  const narrow = matchMedia("(max-width: 760px)");
  const nameAllFigures = () => {
    if (narrow.matches) document.querySelectorAll("table.queries").forEach(nameFigures);
  };

  const linkTo = (hash) => {
    const links = [...document.querySelectorAll("[data-opens]")];
    const alike = (form) => links.find((one) => form(one.dataset.opens) === form(hash));
    // a report of one request calls a query products/shoes, one of several products:current/shoes
    return alike(decoded) || alike((text) => decoded(text.replace(/:[^/]*\//, "/")));
  };

  const follow = () => {
    const link = location.hash && linkTo(location.hash.slice(1));
    if (!link) return;
    const form = document.querySelector('[data-for="' + link.closest("table").id + '"]');
    if (link.closest("tr").hidden) {
      form.reset();
      filter(form);
    }
    open(link);
    link.closest("tr").scrollIntoView({ block: "start" });
    link.focus({ preventScroll: true });
  };

  for (const table of document.querySelectorAll("table.queries")) {
    table.querySelectorAll(":scope > thead th[data-sort]").forEach((heading) => makeSortable(heading, table));
    table.querySelectorAll("[data-opens]").forEach((link) => {
      link.setAttribute("role", "button");
      link.setAttribute("aria-expanded", "false");
    });
    table.addEventListener("click", (event) => {
      const link = event.target.closest("[data-opens]");
      if (!link) return;
      event.preventDefault();
      const isOpen = detailRows.has(link.dataset.opens);
      (isOpen ? close : open)(link);
      if (!isOpen) address("#" + link.dataset.opens);
      else if (linkTo(location.hash.slice(1)) === link) address("");
    });
    table.addEventListener("keydown", (event) => {
      if (event.key === " " && event.target.matches("[data-opens]")) {
        event.preventDefault();
        event.target.click();
      }
    });
  }
  nameAllFigures();
  narrow.addEventListener("change", nameAllFigures);
  for (const form of document.querySelectorAll("form.filters")) {
    form.hidden = false;
    form.addEventListener("input", () => filter(form));
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  for (const link of document.querySelectorAll("[data-filters]")) {
    link.addEventListener("click", () => {
      const form = document.querySelector('[data-for="' + link.dataset.filters + '"]');
      form.reset();
      form.elements.tag.value = link.dataset.tag;
      filter(form);
    });
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const text = button.parentElement.querySelector("pre");
    getSelection().selectAllChildren(text);
    const done = () => (button.textContent = "Copied");
    if (navigator.clipboard) navigator.clipboard.writeText(text.textContent.trim()).then(done, () => {});
    else if (document.execCommand("copy")) done();
  });
  addEventListener("hashchange", follow);
  const first = document.querySelector(".rankings > details[open]");
  if (first && !location.hash) open(linkTo(first.id));
  follow();
})();
