// Sends the file with a bar that says how far it is; keeps the chosen file when something is wrong.

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function watch(form) {
  const box = form.querySelector("[data-progress]");
  const bar = box.querySelector("progress");
  const said = box.querySelector("[data-said]");
  const input = form.querySelector("input[type=file]");
  const button = form.querySelector("button");

  const stop = (words) => {
    said.textContent = words;
    button.disabled = false;
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.responseType = "document";
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = (100 * loaded) / total;
      said.textContent = `Sent ${size(loaded)} of ${size(total)}`;
    });
    request.upload.addEventListener("load", () => {
      bar.removeAttribute("value");
      said.textContent = "Checking and storing it. A large process takes some minutes.";
    });
    request.addEventListener("error", () => stop("The service cannot be reached. Try again."));
    request.addEventListener("load", () => arrived(request, form, input, stop));
    box.hidden = false;
    button.disabled = true;
    said.textContent = "Sending";
    request.send(new FormData(form));
  });
}

function arrived(request, form, input, stop) {
  const came = request.responseXML;
  const here = document.getElementById("upload");
  const next = came?.getElementById("upload");
  if (request.status === 200 && /^\/(processes|jobs)\//.test(new URL(request.responseURL).pathname)) {
    location.assign(request.responseURL); // it was checked, too
    return;
  }
  if (!next) {
    const words = came?.querySelector("main h1")?.textContent ?? "It was not taken.";
    stop(words);
    if (new URL(request.responseURL || location.href).pathname === "/sign-in") signIn(form);
    return;
  }
  if (request.status === 200) {
    location.assign(request.responseURL);
    return;
  }
  // Its page as a whole, but with the file that was chosen.
  const fresh = document.adoptNode(next);
  const empty = fresh.querySelector("input[type=file]");
  here.replaceWith(fresh);
  empty.replaceWith(input);
  const label = fresh.querySelector("label[for=file]");
  label.querySelector("span")?.remove();
  start();
  const note = fresh.querySelector(".note");
  note.tabIndex = -1;
  note.focus();
}

// In another tab, so that the file that was chosen stays chosen.
function signIn(form) {
  const link = document.createElement("a");
  link.href = "/sign-in?next=/upload";
  link.target = "_blank";
  link.rel = "noopener";
  link.textContent = "Sign in";
  form.querySelector("[data-said]").replaceChildren("Nothing was sent: you are signed out. ", link, " in another tab, then load this page again.");
}

function start() {
  for (const form of document.querySelectorAll("form[data-upload]")) watch(form);
}

start();
