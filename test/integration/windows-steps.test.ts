import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { reset } from '../../src/commands/remove.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { started, up } from '../windows/fleets.ts';
import { releases } from '../windows/host/internet.ts';
import { filesOf, leftovers } from '../windows/host/machine.ts';
import type { SimulatedFleet } from '../windows/simulated-fleet.ts';

const down = (inventory: Inventory): readonly Phase[] =>
  reset(inventory, { hosts: ['win1'] }).filter(({ kind }) => kind === 'windows');

const failureOf = async (fleet: SimulatedFleet): Promise<string> => {
  const { outcome } = await fleet.run(up);
  return outcome.failures.get('win1')?.message ?? 'nothing failed';
};

const done = async (fleet: SimulatedFleet): Promise<void> => {
  const { outcome } = await fleet.run(up);
  expect([...outcome.failures.values()].map(({ message }) => message)).toEqual([]);
  expect((await fleet.run(up)).planned).toEqual([]);
};

describe('a fresh Windows host', () => {
  test('becomes a node, and a second run changes nothing', async () => {
    const fleet = await started();
    const { planned, outcome } = await fleet.run(up);
    expect(planned).toMatchInlineSnapshot(`
      [
        "install the Windows feature Containers (found Available)",
        "restart win1 (Containers needs a restart)",
        "set Path, CRI_CONFIG_FILE in the machine's environment",
        "let TCP 10250 in for kubelet (found none)",
        "let TCP 10256 in for health of kube-proxy (found none)",
        "let TCP 30000-32767 in for Services of type NodePort (found none)",
        "let UDP 4789 in for VXLAN (found none)",
        "write C:\\Program Files\\containerd\\config.toml (found none)",
        "install containerd 2.3.5 (found none)",
        "register service containerd (found none)",
        "start containerd (found none)",
        "wait until containerd listens at \\\\.\\pipe\\containerd-containerd",
        "protect C:\\k (found none), C:\\opt\\cni\\bin (found none), C:\\etc\\cni\\net.d (found none)",
        "install crictl 1.36.0 (found none)",
        "write C:\\k\\crictl.yaml (found none)",
        "install kubeadm 1.36.3 (found none)",
        "install kubelet 1.36.3 (found none)",
        "install kube-log-runner (found none)",
        "make C:\\var\\log\\kubelet",
        "register service kubelet (found none)",
        "join win1 to k8s.example:6443 as a worker",
        "write C:\\etc\\cni\\net.d\\10-flannel.conf (found none)",
        "wait until win1 is registered (found no node)",
      ]
    `);
    expect([...outcome.failures.values()]).toEqual([]);
    expect(fleet.nodes).toEqual(new Set(['win1']));
    expect(fleet.joins).toMatchObject([
      {
        kind: 'JoinConfiguration',
        nodeRegistration: { name: 'win1', criSocket: 'npipe:////./pipe/containerd-containerd' },
      },
    ]);
    const again = await fleet.run(up);
    expect(again).toMatchObject({ planned: [], outcome: { changes: 0 } });
    expect(JSON.stringify(fleet.events)).not.toContain('0123456789abcdef');
  });

  test('is as it was after reset, but for its features', async () => {
    const fleet = await started();
    const before = leftovers(fleet.simulated.machine);
    await done(fleet);
    const { outcome } = await fleet.run(down);
    expect([...outcome.failures.values()]).toEqual([]);
    expect({ ...leftovers(fleet.simulated.machine), features: [], tasks: [] }).toEqual({
      ...before,
      features: [],
      tasks: [],
    });
    fleet.nodes.clear();
    await done(fleet);
  });

  test('that has the feature already is not restarted', async () => {
    const fleet = await started();
    fleet.simulated.machine.features.set('Containers', 'Installed');
    const { bootTimeMs } = fleet.simulated.machine;
    await done(fleet);
    expect(fleet.simulated.machine.bootTimeMs).toBe(bootTimeMs);
  });

  test('is restarted once, and is waited for until the new boot answers', async () => {
    const fleet = await started({ restartMs: { goingDown: 1500, down: 300 } });
    const { bootTimeMs } = fleet.simulated.machine;
    await done(fleet);
    expect(fleet.simulated.machine.bootTimeMs).toBeGreaterThan(bootTimeMs);
    expect(fleet.events.filter((event) => event.kind === 'changing' && event.step === 'restarted')).toHaveLength(1);
  });

  test('is not restarted where that is not allowed, and says so', async () => {
    const fleet = await started({ windows: { allowReboot: false } });
    const { bootTimeMs } = fleet.simulated.machine;
    expect(await failureOf(fleet)).toMatch(/restart win1 yourself: windows\.allowReboot is false/);
    expect(fleet.simulated.machine.bootTimeMs).toBe(bootTimeMs);
  }, 120_000);

  test('can have nssm run the kubelet', async () => {
    const sum = createHash('sha256').update(releases('https://files.example/nssm.exe')!).digest('hex');
    const base = await started();
    const { downloads } = base.host.windows;
    const fleet = await started({
      windows: {
        serviceManager: 'nssm',
        downloads: { ...downloads, nssm: 'https://files.example', sha256: { 'nssm.exe': sum } },
      },
    });
    await done(fleet);
    expect(fleet.simulated.machine.services.get('kubelet')).toMatchObject({
      path: 'C:\\k\\nssm.exe',
      parameters: { Application: 'C:\\k\\kubelet.exe', AppRotateBytes: '10485760' },
    });
    expect(filesOf(fleet.simulated.machine).text('C:\\k\\kube-log-runner.exe')).toBeUndefined();
  });
});

