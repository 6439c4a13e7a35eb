// Reads one case per line (JSON) and answers each with what the protocol's own client has in the end, and what it refused.
import { createInterface } from "node:readline";
import { HttpAgent } from "@ag-ui/client";
import { parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema } from "ai";

const warnings = [];
console.warn = (...parts) => warnings.push(parts.map(String).join(" "));
console.error = () => {}; // errors are told by the client itself

function respond(body) {
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

// every body is one connection: a client that comes back keeps its messages
async function readAgui({ bodies, messages }) {
  let body = "";
  const agent = new HttpAgent({ url: "http://localhost/", fetch: async () => respond(body), initialMessages: messages });
  const errors = [];
  let outcome = null;
  for (body of bodies) {
    outcome = null;
    try {
      await agent.runAgent({}, {
        onRunFinishedEvent: ({ event }) => { outcome = event; },
        onRunErrorEvent: ({ event }) => { outcome = event; },
      });
    } catch (error) {
      if (outcome?.type !== "RUN_ERROR" || error?.message !== outcome.message) errors.push(String(error?.message ?? error));
    }
  }
  return { state: [agent.messages, outcome], errors };
}

async function readVercel({ bodies }) {
  const errors = [];
  let state = null;
  for (const body of bodies) {
    const chunks = [];
    const parsed = parseJsonEventStream({ stream: respond(body).body, schema: uiMessageChunkSchema });
    for await (const part of parsed) {
      if (part.success) chunks.push(part.value);
      else errors.push(String(part.error?.message ?? part.error));
    }
    const expected = chunks.filter((chunk) => chunk.type === "error").map((chunk) => chunk.errorText);
    const stream = ReadableStream.from(chunks);
    state = null;
    for await (const message of readUIMessageStream({
      stream,
      onError: (error) => { if (!expected.includes(error.message)) errors.push(error.message); },
    })) {
      state = message;
    }
    state = [state, chunks.filter((chunk) => ["abort", "error", "finish"].includes(chunk.type))];
  }
  return { state, errors };
}

const readers = { "ag-ui": readAgui, vercel: readVercel };
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  warnings.length = 0;
  let answer;
  try {
    answer = await readers[question.format](question);
  } catch (error) {
    answer = { state: null, errors: [String(error?.stack ?? error)] };
  }
  process.stdout.write(`${JSON.stringify({ ...answer, errors: [...answer.errors, ...warnings] })}\n`);
}
