// What every page has: the choice of colours, buttons that copy, forms that are sent once.

function themes() {
  const button = document.querySelector("[data-theme-button]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // It holds for this page then.
    }
  });
}

// <button data-copy="#id" hidden>: copies the text of an element.
function copying() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = document.querySelector(button.dataset.copy);
    if (!source) continue;
    const words = button.querySelector("span") ?? button;
    const before = words.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      words.textContent = "Copied";
      setTimeout(() => { words.textContent = before; }, 1500);
    });
  }
}

// Heard on the document: a form may have come after the page.
function once() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !form.matches("form[data-once]")) return;
    form.setAttribute("aria-busy", "true");
    // After the values were taken: a disabled button sends none.
    setTimeout(() => {
      for (const button of form.querySelectorAll("button:not([type=button])")) {
        button.disabled = true;
      }
    });
  });
  // A page that comes back from the browser's own store can be sent again.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const form of document.querySelectorAll("form[data-once]")) {
      form.removeAttribute("aria-busy");
      for (const button of form.querySelectorAll("button")) button.disabled = false;
    }
  });
}

themes();
copying();
once();