describe('programs that this machine fetches', () => {
  const PROGRAMS = [
    ...['kubeadm.exe', 'kubelet.exe', 'kube-proxy.exe', 'kube-log-runner.exe'].map((name) => `v1.36.3/${name}`),
    ...['v2.3.5/containerd-2.3.5-windows-amd64.tar.gz', 'v1.36.0/crictl-v1.36.0-windows-amd64.tar.gz'],
  ];
  const sumOf = (path: string): string =>
    createHash('sha256')
      .update(releases(`/${path}`)!)
      .digest('hex');
  const served: Server[] = [];
  afterEach(() => {
    for (const server of served.splice(0)) server.close();
  });

  /** Serves the releases here; the host itself reaches nothing. */
  async function serving(change: (url: string, content: Buffer) => Buffer = (_, content) => content) {
    const server = createServer(({ url = '' }, answer) => {
      const content = releases(url);
      if (content === undefined) answer.writeHead(404).end();
      else answer.end(change(url, content));
    });
    served.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const at = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    return started({
      world: { internet: () => undefined },
      windows: {
        downloads: {
          via: 'operator',
          kubernetes: `${at}/v1.36.3`,
          containerd: `${at}/v2.3.5`,
          crictl: `${at}/v1.36.0`,
          nssm: '',
          network: '',
          // Without TLS the inventory must name them.
          sha256: Object.fromEntries(PROGRAMS.map((path) => [basename(path), sumOf(path)])),
        },
      },
    });
  }

  test('are sent to the host, verified, and moved to their place', async () => {
    const fleet = await serving();
    await done(fleet);
    const { machine } = fleet.simulated;
    expect(filesOf(machine).text('C:\\k\\kubelet.exe')).toContain('Kubernetes v1.36.3');
    expect([...machine.files.keys()].filter((path) => path.endsWith('.upload'))).toEqual([]);
  });

  test('are not sent when their checksum does not fit', async () => {
    const fleet = await serving((url, content) => (url.endsWith('kubelet.exe') ? content.subarray(0, 9) : content));
    expect(await failureOf(fleet)).toMatch(/checksum mismatch: .*kubelet\.exe has SHA-256/);
    expect(filesOf(fleet.simulated.machine).exists('C:\\k\\kubelet.exe')).toBe(false);
  });
});

