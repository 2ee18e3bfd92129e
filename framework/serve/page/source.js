// Where answers come from: the server of this page, or the grid that the file carries.

const carried = document.getElementById("grid");
export const grid = carried ? JSON.parse(carried.textContent) : null;

let token = "";

// The address that the program printed holds the token once; links that are copied do not.
export function taken_token(words) {
  token = words.get("token") || sessionStorage_get("halmark-token");
  if (words.has("token")) sessionStorage_set("halmark-token", token);
  words.delete("token");
  return token;
}

function sessionStorage_get(name) {
  try { return sessionStorage.getItem(name) || ""; } catch { return ""; }
}
function sessionStorage_set(name, value) {
  try { sessionStorage.setItem(name, value); } catch { /* a file without storage */ }
}

// The same state always asks by the same words.
export function query_of(state) {
  return Object.keys(state).sort().map((key) => `${encodeURIComponent(key)}=${encodeURIComponent(state[key])}`).join("&");
}

export class Refusal extends Error {}

async function fetched(path, options) {
  try {
    return await fetch(path, {...options, cache: "no-store"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer: start halmark serve again, on the same port");
  }
}

export async function ask(path, state = {}, signal = undefined) {
  const query = query_of(state);
  if (grid) {
    const found = grid.answers[query ? `${path}?${query}` : path];
    if (found === undefined) throw new Refusal("this file has no such state; halmark serve computes any");
    if (found.error) throw new Refusal(found.error);
    return found;
  }
  return answer_of(await fetched(`/api/${path}${query ? "?" + query : ""}`, {signal}));
}

export async function act(path, words) {
  return answer_of(await fetched(`/api/${path}`, {method: "POST", body: JSON.stringify(words),
    headers: {"Content-Type": "application/json", "X-Halmark-Token": token}}));
}

async function answer_of(response) {
  const said = await response.json();
  if (said.error || !response.ok) throw new Refusal(said.error || `the server answered ${response.status}`);
  return said;
}
