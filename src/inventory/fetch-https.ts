const MAX_REDIRECTS = 10;

/** Fetches a URL. A redirect never leaves HTTPS. @throws Error that names the redirect; what `fetch` throws */
export async function fetchHttps(
  url: string,
  init: RequestInit = {},
  fetcher: typeof fetch = fetch,
): Promise<Response> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetcher(at, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, at);
    if (at.startsWith('https:') && next.protocol !== 'https:')
      throw new Error(`redirects to ${next.href}, which is not HTTPS`);
    at = next.href;
  }
  throw new Error(`redirects more than ${String(MAX_REDIRECTS)} times`);
}