describe('what goes wrong is mended by the same command', () => {
  test('kubeadm fails halfway', async () => {
    const fleet = await started({
      joining: (_, count) =>
        count === 1 ? Promise.reject(new Error('error execution phase preflight')) : Promise.resolve(),
    });
    expect(await failureOf(fleet)).toMatch(/error execution phase preflight/);
    expect(filesOf(fleet.simulated.machine).text('C:\\ProgramData\\kbuild\\marker.json')).toContain('"action":"join"');
    await done(fleet);
    expect(fleet.joins).toHaveLength(2);
    expect(filesOf(fleet.simulated.machine).exists('C:\\ProgramData\\kbuild\\marker.json')).toBe(false);
  });

  test('the link is lost during the join: the task goes on, and is not started twice', async () => {
    let drop = (): void => undefined;
    const fleet = await started({
      joining: async () => {
        drop();
        await new Promise((resolve) => setTimeout(resolve, 300));
      },
    });
    drop = () => fleet.simulated.dropAll();
    await done(fleet);
    expect(fleet.joins).toHaveLength(1);
  });

  test('a checksum that does not fit leaves the old program', async () => {
    const fleet = await started();
    await done(fleet);
    const { machine } = fleet.simulated;
    const old = 'MZ Kubernetes v1.36.2\nEND';
    filesOf(machine).put('C:\\k\\kubelet.exe', old);
    const other = await started({
      world: {
        internet: (url: string) => (url.endsWith('kubelet.exe.sha256') ? Buffer.from('0'.repeat(64)) : releases(url)),
      },
    });
    filesOf(other.simulated.machine).put('C:\\k\\kubelet.exe', old);
    expect(await failureOf(other)).toMatch(/checksum mismatch: .*kubelet\.exe has SHA-256/);
    expect(filesOf(other.simulated.machine).text('C:\\k\\kubelet.exe')).toBe(old);
    expect(filesOf(other.simulated.machine).exists('C:\\k\\kubelet.exe.download')).toBe(false);
  });

  test('a download that was cut short leaves the old program', async () => {
    const cut = (url: string): Buffer | undefined =>
      url.endsWith('kubeadm.exe') ? releases(url)?.subarray(0, 5) : releases(url);
    const fleet = await started({ world: { internet: cut } });
    expect(await failureOf(fleet)).toMatch(/checksum mismatch/);
    expect(filesOf(fleet.simulated.machine).exists('C:\\k\\kubeadm.exe')).toBe(false);
  });

  test('the disk is full', async () => {
    let full = true;
    const fleet = await started({
      faults: ({ kind, name }) =>
        full && kind === 'job' && name.includes('install-program') ? 'disk-full' : undefined,
    });
    expect(await failureOf(fleet)).toMatch(/not enough space on the disk/);
    full = false;
    await done(fleet);
  });

  test('a program that does not run is installed again', async () => {
    const fleet = await started();
    filesOf(fleet.simulated.machine).put('C:\\k\\kubeadm.exe', 'half of a program');
    const { planned } = await fleet.run(up);
    expect(planned).toContain('install kubeadm 1.36.3 (found one that does not run)');
    await done(fleet);
  });

  test('what the network of an earlier membership left is gone before the join', async () => {
    const fleet = await started();
    filesOf(fleet.simulated.machine).put('C:\\sourcevip\\sourceVip.json', '{"ip4":{"ip":"10.244.9.2/24"}}');
    filesOf(fleet.simulated.machine).put('C:\\run\\flannel\\subnet.env', 'FLANNEL_SUBNET=10.244.9.1/24');
    await done(fleet);
    expect(filesOf(fleet.simulated.machine).exists('C:\\sourcevip')).toBe(false);
    expect(filesOf(fleet.simulated.machine).exists('C:\\run\\flannel')).toBe(false);
  });

  test('containerd is restarted with a changed configuration, and services get the proxy', async () => {
    const proxy = { http: 'http://proxy.example:3128', noProxy: ['10.0.0.0/8'] };
    const fleet = await started({ inventory: { proxy } });
    await done(fleet);
    const { machine } = fleet.simulated;
    expect(machine.services.get('containerd')?.environment).toEqual([
      'HTTP_PROXY=http://proxy.example:3128',
      'NO_PROXY=10.0.0.0/8',
    ]);
    expect(machine.environment.get('NO_PROXY')).toBe('10.0.0.0/8');
    const before = machine.services.get('containerd')!.startedMs;
    filesOf(machine).put('C:\\Program Files\\containerd\\config.toml', 'edited by hand');
    await done(fleet);
    expect(machine.services.get('containerd')!.startedMs).toBeGreaterThan(before);
  });
});
