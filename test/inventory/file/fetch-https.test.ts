import { expect, test } from 'vitest';
import { fetchHttps } from '../../../src/inventory/file/sources.ts';

/** Answers with redirects by URL; every other URL has a text. */
const world = (redirects: Readonly<Record<string, string>>) => (url: string | URL | Request) => {
  const location = redirects[url as string];
  return Promise.resolve(
    location === undefined
      ? new Response(`text of ${url as string}`)
      : new Response(null, { status: 302, headers: { location } }),
  );
};
const fetchIn = async (url: string, redirects: Readonly<Record<string, string>>): Promise<string> =>
  (await fetchHttps(url, {}, world(redirects))).text();

test('redirects within HTTPS are followed, relative ones too', async () => {
  const redirects = { 'https://a/x': '/y', 'https://a/y': 'https://b/z' };
  expect(await fetchIn('https://a/x', redirects)).toBe('text of https://b/z');
});

test.each(['http://b/z', '//b/../http://c', 'file:///etc/passwd'])('a redirect to %s', async (location) => {
  const fetched = fetchIn('https://a/x', { 'https://a/x': '/y', 'https://a/y': location });
  if (location.startsWith('//')) expect(await fetched).toMatch(/^text of https:\/\/b\//);
  else await expect(fetched).rejects.toThrow(`redirects to ${location}, which is not HTTPS`);
});

test('endless redirects end', async () => {
  await expect(fetchIn('https://a/x', { 'https://a/x': 'https://a/x' })).rejects.toThrow('more than 10 times');
});
