import { expect, test } from 'vitest';
import { fetched } from '../../src/upgrade/fetch.step.ts';
import { CA, clusterOf, cp1, inventoryOf, joinedWorker, nodeOf, podOf, w1 } from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { recordingOn } from '../fakes/on.ts';

const [from, last] = [{ version: '1.36.4' }, { version: '1.37.1' }];
const inventory = inventoryOf({ kubernetes: { ...inventoryOf().kubernetes, version: last.version, minor: '1.37' } });

const RUNNING_DNS = 'registry.k8s.io/coredns/coredns:v1.12.1';

/** The jobs by which a worker that runs 1.35 downloads what it needs for a hop. */
async function jobsOf(hop: typeof from) {
  const cluster = clusterOf({
    version: '1.35.8',
    nodes: [nodeOf({ name: cp1.name, role: 'control-plane' }), nodeOf({ name: w1.name, kubeletVersion: 'v1.35.8' })],
    pods: [podOf({ name: 'coredns-a', labels: { 'k8s-app': 'kube-dns' }, images: [RUNNING_DNS] })],
  });
  const osRelease = { id: 'debian', idLike: [], versionId: '12', codename: 'bookworm', prettyName: 'Debian 12' };
  const facts = joinedWorker({ caFingerprint: CA, osRelease });
  const all = fleet({ inventory, cluster, facts: { [w1.name]: facts } });
  const { on, sent } = recordingOn();
  for (const { apply } of fetched(hop, last).diff({ inventory, host: w1, facts, fleet: all })) await apply!(on);
  return sent.flatMap((one) => (one.kind === 'job' ? [{ name: one.name, script: one.script }] : []));
}

test('a worker gets the packages of the last hop, and the image of CoreDNS, whose pods may run there', async () => {
  const [packages, images] = await jobsOf(last);
  expect(packages?.name).toBe('packages');
  expect(images?.script).toContain('kube-proxy:v1.37.1');
  expect(images?.script).toMatch(/^VERSION='?1\.37\.1'?$/m);
  expect(images?.script).toMatch(/^ASKED='?coredns'?$/m);
});

test('a worker gets images alone of a hop before that, in which nothing of its own is upgraded but kube-proxy', async () => {
  const [images, ...others] = await jobsOf(from);
  expect(others).toEqual([]);
  expect(images?.script).toContain('kube-proxy:v1.36.4');
  expect(images?.script).toMatch(/^VERSION=''$/m);
});

test('the CoreDNS that runs is pulled too: a drain may move it to a node that never had its image, when the registry is away', async () => {
  for (const hop of [from, last])
    expect((await jobsOf(hop)).find(({ name }) => name === 'images')?.script).toContain(RUNNING_DNS);
});
