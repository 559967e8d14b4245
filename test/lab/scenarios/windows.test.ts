/**
 * A cluster that Windows workers can join: what its Linux hosts speak on the wire, and simulated Windows nodes in it.
 * The tests build on each other, in this order.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spkiFingerprint } from '../../../src/shell/fingerprint.ts';
import { kubeadmJoin, kubeletAccess, type JoinFiles } from '../../windows/kubelet/join.ts';
import { startKubelet, type SimulatedKubelet } from '../../windows/kubelet/kubelet.ts';
import { captured, type Captured } from '../capture.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { dial, kubectl, startEcho, stopEcho } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['w3cp1', 'w3w1', 'w3w2'] as const;
const HOSTS = [cp, w1, w2];
const SIMULATED = [
  { name: 'w3win1', address: '10.77.0.201', build: '10.0.20348', osImage: 'Windows Server 2022 Datacenter' },
  { name: 'w3win2', address: '10.77.0.202', build: '10.0.26100', osImage: 'Windows Server 2025 Datacenter' },
] as const;

let folder: string;
let file: string;
let inventory: lab.LabInventory;
const kubelets: SimulatedKubelet[] = [];

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));
const ok = (ran: Ran): Ran => {
  expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
  return ran;
};
const addressOf = (name: string): string => lab.hostSettings(name).address;

/** One packet between pods of the two workers, caught while they talk. */
async function packet(): Promise<Captured> {
  const pods = await startEcho(cp, 'wire');
  const [one, other] = [w1, w2].map((node) => pods.find((pod) => pod.node === node)!) as [EchoPod, EchoPod];
  const caught = captured(w1, one.ip, other.ip);
  let done = false;
  const talk = async (): Promise<void> => {
    while (!done) expect(await dial(cp, 'wire', one, other.ip)).toBe(other.name);
  };
  const [found] = await Promise.all([caught.finally(() => (done = true)), talk()]);
  await stopEcho(cp, 'wire');
  return found;
}
type EchoPod = Awaited<ReturnType<typeof startEcho>>[number];

const joinText = async (name: string): Promise<string> =>
  stringify({
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'JoinConfiguration',
    nodeRegistration: {
      name,
      criSocket: 'npipe:////./pipe/containerd-containerd',
      taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
      kubeletExtraArgs: [{ name: 'system-reserved', value: 'memory=2Gi' }],
    },
    discovery: {
      bootstrapToken: {
        token: (await lab.inside(cp, 'kubeadm token create --ttl 10m 2>/dev/null')).stdout.trim(),
        apiServerEndpoint: `${addressOf(cp)}:6443`,
        caCertHashes: [spkiFingerprint((await lab.inside(cp, 'cat /etc/kubernetes/pki/ca.crt')).stdout)],
      },
    },
  });

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = {
    ...(await lab.inventory(HOSTS)),
    name: 'mixed',
    network: { plugin: 'flannel', flannel: { port: 4789, vni: 4096 } },
  };
  ({ folder, file } = inventoryFile(inventory));
});

afterAll(async () => {
  await Promise.all(kubelets.map((kubelet) => kubelet.stop()));
  await lab.down(HOSTS);
});

describe('tunnels that Windows understands', () => {
  test('up builds the cluster', async () => {
    const { seconds } = ok(await up());
    console.log(`1 control plane, 2 workers, VNI 4096 at port 4789: ${seconds.toFixed(1)} s`);
  });

  test('pods of different hosts talk by VXLAN, VNI 4096, port 4789', async () => {
    const found = await packet();
    console.log(`caught on ${w1}: ${JSON.stringify(found)}`);
    expect(found).toMatchObject({ by: 'vxlan', port: 4789, vni: 4096 });
    expect([found.from, found.to].sort()).toEqual([w1, w2].map(addressOf).sort());
  });
});

