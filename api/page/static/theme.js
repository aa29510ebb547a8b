// Sets the colours that were chosen before anything is drawn.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
} catch {
  // Storage may be switched off: then the system's choice holds.
}
