import { expect, test } from 'vitest';
import { endpointServes } from '../../src/balancer/balancer.phases.ts';
import { haproxy, haproxyConfig } from '../../src/balancer/haproxy.step.ts';
import { keepalived, keepalivedConfig } from '../../src/balancer/keepalived.step.ts';
import { noBalancerFiles, noLoadBalancer } from '../../src/balancer/take-down.step.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import type { ServiceState } from '../../src/host/services.facts.ts';
import type { LoadBalancer } from '../../src/inventory/control-plane.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { paths } from '../../src/paths.ts';
import { clusterOf, fleetIn } from '../fakes/cluster.ts';
import { filesOf } from '../fakes/converged.ts';
import { WRITTEN_MS } from '../fakes/files.ts';
import { inventory as inventoryWith, linuxHost } from '../fakes/inventory.ts';
import { target } from '../fakes/target.ts';

const golden = (name: string): string => `../golden/${name}`;
const balancer: LoadBalancer = {
  kind: 'keepalived',
  address: '10.0.0.100',
  port: 8443,
  healthPort: 8404,
  routerId: 100,
};
const controls = [1, 2, 3].map((n) =>
  linuxHost(`cp${String(n)}`, { address: `10.0.0.1${String(n)}`, role: 'control-plane' }),
);
const inventory = inventoryWith({ loadBalancer: balancer, hosts: controls, endpoint: '10.0.0.100:8443' });
const interfaces = [
  { name: 'lo', addresses: ['127.0.0.1'], mac: '', mtu: 65_536 },
  { name: 'eth1', addresses: ['10.0.0.12'], mac: '', mtu: 1500 },
];
const onSecond = (more: Parameters<typeof target>[0] = {}) =>
  target({ interfaces, ...more }, { inventory, host: 'cp2' });
const steps = [...haproxy, ...keepalived];
const summaries = (seen: ReturnType<typeof target>) =>
  steps.flatMap((step) => step.diff(seen)).map((one) => one.summary);

const serving = (startedMs: number): ServiceState => ({
  load: 'loaded',
  active: 'active',
  enabled: 'enabled',
  startedMs,
  needsDaemonReload: false,
});
const services = (startedMs = WRITTEN_MS + 1) =>
  new Map([
    ['haproxy', serving(startedMs)],
    ['keepalived', serving(startedMs)],
  ]);

test('haproxy.cfg has every control plane as a backend', async () => {
  await expect(haproxyConfig(onSecond())).toMatchFileSnapshot(golden('haproxy.cfg'));
});

test('keepalived.conf of the only balancer has no setting of unicast, which keepalived refuses without peers', () => {
  const alone = { ...inventory, hosts: inventory.hosts.filter(({ name }) => name === onSecond().host.name) };
  expect(keepalivedConfig({ ...onSecond(), inventory: alone })).not.toContain('unicast');
});

test('keepalived.conf sends VRRP to the other balancers, from the interface of the internal address', async () => {
  await expect(keepalivedConfig(onSecond())).toMatchFileSnapshot(golden('keepalived.conf'));
});

test('kbuild waits until the API answers at the endpoint', () => {
  const due = (facts: ClusterView) =>
    endpointServes.diff({ inventory, host: inventory.hosts[0] as LinuxHost, facts, fleet: fleetIn(facts) });
  expect(due(clusterOf({ endpoint: 'ok' }))).toEqual([]);
  expect(due(clusterOf({ endpoint: 'connection refused' }))).toEqual([
    { summary: 'wait until 10.0.0.100:8443 serves the API (found: connection refused)' },
  ]);
  expect(due({ state: 'down', reason: 'cp1: no answer' })).toEqual([
    { summary: 'wait until 10.0.0.100:8443 serves the API (cp1: no answer)' },
  ]);
  expect(due({ state: 'absent' })).toEqual([{ summary: 'wait until 10.0.0.100:8443 serves the API' }]);
});

test('a fresh balancer needs all of it', () => {
  expect(summaries(onSecond())).toEqual([
    'write /etc/haproxy/haproxy.cfg (found none)',
    'start haproxy (found none)',
    'write /etc/keepalived/check-apiserver (found none)',
    'write /etc/keepalived/keepalived.conf (found none)',
    'start keepalived (found none)',
  ]);
});

test('a converged one needs nothing', async () => {
  expect(summaries(onSecond({ files: await filesOf(steps, onSecond()), services: services() }))).toEqual([]);
});

test('another control plane causes a reload, not a restart', async () => {
  const files = await filesOf(steps, onSecond());
  const grown = inventoryWith({
    ...inventory,
    hosts: [...controls, linuxHost('cp4', { address: '10.0.0.14', role: 'control-plane' })],
  });
  const seen = target({ interfaces, files, services: services() }, { inventory: grown, host: 'cp2' });
  expect(summaries(seen)).toEqual([
    'write /etc/haproxy/haproxy.cfg (content differs)',
    'reload haproxy (what it uses changes)',
    'write /etc/keepalived/keepalived.conf (content differs)',
    'reload keepalived (what it uses changes)',
  ]);
});

test('the note of a service names the content that it loaded since its start, and no other', async () => {
  const files = await filesOf(steps, onSecond());
  const old = services(WRITTEN_MS - 1);
  expect(summaries(onSecond({ files, services: old }))).toEqual([
    'reload haproxy (/etc/haproxy/haproxy.cfg is newer)',
    'reload keepalived (/etc/keepalived/keepalived.conf is newer)',
  ]);
  const noted = new Map([['haproxy', 'f'.repeat(64)]]);
  expect(summaries(onSecond({ files, services: old, applied: noted }))).toHaveLength(2);
});

test('a host whose interfaces do not have its internal address cannot hold the virtual one', () => {
  expect(() => keepalivedConfig(onSecond({ interfaces: [] }))).toThrow(
    /none of its interfaces has the address 10\.0\.0\.12/,
  );
});

test('a HAProxy that is reloading runs: it is not started again', () => {
  const reloading = { ...serving(WRITTEN_MS + 1), active: 'reloading' };
  const seen = onSecond({ services: new Map([...services(), ['haproxy', reloading]]) });
  expect(summaries(seen).filter((one) => one.startsWith('start haproxy'))).toEqual([]);
});

test('reset stops the address first, and leaves a balancer alone that is not of kbuild', () => {
  const ours = { services: services(), ownFiles: [paths.haproxyConfig, paths.keepalivedConfig] };
  const due = (more: Parameters<typeof target>[0]) => noLoadBalancer.diff(onSecond(more)).map(({ summary }) => summary);
  expect(due(ours)).toEqual(["stop and disable keepalived and haproxy (found running with kbuild's configuration)"]);
  expect(due({ ...ours, ownFiles: [] })).toEqual([]);
});

test('a former balancer gets back what was there before kbuild, and keeps nothing of kbuild’s', () => {
  const due = (...ownFiles: readonly string[]) =>
    noBalancerFiles
      .diff({ ...onSecond({ ownFiles }), inventory: { ...inventory, loadBalancer: { kind: 'external' } } })
      .map(({ summary }) => summary);
  expect(due(paths.haproxyConfig, paths.haproxyConfigBackup, paths.keepalivedConfig, paths.checkApiserver)).toEqual([
    `restore ${paths.haproxyConfig} from ${paths.haproxyConfigBackup} (found kbuild's)`,
    `remove ${paths.keepalivedConfig} (found kbuild's)`,
    `remove ${paths.checkApiserver} (found kbuild's)`,
  ]);
  expect(due(paths.sysctl)).toEqual([]);
});
