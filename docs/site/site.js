// Names for what the theme leaves without one, and a way by keyboard into tables that scroll.
"use strict";

function label() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((nav, number) => {
    nav.setAttribute("aria-label", `Code ${number + 1}`);
  });
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => {
    table.setAttribute("tabindex", "0");
  });
}

// The theme adds its buttons after the page has loaded.
new MutationObserver(label).observe(document.documentElement, { childList: true, subtree: true });
label();
