// What the page has, in its address; and questions to the server, of which a later one ends the earlier one of its kind.

const PAGE = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
const running = new Map();

export class Ended extends Error {}

export async function ask(topic, body) {
  running.get(topic)?.abort();
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
