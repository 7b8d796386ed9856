// The TypeScript SDK's client, as an independent second one: everything from the 401 to a search.
//
// Arguments: the package (`sdk` or `client`), the MCP URL. Prints what it got as JSON.

import { signIn } from './sign_in.mjs';

const [, , kind, target] = process.argv;
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await load(kind);

async function load(which) {
  if (which === 'client') return import('@modelcontextprotocol/client');
  return {
    ...(await import('@modelcontextprotocol/sdk/client/index.js')),
    ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
    ...(await import('@modelcontextprotocol/sdk/client/auth.js')),
  };
}

// Keeps what a client keeps between its requests, and plays the browser.
class Person {
  redirectUrl = 'http://127.0.0.1:9/callback';
  clientMetadata = {
    client_name: 'interop',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  kept = {};
  state() { return 'a-state-of-ours'; }
  clientInformation() { return this.kept.client; }
  saveClientInformation(client) { this.kept.client = client; }
  tokens() { return this.kept.tokens; }
  saveTokens(tokens) { this.kept.tokens = tokens; }
  codeVerifier() { return this.kept.verifier; }
  saveCodeVerifier(verifier) { this.kept.verifier = verifier; }
  discoveryState() { return this.kept.discovery; }
  saveDiscoveryState(state) { this.kept.discovery = state; }
  async redirectToAuthorization(url) {
    this.kept.asked = Object.fromEntries(url.searchParams);
    this.kept.callback = await signIn(url, 'bob');
  }
}

const person = new Person();
const info = { name: 'interop', version: '1' };
const first = new StreamableHTTPClientTransport(new URL(target), { authProvider: person });
try {
  await new Client(info, { capabilities: {} }).connect(first);
  throw new Error('let in without a token');
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const returned = person.kept.callback.searchParams;
if (returned.get('state') !== 'a-state-of-ours') throw new Error('the state is not ours');
if (kind === 'client') await first.finishAuth(returned);
else await first.finishAuth(returned.get('code'));

const client = new Client(info, { capabilities: {} });
await client.connect(new StreamableHTTPClientTransport(new URL(target), { authProvider: person }));
const { tools } = await client.listTools();
const call = (name, args) => client.callTool({ name, arguments: args });
const wrote = await call('memory_write', { content: 'Bob plays the cello' });
const found = await call('memory_search', { query: 'cello' });
await client.close();
console.log(JSON.stringify({
  asked: person.kept.asked,
  scope: person.kept.tokens.scope,
  revision: client.getNegotiatedProtocolVersion?.() ?? null,
  tools: tools.map((tool) => tool.name),
  wrote,
  found,
}));
