/**
 * MetalLB's real controller and speakers: Services get addresses of a pool, the machine of the lab, which is no node, reaches them, the
 * node that answers dies, pools change, and all of it goes. The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOnDemand } from '../build-all.ts';
import { fresh } from '../fresh.ts';
import { cutPower, powerOn } from '../host-power.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { METALLB_IMAGES_URL } from '../network-plan.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { paths } from '../paths.ts';
import { tellPluginStart } from '../plugin-start.ts';
import { answersFromOutside as answers, kubectl, nodes, startEcho } from '../pods.ts';
import { METALLB_IMAGES_PATH, METALLB_PATH } from '../recipes.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['mlbcp1', 'mlbw1', 'mlbw2'] as const;
const HOSTS = [cp, w1, w2];
const NAMESPACE = 'echo';
const PATIENCE_MS = 300_000;
const MANIFEST = join(paths.www, METALLB_PATH, 'metallb-native.yaml');
let up: readonly string[];
let file: string;
let plain: lab.LabInventory;

function write(pools: Readonly<Record<string, readonly string[]>> | undefined): void {
  const runtime = plain['runtime'] as { readonly registries: readonly object[] };
  const registries = [...runtime.registries, { host: 'quay.io', mirrors: [METALLB_IMAGES_URL] }];
  const network = pools === undefined ? {} : { loadBalancers: { kind: 'metallb', manifest: MANIFEST, pools } };
  const inventory = { ...plain, name: 'metallb', runtime: { ...runtime, registries }, network };
  writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
}

const addressOf = (): Promise<string> =>
  kubectl(cp, `-n ${NAMESPACE} get service outside -o jsonpath={.status.loadBalancer.ingress[*].ip}`);
/** The node whose speaker answers for the address. */
const announcer = (): Promise<string> =>
  kubectl(cp, '-n metallb-system get servicel2statuses -o jsonpath={.items[*].status.node}');

beforeAll(async () => {
  for (const path of [METALLB_PATH, METALLB_IMAGES_PATH]) await buildOnDemand(path);
  ({ up, file } = await fresh('metallb', HOSTS));
  plain = await lab.inventory(HOSTS);
});
afterAll(() => lab.down(HOSTS));

test('up makes a cluster with MetalLB and a pool, and a second run changes nothing', async () => {
  write({ lan: ['10.77.0.240-10.77.0.242'] });
  timed('1 control plane and 2 workers with flannel and MetalLB', await kbuild(...up));
  await tellPluginStart(cp, 'flannel', '-n kube-flannel -l app=flannel');
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  unchanged(await kbuild(...up));
});

test('a Service gets the first address, and the machine of the lab is answered there by a worker', async () => {
  await startEcho(cp, NAMESPACE, 300);
  await kubectl(
    cp,
    `-n ${NAMESPACE} expose service echo --name outside --port 80 --target-port 8080 --type LoadBalancer`,
  );
  await waitUntil('it has an address', PATIENCE_MS, async () => (await addressOf()) !== '');
  expect(await addressOf()).toBe('10.77.0.240');
  await waitUntil('it answers', PATIENCE_MS, () => answers('10.77.0.240'));
  expect([w1, w2]).toContain(await announcer());
});

test('when the node that answers loses its power, the other one does within seconds', async () => {
  // Pods of the dead node are endpoints until Kubernetes notices: this is about the address alone.
  await kubectl(cp, `-n ${NAMESPACE} patch service outside -p '{"spec":{"externalTrafficPolicy":"Local"}}'`);
  await waitUntil('it answers', PATIENCE_MS, () => answers('10.77.0.240'));
  const last = await announcer();
  await cutPower(last);
  const start = performance.now();
  await waitUntil('another node answers', PATIENCE_MS, () => answers('10.77.0.240'));
  console.log(`MetalLB: ${((performance.now() - start) / 1000).toFixed(1)} s without an answer`);
  await waitUntil('the status names it', PATIENCE_MS, async () => (await announcer()) !== last);
  await powerOn(last);
  await waitUntil(`${last} is Ready`, PATIENCE_MS, async () => (await nodes(cp))[last] === true);
});

test('pools change on the live cluster, and up puts back what somebody deleted', async () => {
  write({ lan: ['10.77.0.240-10.77.0.242'], more: ['10.77.0.244/31'] });
  ok(await kbuild(...up));
  await kubectl(cp, `-n ${NAMESPACE} annotate service outside metallb.io/address-pool=more`);
  await waitUntil(
    'it has an address of the other pool',
    PATIENCE_MS,
    async () => (await addressOf()) === '10.77.0.244',
  );
  await kubectl(cp, '-n metallb-system delete ipaddresspool more');
  await kubectl(cp, '-n metallb-system delete daemonset speaker');
  ok(await kbuild(...up));
  unchanged(await kbuild(...up));
});

test('without the setting all of it goes, but for its kinds', async () => {
  write(undefined);
  ok(await kbuild(...up));
  await waitUntil('its namespace is gone', PATIENCE_MS, async () => {
    return !(await kubectl(cp, 'get namespaces -o name')).includes('metallb-system');
  });
  await waitUntil('nobody answers', PATIENCE_MS, async () => {
    await sleep(1000);
    return !(await answers('10.77.0.240'));
  });
  unchanged(await kbuild(...up));
});
