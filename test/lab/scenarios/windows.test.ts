/**
 * Linux and Windows workers in one cluster: one control plane, two Linux workers, two simulated Windows hosts of two builds,
 * and a third one later. Everything on Linux is real: what its hosts send on the wire, and the cluster that the simulated
 * kubelets join by TLS bootstrap. The programs of the first Windows host are real too, under wine, where the lab has them in its
 * cache; nothing is built for it here. The tests build on each other, in this order.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { spkiFingerprint } from '../../../src/certificates/fingerprint.value.ts';
import { DOCUMENTED_FLOWS } from '../../windows/documented-flows.ts';
import { filesOf, leftovers } from '../../windows/host/machine.ts';
import type { SimulatedWindowsHost } from '../../windows/host/server.ts';
import { kubeadmJoin } from '../../windows/kubelet/join.ts';
import { inventoryFile, kbuild, type Ran, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { withNames } from '../name-server.ts';
import { GATEWAY } from '../network-plan.ts';
import { ok, unchanged, well } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { VERSIONS } from '../versions.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';
import { areMade, WINDOWS_PROGRAMS, windowsPrograms } from '../windows-programs.ts';
import { patient, wineLabHost, type WineLabHost } from '../windows-wine.ts';
import { packetBetween, windowsEntry, windowsLabHost } from '../windows.ts';

const [cp, w1, w2] = ['w3cp1', 'w3w1', 'w3w2'] as const;
const HOSTS = [cp, w1, w2];
/** A name that only the name server of the lab knows. */
const OUTSIDE = 'mirror.kbuild-lab.test';

let folder: string;
let file: string;
let inventory: lab.LabInventory;
let windows: readonly [SimulatedWindowsHost, SimulatedWindowsHost, SimulatedWindowsHost];
/** The first Windows host, where its programs are real. */
let real: WineLabHost | undefined;
let before: readonly object[];
/** Why the third host does not get kube-proxy's image. */
let missing: string | undefined;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));
/** What a host has that kbuild could have brought; features stay. */
const remains = ({ machine }: SimulatedWindowsHost): object => ({ ...leftovers(machine), features: undefined });
const addressOf = (name: string): string => lab.hostSettings(name).address;
/** The lab's inventory with so many of the Windows hosts. */
const withWindows = (count: number): lab.LabInventory => ({
  ...inventory,
  hosts: [...inventory.hosts, ...windows.slice(0, count).map(windowsEntry)],
});

beforeAll(async () => {
  const network = 'flannel.4096';
  const first = { build: '20348', internalAddress: '10.77.0.201', network } as const;
  if (areMade(WINDOWS_PROGRAMS))
    real = await wineLabHost('w3win1', first, await windowsPrograms(WINDOWS_PROGRAMS), WINDOWS_PROGRAMS);
  console.log(`the programs of w3win1: ${real === undefined ? 'the model’s' : 'real ones, under wine'}`);
  windows = [
    real?.host ?? (await windowsLabHost('w3win1', first)),
    await windowsLabHost('w3win2', { build: '26100', internalAddress: '10.77.0.202', network }),
    await windowsLabHost('w3win3', {
      build: '26100',
      internalAddress: '10.77.0.203',
      network,
      imageProblem: (image) => (image.includes('kube-proxy') ? missing : undefined),
    }),
  ];
  before = windows.map(remains);
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  // The lab has no images for Windows, and agnhost under one tag.
  const testImage = `registry.k8s.io/e2e-test-images/agnhost:${VERSIONS.agnhost}`;
  inventory = {
    ...patient(await lab.inventory(HOSTS)),
    name: 'mixed',
    network: { plugin: 'flannel', testImage },
    windows: { containerd: { version: VERSIONS.containerd } },
  };
  ({ folder, file } = inventoryFile(withWindows(2)));
});

afterAll(async () => {
  await Promise.all(
    [...windows.slice(real === undefined ? 0 : 1), ...(real === undefined ? [] : [real])].map((host) => host.close()),
  );
  await lab.down(HOSTS);
});

