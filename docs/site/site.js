// Names for what the theme leaves without one, and a way by keyboard into tables that scroll.
"use strict";

function label() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((nav, number) => {
    nav.setAttribute("aria-label", `Code ${number + 1}`);
  });
  // The label of a section that has a page of its own is empty.
  document.querySelectorAll(".md-nav[aria-labelledby]").forEach((nav) => {
    const labels = document.getElementById(nav.getAttribute("aria-labelledby"));
    if (labels && labels.textContent.trim() === "") {
      nav.removeAttribute("aria-labelledby");
      nav.setAttribute("aria-label", nav.querySelector(".md-nav__title").textContent.trim());
    }
  });
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => {
    table.setAttribute("tabindex", "0");
  });
}

// The theme adds its buttons after the page has loaded.
new MutationObserver(label).observe(document.documentElement, { childList: true, subtree: true });
label();
