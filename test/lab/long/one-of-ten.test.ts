/** One of ten workers cannot join: the nine others do, and the same command then touches the tenth alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf, kbuild } from '../kbuild.ts';
import { unchanged } from '../ok.ts';
import { fresh } from '../fresh.ts';
import * as lab from '../lab.ts';
import { nodes } from '../pods.ts';

const WORKERS = Array.from({ length: 10 }, (_, i) => `otw${String(i + 1)}`);
const [cp, broken] = ['otcp1', WORKERS[6]!];
const HOSTS = [cp, ...WORKERS];
const ready = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, true]));
let args: readonly string[];

beforeAll(async () => {
  ({ up: args } = await fresh('one-of-ten', HOSTS));
});

afterAll(() => lab.down(HOSTS));

test('nine of ten workers join beside one whose kubelet does not start; mended, the same command touches it alone', async () => {
  const unit = '/run/systemd/system/kubelet.service.d/99-broken.conf';
  await lab.inside(
    broken,
    `mkdir -p $(dirname ${unit}); printf '[Service]\\nExecStartPre=/bin/false\\n' >${unit}; systemctl daemon-reload`,
  );
  const from = performance.now();
  const ran = await kbuild(...args, '--json');
  console.log(`up of 10 workers, one broken: ${((performance.now() - from) / 1000).toFixed(0)} s`);
  expect(ran.code, ran.stderr).toBe(4);
  expect(ran.stderr).toContain(broken);
  const others = HOSTS.filter((name) => name !== broken);
  expect(await nodes(cp)).toMatchObject(ready(others));
  await lab.inside(broken, `rm ${unit}; systemctl daemon-reload`);
  const again = await kbuild(...args, '--json');
  expect(again.code, again.stderr).toBe(0);
  const touched = eventsOf(again).flatMap((event) => (event.kind === 'changed' ? [event.host] : []));
  expect(new Set(touched)).toEqual(new Set([broken]));
  expect(await nodes(cp)).toEqual(ready(HOSTS));
  unchanged(await kbuild(...args));
});