/** A quantity as the API server writes it: with the largest unit that leaves no fraction. */
const gibibytes = (quantity: string): number =>
  Number.parseInt(quantity, 10) / { Gi: 1, Mi: 1024, Ki: 1024 ** 2 }[quantity.slice(-2) as 'Gi' | 'Mi' | 'Ki'];

describe('a mixed cluster', () => {
  test('up builds it, with the restarts that Windows wants', async () => {
    const { seconds } = ok(await up());
    console.log(`1 control plane, 2 Linux and 2 Windows workers: ${seconds.toFixed(1)} s`);
    console.log(await kubectl(cp, 'get nodes -o wide'));
    expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true, w3win1: true, w3win2: true });
  });

  test('Windows nodes have their labels, taint, reservation and RuntimeClass', async () => {
    const node = JSON.parse(await kubectl(cp, 'get node w3win1 -o json')) as {
      metadata: { labels: Record<string, string> };
      spec: { taints: object[] };
      status: { capacity: { memory: string }; allocatable: { memory: string } };
    };
    expect(node.metadata.labels).toMatchObject({
      'kubernetes.io/os': 'windows',
      'node.kubernetes.io/windows-build': '10.0.20348',
    });
    expect(node.spec.taints).toEqual([{ key: 'os', value: 'windows', effect: 'NoSchedule' }]);
    const { capacity, allocatable } = node.status;
    expect(gibibytes(capacity.memory) - gibibytes(allocatable.memory)).toBe(2);
    expect(await kubectl(cp, 'get runtimeclasses -o name')).toBe(
      'runtimeclass.node.k8s.io/windows-2022\nruntimeclass.node.k8s.io/windows-2025\n',
    );
  });

  test('pods of Linux hosts talk by VXLAN as Windows understands it: VNI 4096, port 4789', async () => {
    const found = await packetBetween(cp, [w1, w2]);
    console.log(`caught on ${w1}: ${JSON.stringify(found)}`);
    expect(found).toMatchObject({ by: 'vxlan', port: 4789, vni: 4096 });
    expect([found.from, found.to].sort()).toEqual([w1, w2].map(addressOf).sort());
  });

  test('a second run changes nothing', async () => {
    unchanged(await up());
  });

  test('a kubelet starts again without the bootstrap file, by its own certificate', async () => {
    const { machine, control } = windows[0];
    expect(filesOf(machine).exists('C:\\etc\\kubernetes\\bootstrap-kubelet.conf')).toBe(false);
    await control.stopService('kubelet');
    await control.startService('kubelet');
    expect(machine.services.get('kubelet')?.state).toBe('Running');
    if (real === undefined) return;
    expect(real.linesOf('kubeadm.exe join')).toEqual(['kubeadm.exe join --config config.yaml']);
    const { hadBootstrapFile, log } = real.kubeletStarts.at(-1)!;
    expect(hadBootstrapFile).toBe(false);
    expect(log).not.toMatch(/unable to (?:read|load)|no such file/);
  });

  test('status knows no trouble, and names it where a service stands still', async () => {
    const { machine, control } = windows[0];
    expect((await well(() => kbuild('status', file))).stdout).not.toContain('trouble');
    await control.stopService('containerd');
    expect((await kbuild('status', file)).stdout).toMatch(/trouble\n {2}w3win1: containerd not running/);
    await control.startService('containerd');
    expect(machine.services.get('containerd')?.state).toBe('Running');
  });
});

