// A person at a browser, for tests: signs in at the provider, agrees, and is sent back.

export async function signIn(url, name) {
  const cookies = new Map();
  let next = String(url);
  let body;
  for (let step = 0; step < 20; step += 1) {
    const reply = await fetch(next, {
      method: body === undefined ? 'GET' : 'POST',
      body,
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join('; ') },
    });
    for (const line of reply.headers.getSetCookie()) {
      const [key, value] = line.split(';')[0].split(/=(.*)/s);
      if (value) cookies.set(key, value);
      else cookies.delete(key);
    }
    const location = reply.headers.get('location');
    if (location !== null) {
      next = new URL(location, next).href;
      body = undefined;
      if (new URL(next).pathname === '/callback') return new URL(next);
      continue;
    }
    const page = await reply.text();
    const action = page.match(/<form[^>]*action="([^"]+)"/)?.[1];
    const prompt = page.match(/name="prompt" value="([^"]+)"/)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`no form: ${reply.status}`);
    next = new URL(action, next).href;
    body = new URLSearchParams(
      prompt === 'login' ? { prompt, login: name, password: 'any' } : { prompt },
    );
  }
  throw new Error('the sign-in did not end');
}
