// A client of the official SDK: it starts the agent that its arguments name, asks it in the folder CWD for the prompt PROMPT, loads the
// session in a second connection, and prints what it got as one line of JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

const acp = await import(process.env.ACP_SDK);
const [cwd, prompt, ...command] = process.argv.slice(2);

async function connected(use) {
  const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  const updates = [];
  const asked = [];
  const app = acp
    .client({ name: "sdk-test" })
    .onRequest(acp.methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params.toolCall.title);
      const yes = params.options.find((o) => o.kind === "allow_once");
      return { outcome: { outcome: "selected", optionId: yes.optionId } };
    })
    .onNotification(acp.methods.client.session.update, async ({ params }) => {
      updates.push(params.update);
    });
  const result = await app.connectWith(stream, async (ctx) => {
    const initialized = await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { session: { configOptions: { boolean: {} } } },
      clientInfo: { name: "sdk-test", version: "1" },
    });
    return { initialized, ...(await use(ctx, updates)) };
  });
  agent.stdin.end();
  const status = await new Promise((done) => agent.on("exit", done));
  return { ...result, updates, asked, status };
}

const kinds = (updates) => [...new Set(updates.map((u) => u.sessionUpdate))].sort();
const said = (updates) =>
  updates.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.content.text).join("");

const first = await connected(async (ctx, updates) => {
  const made = await ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
  const ended = await ctx.request(acp.methods.agent.session.prompt, {
    sessionId: made.sessionId,
    prompt: [{ type: "text", text: prompt }],
  });
  const before = updates.length;
  const set = await ctx.request(acp.methods.agent.session.setConfigOption, {
    sessionId: made.sessionId,
    configId: "mode",
    value: "plan",
  });
  return { made, ended, before, set };
});
const second = await connected(async (ctx, updates) => {
  await ctx.request(acp.methods.agent.session.load, { sessionId: first.made.sessionId, cwd, mcpServers: [] });
  const replayed = updates.length;
  const list = await ctx.request(acp.methods.agent.session.list, { cwd });
  return { replayed, list };
});
console.log(
  JSON.stringify({
    version: first.initialized.protocolVersion,
    stop: first.ended.stopReason,
    kinds: kinds(first.updates.slice(0, first.before)),
    said: said(first.updates.slice(0, first.before)),
    asked: first.asked.length,
    options: first.set.configOptions.map((o) => `${o.id}=${o.currentValue}`),
    replayed: said(second.updates.slice(0, second.replayed)),
    again: kinds(second.updates.slice(0, second.replayed)),
    listed: second.list.sessions.map((s) => s.title),
    status: [first.status, second.status],
  }),
);