describe('kube-proxy whose node selector was edited for Windows nodes', () => {
  const patch = (type: 'merge' | 'json', body: object): Promise<string> =>
    kubectl(cp, `-n kube-system patch daemonset kube-proxy --type ${type} -p '${JSON.stringify(body)}'`);
  const FINDING = 'the daemonset kube-proxy in kube-system does not select Linux nodes';

  test('is found, and not any more when it selects Linux again', async () => {
    // Pods that run stay as they are.
    await patch('merge', { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
    await patch('json', [{ op: 'remove', path: '/spec/template/spec/nodeSelector' }]);
    const { code, stdout } = await kbuild('check', file);
    expect(code, stdout).toBe(6);
    expect(stdout).toContain(FINDING);
    await patch('merge', { spec: { template: { spec: { nodeSelector: { 'kubernetes.io/os': 'linux' } } } } });
    await patch('merge', { spec: { updateStrategy: { type: 'RollingUpdate' } } });
    expect((await kbuild('check', file)).stdout).not.toContain(FINDING);
  });
});

describe('life', () => {
  test('a third Windows host joins', async () => {
    write(withWindows(3));
    missing = 'manifest for v1.36.3-calico-hostprocess not found';
    const running = start(['up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf')]);
    await waitUntil('a plan names the tag that is missing', PATIENCE_MS, async () =>
      (await kbuild('plan', file)).stdout.includes(`(found ImagePullBackOff: ${missing!})`),
    );
    missing = undefined;
    const { seconds } = ok(await running.ended);
    console.log(`a third Windows host, with an image that came late: ${seconds.toFixed(1)} s`);
    expect((await nodes(cp))['w3win3']).toBe(true);
    unchanged(await up());
  });

  test('another network under Windows hosts is refused, with the way to go', async () => {
    write({ ...withWindows(3), network: { plugin: 'flannel', flannel: { backend: 'host-gw' } } });
    const { code, stderr } = await up();
    expect(code, stderr).toBe(7);
    expect(stderr).toContain('set network.flannel: { backend: host-gw }');
    write(withWindows(3));
  });

  test('a removed host is as it was, but for its features', async () => {
    ok(await kbuild('remove', 'w3win3', '-i', file, '--yes'));
    expect(remains(windows[2])).toEqual(before[2]);
    expect(Object.keys(await nodes(cp))).not.toContain('w3win3');
  });

  test('a join with the hash of another authority is refused', async () => {
    const token = (await lab.inside(cp, 'kubeadm token create --ttl 10m 2>/dev/null')).stdout.trim();
    const hash = spkiFingerprint((await lab.inside(cp, 'cat /etc/kubernetes/pki/ca.crt')).stdout);
    const text = stringify({
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'JoinConfiguration',
      nodeRegistration: { name: 'w3win9', criSocket: 'npipe:////./pipe/containerd-containerd' },
      discovery: {
        bootstrapToken: {
          token,
          apiServerEndpoint: `${addressOf(cp)}:6443`,
          caCertHashes: [hash.replace(/.{4}$/, '0000')],
        },
      },
    });
    await expect(kubeadmJoin(text)).rejects.toThrow('cluster CA found in cluster-info ConfigMap is invalid');
  });
});

describe('kbuild windows selftest', () => {
  test('its runner tries every flow on Linux nodes, and cleans up', async () => {
    const options = ['--os', 'linux', '--outside', `${OUTSIDE}:5000`, '--json', '--timeout', '3m'];
    const ran = ok(await withNames({ [OUTSIDE]: GATEWAY }, () => kbuild('windows', 'selftest', file, ...options)));
    const { rows } = JSON.parse(ran.stdout) as { rows: { flow: string; result: string; why?: string }[] };
    const by = (result: string) => rows.filter((row) => row.result === result).map(({ flow }) => flow);
    console.log(
      `${String(by('pass').length)} flows in ${ran.seconds.toFixed(1)} s, not tried: ${by('not-tried').join(', ')}`,
    );
    expect(by('fail')).toEqual([]);
    expect(by('pass')).toHaveLength(25);
    expect(by('pass')).toEqual(expect.arrayContaining(Object.values(DOCUMENTED_FLOWS)));
    expect(await kubectl(cp, 'get namespaces')).not.toContain('selftest');
  });
});

test('reset of the whole cluster leaves Windows hosts as they were, but for their features', async () => {
  const { seconds } = ok(await kbuild('reset', file, '--yes-destroy', 'mixed'));
  console.log(`reset of 1 control plane, 2 Linux and 2 Windows workers: ${seconds.toFixed(1)} s`);
  console.log(real?.summary() ?? 'no program ran under wine');
  expect(windows.map(remains)).toEqual(before);
  expect(windows.map(({ machine }) => machine.features.get('Containers'))).toEqual(Array(3).fill('Installed'));
});
