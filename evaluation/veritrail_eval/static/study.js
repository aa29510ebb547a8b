// The clock of a study. The server measures; here the time that it began with is only shown, and the
// server is told that the page is open: the time of a closed page does not count.

const clock = document.querySelector("[data-clock]");
const form = document.querySelector("[data-answer]");
const heart = document.querySelector("[data-heartbeat]");

if (heart) {
  const beat = () => {
    const body = new URLSearchParams(new FormData(heart));
    fetch(heart.action, { method: "POST", body, credentials: "same-origin", keepalive: true }).catch(() => {});
  };
  beat();
  setInterval(beat, Number(heart.dataset.heartbeat) * 1000);
  addEventListener("pagehide", beat); // the time counts to here
}

if (clock && "running" in clock.dataset) {
  const words = clock.querySelector("[data-clock-words]");
  const before = Number(clock.dataset.elapsed) * 1000 - performance.now();
  setInterval(() => {
    const seconds = Math.floor((before + performance.now()) / 1000);
    const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (words.textContent !== text) words.textContent = text;
  }, 250);
}

if (form) {
  // A screen reader begins with the sentence.
  document.querySelector("#the-sentence")?.focus({ preventScroll: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    if (!form.getAttribute("aria-busy")) form.requestSubmit(form.querySelector("button.main"));
  });
}
