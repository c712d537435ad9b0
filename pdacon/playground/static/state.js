// What the page has, in its address; and questions to the server, of which a later one ends the earlier one of its kind.

const PAGE = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
const running = new Map();

export class Ended extends Error {}

// A page that was exported brings the answers to what may be asked of its examples.
const kept = document.getElementById("prepared");
let prepared = null;

export const isLive = !kept;

const sorted = (given) => Object.entries(given).sort(([left], [right]) => (left < right ? -1 : 1));

function answered(topic, { source, tokenizer, ...given }) {
  if (topic === "picture" && given.kind !== "parser") delete given.text;
  const wanted = JSON.stringify(sorted(source));
  const place = prepared.sources.findIndex((own) => JSON.stringify(sorted(own)) === wanted);
  const answer = prepared.answers[JSON.stringify([topic, place, ...sorted(given)])];
  if (answer) return structuredClone(answer);
  throw new Error("This page has the answers to its examples only; `pdacon playground` on your machine has all others.");
}

export async function first() {
  if (kept) {
    prepared = await unpacked(kept.textContent);
    return prepared.start;
  }
  return (await fetch("api/start")).json();
}

// Wait no longer for the answer to the last question of a kind.
export const end = (topic) => running.get(topic)?.abort();

export async function ask(topic, body) {
  if (prepared) return answered(topic, body);
  end(topic);
  const control = new AbortController();
  running.set(topic, control);
  let response;
  try {
    response = await fetch(`api/${topic}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ page: PAGE, ...body }),
      signal: control.signal,
    });
  } catch (error) {
    if (control.signal.aborted) throw new Ended();
    throw new Error("The server does not answer. Is `pdacon playground` still running?");
  }
  if (response.status === 409 || control.signal.aborted) throw new Ended();
  const answer = await response.json().catch(() => ({ error: "the answer is no JSON" }));
  if (control.signal.aborted) throw new Ended();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export async function packed(state) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export async function unpacked(fragment) {
  const binary = atob(fragment.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
}
