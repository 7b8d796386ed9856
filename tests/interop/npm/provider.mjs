// A certified OpenID provider on loopback: whoever signs in is who they say they are.
//
// It issues JWT access tokens for one resource (RFC 8707, RFC 9068), with PKCE, to clients that
// register themselves. Environment: PORT, RESOURCE, TENANT.

import { Provider } from 'oidc-provider';

const { PORT, RESOURCE, TENANT } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;
const scopes = ['memory:read', 'memory:write', 'memory:curate', 'memory:forget'];

const provider = new Provider(issuer, {
  scopes: ['openid', 'offline_access', ...scopes],
  clientDefaults: { application_type: 'native', id_token_signed_response_alg: 'RS256' },
  pkce: { required: () => true },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  extraTokenClaims: (ctx) => ({
    tenant: TENANT,
    auth_time: ctx.oidc.entities.AuthorizationCode?.authTime,
  }),
  ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, Interaction: 600, Session: 600 },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: scopes.join(' '),
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 600,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
});

provider.listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
