import { expect, test } from 'vitest';
import type { FileState } from '../../src/host/files.facts.ts';
import { controlPlaneFiles } from '../../src/kubeadm/control-plane-files.step.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, podOf, targetOf } from '../fakes/cluster.ts';
import { fileWith, WRITTEN_MS } from '../fakes/files.ts';
import { recordingOn } from '../fakes/on.ts';

const AUDIT = '/etc/kubernetes/audit/policy.yaml';
const CA = '/etc/kubernetes/pki/oidc.crt';
const MOTD = '/etc/motd';

const inventory = inventoryOf({
  files: [AUDIT, CA, MOTD].map((path) => ({ hosts: ['cp1'], path, content: 'new\n', mode: 0o644 })),
  kubeadm: {
    ...inventoryOf().kubeadm,
    cluster: {
      apiServer: { extraVolumes: [{ name: 'audit', hostPath: '/etc/kubernetes/audit/', mountPath: '/audit' }] },
    },
  },
});

/** What is due where the API server started then and the files are these; others are older and as they should be. */
const due = (startedMs: number, files: Readonly<Record<string, FileState>> = {}) => {
  const pods = [podOf({ name: 'kube-apiserver-cp1', labels: { component: 'kube-apiserver' }, startedMs })];
  const cluster = clusterOf({ pods: [...clusterOf().pods, ...pods] });
  const all = new Map([AUDIT, CA, MOTD].map((path) => [path, files[path] ?? fileWith('new\n', 0o644, WRITTEN_MS)]));
  return controlPlaneFiles.diff(targetOf(inventory, cp1, fleetIn(cluster, joinedHost(cp1, { files: all }))));
};
const summaries = (...args: Parameters<typeof due>) => due(...args).map(({ summary }) => summary);

test('an API server that started after its files is left alone, also in the same second', () => {
  expect(summaries(WRITTEN_MS + 1000)).toEqual([]);
  expect(summaries(WRITTEN_MS, { [AUDIT]: fileWith('new\n', 0o644, WRITTEN_MS + 900) })).toEqual([]);
});

test.each([
  ['of a volume', AUDIT],
  ['below the folder that kubeadm mounts', CA],
])('a file %s that is newer than the API server restarts it', async (_, path) => {
  const [change] = due(WRITTEN_MS, { [path]: fileWith('new\n', 0o644, WRITTEN_MS + 5000) });
  expect(change).toMatchObject({ summary: `restart the API server of cp1 (${path} is newer)`, disrupts: true });
  const { on, sent } = recordingOn();
  await change!.apply!(on);
  expect(sent).toMatchObject([{ host: 'cp1', title: 'kubeadm/restart-component.sh' }]);
});

test('a file that is about to be written makes the restart part of the plan', () =>
  expect(summaries(WRITTEN_MS + 1000, { [AUDIT]: fileWith('old\n') })).toEqual([
    `restart the API server of cp1 (${AUDIT} changes)`,
  ]));

test('a file that no pod reads restarts none, and a pod that does not run is left to the kubelet', () => {
  expect(summaries(WRITTEN_MS, { [MOTD]: fileWith('new\n', 0o644, WRITTEN_MS + 5000) })).toEqual([]);
  expect(summaries(0, { [AUDIT]: fileWith('old\n') })).toEqual([]);
});
