// Wide tables, and names and roles for screen readers where Quarto gives none or wrong ones
if (typeof document !== "undefined") document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
  const all = (where, change) => document.querySelectorAll(where).forEach(change);
  all(".aa-Autocomplete, .aa-DetachedSearchButton", o => o.setAttribute("aria-label", "Search"));
  all(".navbar-toggler", o => o.removeAttribute("role"));
  all(".sidebar-item-toggle, .sidebar-item .text-start[data-bs-toggle]", o => { o.setAttribute("role", "button"); o.tabIndex = 0; });
  all("table", o => { // wide ones fade where they go on
    const see = () => o.classList.toggle("goes-on", o.scrollWidth - o.clientWidth - o.scrollLeft > 2);
    o.addEventListener("scroll", see);
    new ResizeObserver(see).observe(o);
  });
  all("p:has(> math)", o => { if (o.scrollWidth > o.clientWidth) o.tabIndex = 0; }); // long formulas scroll
  const names = {"#quarto-header .navbar": "Site", "#quarto-sidebar": "Pages", "#TOC": "On this page", ".quarto-secondary-nav": "Where you are"};
  for (const [where, name] of Object.entries(names)) all(where, o => o.setAttribute("aria-label", name));
}));
