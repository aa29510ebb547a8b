// A report without a service: searching its claims, opening one from the text, opening on paper what is
// folded of those that are shown, saving its data.
"use strict";
(() => {
  const claims = [...document.querySelectorAll(".claim")];
  const search = document.querySelector("#r-search");
  const filter = document.querySelector("#r-filter");
  const found = document.querySelector("#r-found");
  const words = new Map();

  const wordsOf = (claim) => {
    if (!words.has(claim)) words.set(claim, claim.querySelector(".claim-head").textContent.toLowerCase());
    return words.get(claim);
  };

  if (search) {
    const field = search.querySelector("input");
    search.hidden = false;
    const look = () => {
      const wanted = field.value.trim().toLowerCase();
      const chosen = filter.elements.show.value;
      let count = 0;
      for (const claim of claims) {
        claim.hidden = Boolean(wanted) && !wordsOf(claim).includes(wanted);
        if (!claim.hidden && (chosen === "all" || claim.classList.contains(`is-${chosen}`))) count += 1;
      }
      found.hidden = !wanted;
      found.textContent = count === 1 ? "1 claim found" : `${count} claims found`;
    };
    filter.addEventListener("input", look);
    filter.addEventListener("submit", (event) => event.preventDefault());
  }

  const open = (target) => {
    const claim = target && document.getElementById(target);
    if (!claim) return;
    claim.hidden = false;
    // The filter of verdicts hides it: that is a matter of the style sheet alone.
    if (filter && claims.includes(claim) && !claim.getClientRects().length) {
      filter.elements.show.value = "all";
      filter.dispatchEvent(new Event("input"));
      claim.hidden = false;
    }
    claim.open = true;
    claim.scrollIntoView();
  };
  addEventListener("hashchange", () => open(location.hash.slice(1)));
  addEventListener("click", (event) => {
    // The address does not change when the same claim is asked for again.
    const link = event.target.closest?.('a[href^="#"]');
    if (link && link.hash === location.hash) open(location.hash.slice(1));
  });
  open(location.hash.slice(1));

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
  });

  const save = document.querySelector("[data-save]");
  const data = document.querySelector("#r-data");
  if (save && data) {
    save.hidden = false;
    save.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([data.textContent], { type: "application/json" }));
      link.download = save.dataset.save;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
})();