describe('kbuild windows selftest', () => {
  test('its runner tries every flow on Linux nodes, and cleans up', async () => {
    const ran = ok(await kbuild('windows', 'selftest', file, '--os', 'linux', '--json', '--timeout', '3m'));
    const { rows } = JSON.parse(ran.stdout) as { rows: { flow: string; result: string; why?: string }[] };
    const by = (result: string) => rows.filter((row) => row.result === result).map(({ flow }) => flow);
    console.log(
      `${String(by('pass').length)} flows in ${ran.seconds.toFixed(1)} s, not tried: ${by('not-tried').join(', ')}`,
    );
    expect(by('fail')).toEqual([]);
    expect(by('pass')).toHaveLength(20);
    expect(await kubectl(cp, 'get namespaces')).not.toContain('selftest');
  });

  test('without a Windows node it says so', async () => {
    const { code, stderr } = await kbuild('windows', 'selftest', file);
    expect(code, stderr).toBe(7);
    expect(stderr).toContain('no Windows node');
  });
});

describe('simulated Windows nodes', () => {
  test('kubeadm’s join is refused by a cluster that is not the one of the hash', async () => {
    const text = (await joinText('w3win9')).replace(/sha256:[0-9a-f]{4}/, 'sha256:0000');
    await expect(kubeadmJoin(text)).rejects.toThrow('cluster CA found in cluster-info ConfigMap is invalid');
  });

  test('they bootstrap by TLS, register and are Ready once their network is', async () => {
    for (const one of SIMULATED) {
      const files: JoinFiles = await kubeadmJoin(await joinText(one.name));
      expect(Object.keys(files)).toContain('C:\\etc\\kubernetes\\kubelet.conf');
      let network = false;
      const kubelet = startKubelet({
        access: kubeletAccess((path) => files[path]),
        facts: {
          ...one,
          kubeletVersion: '1.36.3',
          containerdVersion: '2.3.5',
          cpus: 4,
          memoryBytes: 16 * 1024 ** 3,
          bootId: 'first',
          flags: ['--register-with-taints=os=windows:NoSchedule', '--system-reserved=memory=2Gi'],
        },
        world: {
          networkProblem: () => (network ? undefined : 'cni plugin not initialized'),
          podRuns: ({ metadata }) => {
            network ||= metadata.labels?.['app'] === 'stands-for-flannel';
          },
        },
      });
      kubelets.push(kubelet);
      await kubelet.registered;
    }
    expect(await kubectl(cp, 'get nodes -l kubernetes.io/os=windows --no-headers')).toMatch(/NotReady/);
    const labels = { app: 'stands-for-flannel' };
    const daemon = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'stands-for-flannel', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector: { 'kubernetes.io/os': 'windows' },
            hostNetwork: true,
            tolerations: [{ operator: 'Exists' }],
            securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } },
            containers: [{ name: 'main', image: 'example.com/windows:1' }],
          },
        },
      },
    };
    await kubectl(cp, 'apply -f -', JSON.stringify(daemon));
    await kubectl(cp, 'rollout status daemonset/stands-for-flannel --timeout=90s');
    await waitUntil('the simulated nodes are Ready', 60_000, async () =>
      /(?:True ?){2}/.test(
        await kubectl(
          cp,
          `get nodes -l kubernetes.io/os=windows -o jsonpath='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status} {end}'`,
        ),
      ),
    );
    const wide = await kubectl(cp, 'get nodes -o wide');
    console.log(wide);
    expect(wide).toContain('Windows Server 2022');
    expect(await kubectl(cp, `get node w3win1 -o jsonpath='{.spec.taints[0].key} {.metadata.labels}'`)).toMatch(
      /^os .*"node.kubernetes.io\/windows-build":"10.0.20348"/,
    );
    await kubectl(cp, 'delete daemonset stands-for-flannel --timeout=60s');
    expect(kubelets.flatMap(({ log }) => log)).toEqual([]);
  });
});

describe('routes instead of tunnels', () => {
  test('up changes the live network, and pods of different hosts talk without a tunnel', async () => {
    write({ ...inventory, network: { plugin: 'flannel', flannel: { backend: 'host-gw' } } });
    const { seconds } = ok(await up());
    console.log(`from VXLAN to host-gw: ${seconds.toFixed(1)} s`);
    const found = await packet();
    console.log(`caught on ${w1}: ${JSON.stringify(found)}`);
    expect(found.by).toBe('route');
    expect(ok(await up()).stdout).toContain('nothing to do');
  });
});
