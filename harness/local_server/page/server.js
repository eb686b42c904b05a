// Requests to the command that serves the page.

// The link has the token in its fragment, which is sent to nobody. It is kept for this tab, so that the address, and
// the history of the browser, do not have it.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem("token", given);
  history.replaceState(null, "", location.pathname);
}
// Another link that is opened in this tab changes the fragment only.
addEventListener("hashchange", () => location.reload());
const token = sessionStorage.getItem("token") || "";

/**
 * The answer to a request; with *sent* it is a POST. Throws an error with the sentence of the command, which has the
 * status, and what else the command says of it, such as a line, as its properties.
 */
export const ask = async (path, sent) => {
  const options = { headers: { "X-Relevance-Token": token } };
  if (sent) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(sent);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The command does not answer any more. What you did so far is kept: start it again to go on.");
  }
  const isJson = response.headers.get("Content-Type").startsWith("application/json");
  const answer = isJson ? await response.json() : { error: await response.text() };
  if (!response.ok) throw Object.assign(new Error(answer.error), answer, { status: response.status });
  return answer;
};
