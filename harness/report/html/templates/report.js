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

  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const link = id && [...document.querySelectorAll("[data-opens]")].find((one) => one.dataset.opens === id);
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
    table.querySelectorAll("thead th").forEach((heading) => makeSortable(heading, table));
    table.querySelectorAll("[data-opens]").forEach((link) => {
      link.setAttribute("role", "button");
      link.setAttribute("aria-expanded", "false");
    });
    table.addEventListener("click", (event) => {
      const link = event.target.closest("[data-opens]");
      if (!link) return;
      event.preventDefault();
      (detailRows.has(link.dataset.opens) ? close : open)(link);
    });
    table.addEventListener("keydown", (event) => {
      if (event.key === " " && event.target.matches("[data-opens]")) {
        event.preventDefault();
        event.target.click();
      }
    });
  }
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
  addEventListener("hashchange", follow);
  follow();
})();
