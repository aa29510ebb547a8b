// Another page of our own server, parsed as a document, in which nothing runs.

const parser = new DOMParser();

export async function fetched(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (answer.redirected) {
    throw Object.assign(new Error("you are signed out; load the page again"), { status: 401 });
  }
  const page = parser.parseFromString(await answer.text(), "text/html");
  if (!answer.ok) {
    const reason = page.querySelector("main .fault p")?.textContent.trim();
    throw Object.assign(new Error(`the service answered ${answer.status}`), { status: answer.status, reason });
  }
  return page;
}
