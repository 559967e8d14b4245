/**
 * More addresses for Services of a live cluster: a Service gets one and answers everywhere, though kbuild is killed at every change;
 * what leaves the inventory goes when no Service needs it any more.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { kubectl, startEcho } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['sncp1', 'snw1'];
const [cp] = HOSTS as [string];
const ADDRESS = '10.112.0.77';
const NAME = 'kbuild-10-112-0-0-16';
const PATIENCE_MS = 180_000;
let args: readonly string[];
let file: string;

const edit = (moreServiceSubnets: readonly string[]): void => {
  const plain = parse(readFileSync(file, 'utf8')) as { readonly network?: object };
  const edited = { ...plain, network: { ...plain.network, moreServiceSubnets } };
  writeFileSync(file, stringify(edited, { aliasDuplicateObjects: false }));
};
/** What curl gets on every host from the Service at the new address. */
const answers = async (): Promise<boolean> => {
  for (const host of HOSTS) {
    const { stdout } = await lab.inside(
      host,
      `curl -s --max-time 3 -o /dev/null -w '%{http_code}' http://${ADDRESS}/hostname`,
    );
    if (!stdout.startsWith('200')) return false;
  }
  return true;
};
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'echo-there', namespace: 'echo' },
  spec: { clusterIP: ADDRESS, selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 8080 }] },
};
const deletedAt = (): Promise<string> =>
  kubectl(
    cp,
    `get servicecidr ${NAME} --ignore-not-found -o 'jsonpath={.metadata.name} {.metadata.deletionTimestamp}'`,
  );

beforeAll(async () => {
  ({ up: args, file } = await fresh('subnets', HOSTS));
  ok(await kbuild(...args));
  await startEcho(cp, 'echo');
});

afterAll(() => lab.down(HOSTS));

test('before, the API refuses an address that no network has', async () => {
  await expect(kubectl(cp, 'apply -f -', JSON.stringify(service))).rejects.toThrow('10.112.0.77');
});

test('a further network reaches the cluster though kbuild is killed, and a Service with its address answers on every host', async () => {
  edit(['10.112.0.0/16']);
  expect(ok(await kbuild('plan', file)).stdout).toContain('apply ServiceCIDRs 10.112.0.0/16 (found none)');
  const { made } = await killedAtChanges(args);
  expect(made.join('\n')).toContain('apply ServiceCIDRs 10.112.0.0/16');
  await waitUntil('the API gives the address', PATIENCE_MS, async () =>
    kubectl(cp, 'apply -f -', JSON.stringify(service)).then(
      () => true,
      () => false,
    ),
  );
  await waitUntil('the Service answers on every host', PATIENCE_MS, answers);
  expect(ok(await kbuild('plan', file)).stdout).toBe('nothing to do\n');
});

test('taken out while a Service needs it: the Service goes on, and the network is gone when the Service is', async () => {
  edit([]);
  expect(ok(await kbuild('plan', file)).stdout).toContain(
    `delete ServiceCIDR ${NAME} (not in the inventory any more; a ServiceCIDR stays until no Service has an address of it)`,
  );
  ok(await kbuild(...args));
  expect(await deletedAt()).toMatch(/^kbuild-\S+ 20/);
  expect(await answers()).toBe(true);
  expect(ok(await kbuild('plan', file)).stdout).toBe('nothing to do\n');
});

test('if it comes back meanwhile, the plan waits for it and says why; then it is there again', async () => {
  edit(['10.112.0.0/16']);
  expect(ok(await kbuild('plan', file)).stdout).toContain(`wait until ServiceCIDR ${NAME} is deleted`);
  await kubectl(cp, '-n echo delete service echo-there');
  await waitUntil('it is gone', PATIENCE_MS, async () => (await deletedAt()).trim() === '');
  ok(await kbuild(...args));
  expect((await deletedAt()).trim()).toBe(NAME);
  edit([]);
  ok(await kbuild(...args));
  await waitUntil('it is gone', PATIENCE_MS, async () => (await deletedAt()).trim() === '');
});
