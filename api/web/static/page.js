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

function once() {
  for (const form of document.querySelectorAll("form[data-once]")) {
    form.addEventListener("submit", () => {
      form.setAttribute("aria-busy", "true");
      // After the values were taken: a disabled button sends none.
      setTimeout(() => {
        for (const button of form.querySelectorAll("button:not([type=button])")) {
          button.disabled = true;
        }
      });
    });
  }
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const button of document.querySelectorAll("form[data-once] button")) button.disabled = false;
  });
}

themes();
copying();
once();
