// Follows a job: whenever something happens in it, the parts of the page that changed are loaded
// anew from our own server and put in place. What they look like is decided there alone.

const KINDS = [
  "claim.started", "iteration.finished", "claim.finished", "job.finished", "job.resumed",
];
const LEAST_WAIT = 700;
const LOOK_AGAIN = 15000;  // after the end: somebody else may take the job up again

let isLoading = false;
let isWanted = false;
let isOver = false;

function fresh(page) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const found = page.querySelector(`[data-live="${old.dataset.live}"]`);
    if (!found || found.isEqualNode(old)) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const address = focused?.getAttribute("href");
    const made = document.adoptNode(found);
    old.replaceWith(made);
    if (address) made.querySelector(`a[href="${CSS.escape(address)}"]`)?.focus();
    else if (focused) made.querySelector("button, a")?.focus();
  }
  document.title = page.title;
}

async function load() {
  if (isLoading) {
    isWanted = true;
    return;
  }
  isLoading = true;
  isWanted = false;
  const begun = performance.now();
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.redirected && new URL(answer.url).pathname !== location.pathname) {
      location.reload();  // signed out meanwhile
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok) fresh(page);
    if (answer.ok) followed();
    else isWanted = true;
  } catch {
    isWanted = true;  // the service is away; it is asked again
  }
  const took = performance.now() - begun;
  setTimeout(() => {
    isLoading = false;
    if (isWanted) load();
  }, Math.max(LEAST_WAIT, 3 * took));
}

function follow(address) {
  const events = new EventSource(address);
  for (const kind of KINDS) {
    events.addEventListener(kind, () => {
      isOver = kind === "job.finished";
      if (isOver) events.close();
      load();
    });
  }
  events.addEventListener("error", () => {
    // The browser comes again by itself, unless it was told that there is nothing.
    if (events.readyState === EventSource.CLOSED && !isOver) setTimeout(load, 2000);
  });
}

// A job that is open has an address of its events; one that was taken up again has it anew.
let isFollowed = false;
function followed() {
  const address = document.querySelector("[data-events]")?.dataset.events;
  if (!address) {
    isFollowed = false;
    return;
  }
  if (isFollowed && !isOver) return;
  isFollowed = true;
  isOver = false;
  follow(address);
}

followed();
setInterval(() => {
  const state = document.querySelector("[data-status]")?.dataset.status;
  const isAtRest = state === "cancelled" || state === "failed";
  if (isAtRest && document.visibilityState === "visible") load();
}, LOOK_AGAIN);
