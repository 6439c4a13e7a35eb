// Talks with an agent of a running stack: by the AI SDK's chat, from two devices at once, and by the client of AG-UI.
import { HttpAgent } from "@ag-ui/client";
import { AbstractChat, DefaultChatTransport } from "ai";

const [, , url, key, agentId] = process.argv;
const headers = { Authorization: `Bearer ${key}` };
const errors = [];

class Messages {
  status = "ready";
  error = undefined;
  constructor(messages = []) { this.messages = messages; }
  pushMessage = (message) => { this.messages = [...this.messages, message]; };
  popMessage = () => { this.messages = this.messages.slice(0, -1); };
  replaceMessage = (index, message) => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor(transport, messages) {
    super({ transport, state: new Messages(messages), onError: (error) => errors.push(`vercel: ${error.message}`) });
  }
}

function readText(message) {
  return message.parts.filter((part) => part.type === "text").map((part) => part.text).join("");
}

async function talkByVercel() {
  let conversationId = null;
  const transport = new DefaultChatTransport({
    api: `${url}/api/agents/${agentId}/chat?format=vercel`,
    headers,
    prepareSendMessagesRequest: ({ messages }) => ({
      body: { content: readText(messages.at(-1)), conversationId, stream: true },
    }),
    prepareReconnectToStreamRequest: () => ({ api: `${url}/v1/conversations/${conversationId}/events?format=vercel` }),
  });
  const first = new Chat(transport);
  const sending = first.sendMessage({ text: "Where is it?" });
  while (conversationId === null && first.status !== "error") {
    await new Promise((resolve) => setTimeout(resolve, 10));
    conversationId = first.messages.at(-1)?.metadata?.conversationId ?? null;
  }
  const second = new Chat(transport, first.messages.slice(0, 1));
  await second.resumeStream(); // while the first one still reads
  await sending;
  const late = new Chat(transport);
  await late.resumeStream(); // nothing runs: 204
  return { first: first.messages.at(-1), second: second.messages.at(-1), late: late.messages };
}

class Agent extends HttpAgent {
  conversationId = null;
  requestInit(input) {
    const body = { content: input.messages.at(-1).content, conversationId: this.conversationId, stream: true };
    return { ...super.requestInit(input), body: JSON.stringify(body) };
  }
}

async function talkByAgui() {
  const agent = new Agent({ url: `${url}/api/agents/${agentId}/chat?format=ag-ui`, headers });
  for (const content of ["Where is it?", "And when?"]) {
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
    try {
      await agent.runAgent({}, { onRunStartedEvent: ({ event }) => { agent.conversationId = event.threadId; } });
    } catch (error) {
      errors.push(`ag-ui: ${error.message}`);
    }
  }
  return agent.messages;
}

console.log(JSON.stringify({ vercel: await talkByVercel(), agui: await talkByAgui(), errors }));
