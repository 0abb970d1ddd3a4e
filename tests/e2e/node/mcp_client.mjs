// A sign-up by the official TypeScript client: {url, key, mode, sendUrl} on stdin, what it saw as JSON on stdout.
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const given = JSON.parse(readFileSync(0, 'utf8'));
const transport = new StreamableHTTPClientTransport(new URL(given.url), {
  requestInit: { headers: { Authorization: `Bearer ${given.key}` } },
});
const client = new Client(
  { name: 'tempinbox-e2e', version: '1.0.0' },
  { versionNegotiation: { mode: given.mode } },
);

async function call(name, args, options) {
  const result = await client.callTool({ name, arguments: args }, options);
  return result.isError ? { error: result.content[0].text } : result.structuredContent;
}

await client.connect(transport);
const { tools } = await client.listTools();
const inbox = await call('create_inbox', { name: 'from TypeScript' });
const notices = [];
const early = await call(
  'wait_for_email',
  { inboxId: inbox.inboxId, timeoutSeconds: 12 },
  { onprogress: (notice) => notices.push(notice.progress) },
);
await fetch(given.sendUrl, { method: 'POST', body: inbox.emailAddress });
const code = await call('get_code', { inboxId: inbox.inboxId });
const read = await call('read_email', { emailId: code.emailId });
const wrong = await call('get_code', { inboxId: 'none' });
const gone = await call('delete_inbox', { inboxId: inbox.inboxId });
const revision = client.getNegotiatedProtocolVersion() ?? transport.protocolVersion;
await client.close();

process.stdout.write(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    early,
    notices,
    code,
    read,
    wrong,
    gone,
    revision,
  }),
);
