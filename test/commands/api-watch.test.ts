import { afterEach, expect, test } from 'vitest';
import { apiWatch, type ApiWatch } from '../../src/commands/api-watch.ts';
import { Secret } from '../../src/shell/secret.ts';
import { type FakeAnswer, fakeHttpsServer, pem } from '../fakes/https-server.ts';

const running: (() => unknown)[] = [];
afterEach(() => Promise.all(running.splice(0).map((stop) => stop())));

const LIST = JSON.stringify({ metadata: { resourceVersion: '71' }, items: [] });
const identity = { ca: pem.ca, certificate: pem.client, key: Secret.of(pem.clientKey) };

/** A watch of a server whose watches answer so. */
async function watching(answer: (request: string) => FakeAnswer) {
  const server = await fakeHttpsServer((request) => (request.includes('limit=1') ? { body: LIST } : answer(request)));
  let now = 0;
  const behind = () =>
    Promise.resolve({ forward: server.forward, server: { host: '127.0.0.1', port: 6443 }, identity });
  const watch: ApiWatch = apiWatch(behind, () => now);
  running.push(() => watch.close(), server.stop);
  return { watch, server, later: (ms: number) => (now += ms) };
}

test('tells each change of nodes and system pods from now on, over one connection', async () => {
  const tell: { change?: (text: string) => void } = {};
  const rest = new Promise<string>((resolve) => (tell.change = resolve));
  const never = new Promise<string>(() => undefined);
  const { watch, server } = await watching((request) => ({
    begin: '',
    rest: request.includes('nodes') ? rest : never,
  }));
  await watch.begin();
  // What happened before is not known.
  expect([watch.isOpen(), watch.hasChanged(), watch.hasChanged()]).toEqual([true, true, false]);
  expect(server.requests.filter((one) => one.includes('watch')).sort()).toEqual([
    'GET /api/v1/namespaces/kube-system/pods?watch=true&resourceVersion=71',
    'GET /api/v1/nodes?watch=true&resourceVersion=71',
  ]);
  expect(server.addresses).toHaveLength(1);
  tell.change?.('{"type":"MODIFIED"}\n');
  await expect.poll(watch.hasChanged).toBe(true);
});

test('counts its own end as a change, and is begun again a while later', async () => {
  const { watch, server, later } = await watching(() => ({ begin: '', rest: Promise.resolve('') }));
  await watch.begin();
  await expect.poll(watch.isOpen).toBe(false);
  expect(watch.hasChanged()).toBe(true);
  const before = server.addresses.length;
  await watch.begin();
  expect(server.addresses).toHaveLength(before);
  later(10_000);
  await watch.begin();
  expect(server.addresses).toHaveLength(before + 1);
});

test('is not open where the API refuses it, or is not known', async () => {
  const { watch } = await watching(() => ({ status: 403, body: 'no' }));
  await watch.begin();
  expect([watch.isOpen(), watch.hasChanged()]).toEqual([false, false]);
  const unknown = apiWatch(
    () => Promise.reject(new Error('no API through SSH')),
    () => 0,
  );
  await unknown.begin();
  expect(unknown.isOpen()).toBe(false);
});
