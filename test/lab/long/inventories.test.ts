/**
 * The inventories that kbuild comes with, built as they stand: only what is the lab's own (addresses, mirrors, the login) takes
 * the place of the example's. kube-vip has a test of its own (kube-vip.test.ts), a proxy cannot be had here; mixed-windows is built by scenarios/windows.test.ts.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventsOf, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed } from '../ok.ts';
import { ownEtcd } from '../own-etcd.ts';
import { nodes } from '../pods.ts';
import { balance } from '../tcp-balancer.ts';

interface Example {
  readonly name: string;
  readonly kubernetes: object;
  readonly hosts: readonly { readonly name: string; readonly role: string }[];
  readonly loadBalancer?: { readonly kind: string };
  readonly etcd?: { readonly endpoints?: readonly string[] };
}

const VIP = '10.77.0.216';
const OWN_ETCD = ['exetcd7', 'exetcd8', 'exetcd9'];
let close: (() => void) | undefined;
const folder = mkdtempSync(join(tmpdir(), 'kbuild-inventories-'));
const used = new Set<string>();

const exampleOf = (name: string): Example =>
  parse(readFileSync(new URL(`../../../inventories/${name}.yaml`, import.meta.url), 'utf8')) as Example;

/** The example with the lab's hosts, mirrors and login. */
async function inLab(example: Example): Promise<{ readonly inventory: object; readonly close: () => void }> {
  const names = example.hosts.map(({ name }) => `ex${name}`);
  for (const name of names) used.add(name);
  await lab.up(names);
  await lab.reset(names);
  const theirs = await lab.inventory(names);
  const hosts = theirs.hosts.map((host, i) => ({
    ...example.hosts[i],
    ...host,
    internalAddress: host.internalAddress,
    role: example.hosts[i]!.role,
  }));
  const { kind } = example.loadBalancer ?? {};
  const balancer =
    kind === 'external'
      ? await balance(
          7491,
          hosts.filter(({ role }) => role === 'control-plane').map((host) => host.internalAddress ?? host.address),
        )
      : undefined;
  const inventory = {
    ...theirs,
    ...example,
    kubernetes: {
      ...(theirs['kubernetes'] as object),
      ...example.kubernetes,
      ...(balancer === undefined ? {} : { endpoint: balancer.endpoint }),
    },
    ...(kind === 'keepalived' ? { loadBalancer: { ...example.loadBalancer, address: VIP } } : {}),
    ...(example.etcd?.endpoints === undefined ? {} : { etcd: await theirEtcd(example.etcd) }),
    ssh: theirs['ssh'],
    hosts,
  };
  return { inventory, close: () => balancer?.close() };
}

/** An etcd of the user's for the example that wants one. */
async function theirEtcd(etcd: object): Promise<object> {
  await lab.up(OWN_ETCD);
  await lab.reset(OWN_ETCD);
  const { endpoints, ca, client } = await ownEtcd(folder, OWN_ETCD);
  return { ...etcd, endpoints, ca, cert: client.cert, key: client.key };
}

beforeAll(() => {
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
});
// Also after a failure: the next example uses the same virtual address.
afterEach(async () => {
  close?.();
  await lab.down([...used]);
});
afterAll(() => lab.down(OWN_ETCD));

test.each(['single', 'stacked-external', 'stacked-keepalived', 'external-etcd-built', 'external-etcd-own'])(
  'inventories/%s.yaml is built, and a second run changes nothing',
  async (name) => {
    const example = exampleOf(name);
    const made = await inLab(example);
    ({ close } = made);
    const { inventory } = made;
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
    const up = ['up', file, '--yes', '--kubeconfig', join(folder, `${name}.kubeconfig`)];
    timed(name, await kbuild(...up));
    const are = example.hosts.filter(({ role }) => role === 'control-plane' || role === 'worker');
    expect(await nodes(`ex${are[0]!.name}`)).toEqual(Object.fromEntries(are.map((one) => [`ex${one.name}`, true])));
    // A busy machine may still have to wait for a control plane, but nothing is changed again.
    const again = ok(await kbuild(...up, '--json'));
    expect(eventsOf(again).filter(({ kind }) => kind === 'changed')).toEqual([]);
  },
);
