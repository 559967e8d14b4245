import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { remove, reset } from '../../src/commands/remove.phases.ts';
import { up as everyPhase } from '../../src/commands/up.phases.ts';
import type { Step, Target } from '../../src/engine/step.ts';
import type { Inventory, WindowsHost } from '../../src/inventory/inventory.ts';
import { Secret } from '../../src/shell/secret.ts';
import { toYaml } from '../../src/shell/yaml.ts';
import type { On } from '../../src/ssh/remote.ts';
import { windowsContainerdConfig } from '../../src/windows/containerd.step.ts';
import { windowsJoinConfiguration, windowsPatches, windowsResetConfiguration } from '../../src/windows/kubeadm.ts';
import { clusterOf, cp1, inventoryOf, joinedControlPlane, nodeOf, podOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { calicoNetwork, mixedFlannel } from '../fakes/network.ts';
import { recordingOn } from '../fakes/on.ts';
import { factsOfMachine, remoteOf } from '../fakes/windows.ts';
import { testCa } from './ca.ts';
import { releases } from './host/internet.ts';
import { filesOf, freshMachine, leftovers, type Machine } from './host/machine.ts';

interface World {
  readonly inventory: Inventory;
  readonly host: WindowsHost;
  readonly machine: Machine;
  cluster: ClusterView;
}

const CA = testCa();

const NSSM_SUM = createHash('sha256').update(releases('https://files.example/nssm.exe')!).digest('hex');

function world(over: Partial<WindowsHost> = {}, more: Partial<Inventory> = {}): World {
  const host = windowsHost('win1', over);
  const base = inventoryOf();
  const inventory: Inventory = {
    ...base,
    hosts: [cp1, host],
    network: mixedFlannel(),
    ...more,
  };
  const machine = freshMachine('win1', '20348', host.internalAddress);
  return { inventory, host, machine, cluster: clusterOf({ caFingerprint: CA.fingerprint }) };
}

function target({ inventory, host, machine, cluster }: World): Target<'windows'> {
  const facts = factsOfMachine(inventory, host, machine);
  const fleet = {
    hosts: [
      { os: 'linux' as const, host: cp1, facts: joinedControlPlane({ caFingerprint: CA.fingerprint }) },
      { os: 'windows' as const, host, facts },
    ],
    unreachable: [],
    cluster,
  };
  return { inventory, host, facts, fleet };
}

/** The flags that kubeadm notes for the kubelet: the taints and those of the configuration, sorted (ArgumentsToCommand). */
const noted = ({ inventory, host }: World): string => {
  const { nodeRegistration } = windowsJoinConfiguration(inventory, host, { token: Secret.of('t'), caHash: '' }) as {
    readonly nodeRegistration: {
      readonly kubeletExtraArgs: readonly { readonly name: string; readonly value: string }[];
    };
  };
  const flags = nodeRegistration.kubeletExtraArgs.map(({ name, value }) => `--${name}=${value}`);
  return [...flags, '--register-with-taints=os=windows:NoSchedule'].toSorted().join(' ');
};

/** Applies the steps in order. After each step its diff must be empty. */
async function carryOut(it: World, steps: readonly Step<'windows'>[], joins = noted(it)): Promise<readonly string[]> {
  const done: string[] = [];
  const kubeadm = (): Promise<Readonly<Record<string, string>>> => {
    it.cluster = clusterOf({
      caFingerprint: CA.fingerprint,
      nodes: [
        nodeOf({ name: 'cp1', role: 'control-plane' }),
        nodeOf({ name: 'win1', taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] }),
      ],
    });
    return Promise.resolve({
      'C:\\etc\\kubernetes\\pki\\ca.crt': CA.pem,
      'C:\\etc\\kubernetes\\kubelet.conf': 'contexts:\n- context:\n    cluster: default-cluster\n',
      'C:\\var\\lib\\kubelet\\config.yaml': 'kind: KubeletConfiguration\n',
      'C:\\var\\lib\\kubelet\\kubeadm-flags.env': `KUBELET_KUBEADM_ARGS="${joins}"\n`,
    });
  };
  const { remote } = remoteOf(it.host, it.machine, { kubeadm });
  const { on: onLinux, sent } = recordingOn({
    run: ({ script }) => (script.includes('token create') ? 'abcdef.0123456789abcdef\n' : ''),
  });
  const on: On = (one) => (one.os === 'windows' ? remote : onLinux(one)) as never;
  for (const step of steps) {
    for (const change of step.diff(target(it))) {
      done.push(change.summary);
      await change.preview?.(on);
      await change.apply?.(on);
    }
    if (sent.some((one) => 'script' in one && one.script.includes('delete node')))
      it.cluster = clusterOf({ caFingerprint: CA.fingerprint });
    const left = step.diff(target(it)).map(({ summary }) => summary);
    if (!['drained', 'labels-taints'].includes(step.name)) expect(left, step.name).toEqual([]);
  }
  return done;
}

const up = ({ inventory }: World): readonly Step<'windows'>[] =>
  everyPhase(inventory).flatMap(({ kind, steps }) => (kind === 'windows' ? steps : []));

const due = (it: World, steps = up(it)): readonly string[] =>
  steps.flatMap((step) => step.diff(target(it))).map(({ summary }) => summary);

test('a fresh host becomes a node, and then has no pending changes', async () => {
  const it = world();
  const done = await carryOut(it, up(it));
  expect(done).toContain('restart win1 (Containers needs a restart)');
  expect(done).toContain('join win1 to k8s.example:6443 as a worker');
  expect(due(it)).toEqual([]);
});

test('the plan shows the restart before the feature is installed', () => {
  expect(due(world()).slice(0, 2)).toEqual([
    'install the Windows feature Containers (found Available)',
    'restart win1 (Containers needs a restart)',
  ]);
  const it = world({ windows: { ...windowsHost('win1').windows, allowReboot: false } });
  expect(due(it)[1]).toBe('restart win1 yourself: windows.allowReboot is false (Containers needs a restart)');
});

test('before the kubelet starts, its service has every flag', async () => {
  const it = world({ kubelet: { config: {}, extraArgs: [{ name: 'v', value: '4' }] } });
  await carryOut(it, up(it));
  expect(it.machine.services.get('kubelet')!.path.split(' --')).toMatchInlineSnapshot(`
    [
      "C:\\k\\kube-log-runner.exe",
      "log-file=C:\\var\\log\\kubelet\\kubelet.log",
      "log-file-size=10M",
      "log-file-age=168h C:\\k\\kubelet.exe",
      "windows-service",
      "cert-dir=C:/var/lib/kubelet/pki",
      "config=C:/var/lib/kubelet/config.yaml",
      "bootstrap-kubeconfig=C:/etc/kubernetes/bootstrap-kubelet.conf",
      "kubeconfig=C:/etc/kubernetes/kubelet.conf",
      "cgroups-per-qos=false",
      "enforce-node-allocatable=",
      "resolv-conf=",
      "enable-debugging-handlers=true",
      "windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS",
      "register-with-taints=os=windows:NoSchedule",
      "node-ip=10.0.0.31",
      "hostname-override=win1",
      "system-reserved=memory=1Gi",
      "kube-reserved=memory=1Gi",
      "v=4",
    ]
  `);
});

test.each(['native', 'nssm'] as const)(
  'the first up changes the kubelet only once, though kubeadm notes its flags in another order: %s',
  async (serviceManager) => {
    const { windows } = windowsHost('win1');
    const downloads = { ...windows.downloads, nssm: 'https://files.example', sha256: { 'nssm.exe': NSSM_SUM } };
    const it = world({ windows: { ...windows, serviceManager, downloads } });
    const done = await carryOut(it, up(it));
    expect(done.filter((summary) => /(?:service|restart|start) kubelet /.test(summary))).toEqual([
      'register service kubelet (found none)',
    ]);
    expect(due(it)).toEqual([]);
  },
);

test('nssm is judged by its checksum, and never run: another one is replaced, the right one stays', async () => {
  const { windows } = windowsHost('win1');
  const downloads = { ...windows.downloads, nssm: 'https://files.example', sha256: { 'nssm.exe': NSSM_SUM } };
  const it = world({ windows: { ...windows, serviceManager: 'nssm', downloads } });
  expect(await carryOut(it, up(it))).toContain('install nssm (found none)');
  expect(due(it)).toEqual([]);
  filesOf(it.machine).put('C:\\k\\nssm.exe', 'MZ another\nEND');
  expect(due(it)).toEqual(['install nssm (found another)']);
});

test('if kubeadm wrote other flags, the service gets them and the kubelet restarts', async () => {
  const it = world();
  const done = await carryOut(it, up(it), '--container-runtime-endpoint=npipe:////./pipe/other --v=9');
  expect(done.filter((summary) => /(?:service|restart) kubelet /.test(summary))).toEqual([
    'register service kubelet (found none)',
    'change service kubelet (found its command line)',
    'restart kubelet (its registration changes)',
  ]);
  expect(it.machine.services.get('kubelet')!.path).toMatch(
    /--container-runtime-endpoint=npipe:\/\/\/\/.\/pipe\/other(?!.*--v=9)/,
  );
});

test('if kubelet settings are edited after the join, the host gets them', async () => {
  const it = world();
  await carryOut(it, up(it));
  const host = { ...it.host, kubelet: { config: { maxPods: 40 }, extraArgs: [{ name: 'v', value: '4' }] } };
  const edited = { ...it, host, inventory: { ...it.inventory, hosts: [cp1, host] } };
  expect(await carryOut(edited, up(edited))).toEqual([
    'write C:\\etc\\kubernetes\\patches\\kubeletconfigurationzz-kbuild+merge.yaml (found none)',
    'configure and restart the kubelet of win1 (found another maxPods)',
    'change service kubelet (found its command line)',
    'restart kubelet (its registration changes)',
  ]);
  expect(due(edited)).toEqual([]);
});

test('a kubelet that is older than its configuration is restarted: a run was cut off between the two', async () => {
  const it = world();
  await carryOut(it, up(it));
  it.machine.services.get('kubelet')!.startedMs -= 5000;
  expect(due(it)).toEqual(['restart kubelet (C:\\var\\lib\\kubelet\\config.yaml is newer)']);
  await carryOut(it, up(it));
  expect(due(it)).toEqual([]);
});

describe('containerd of a host that has joined', () => {
  const NEXT = 'C:\\Program Files\\containerd\\containerd.exe';
  const withContainerd = (it: World, version: string): World => {
    const host = { ...it.host, windows: { ...it.host.windows, containerd: { version } } };
    return { ...it, host, inventory: { ...it.inventory, hosts: [cp1, host] } };
  };
  const joined = async (): Promise<World> => {
    const it = world();
    await carryOut(it, up(it));
    filesOf(it.machine).put('C:\\k\\crictl.exe', 'MZ crictl version v1.36.0\nEND');
    it.machine.extra.set('pods', ['shim-of-a-pod']);
    // The program runs: it can be renamed, and not overwritten.
    const running = filesOf(it.machine).get(NEXT)!;
    it.machine.files.set(NEXT.toLowerCase(), { ...running, isRunning: true });
    return withContainerd(it, '2.3.9');
  };

  test('is replaced on a drained node only, after its pods have gone', async () => {
    const it = await joined();
    expect(due(it)).toEqual([
      'note that containerd of win1 changes',
      'drain win1 (found Ready)',
      expect.stringMatching(/^install containerd 2\.3\.9 \(found /) as string,
      'let win1 take pods again',
      'wait until workloads that left win1 have as many ready pods as before',
      'remove the note that containerd of win1 changes',
    ]);
    const install = up(it).find(({ name, diff }) => name === 'containerd' && diff(target(it)).length > 0)!;
    const { remote } = remoteOf(it.host, it.machine);
    for (const { apply } of install.diff(target(it))) await apply?.((() => remote) as never);
    expect(filesOf(it.machine).text(NEXT)).toContain('2.3.9');
    expect(it.machine.extra.get('pods')).toEqual([]);
    const states = ['containerd', 'kubelet'].map((name) => it.machine.services.get(name)!.state);
    expect(states).toEqual(['Running', 'Running']);
  });

  test('is replaced on a node whose drain may take as long as rollout.drainTimeout says', async () => {
    const it = await joined();
    const inventory = { ...it.inventory, rollout: { ...it.inventory.rollout, drainTimeoutMs: 42_000 } };
    const drained = up(it).find(({ name, diff }) => name === 'drained' && diff(target(it)).length > 0)!;
    const deadlines: (number | undefined)[] = [];
    const { remote } = remoteOf(it.host, it.machine);
    const seeing = {
      ...remote,
      job: (_: string, { deadlineMs }: { readonly deadlineMs?: number }) => {
        deadlines.push(deadlineMs);
        return Promise.resolve('');
      },
    };
    for (const { apply } of drained.diff({ ...target(it), inventory })) await apply?.((() => seeing) as never);
    expect(deadlines).toEqual([42_000 + 5 * 60_000]);
  });

  test('that was replaced lets the node take pods again though one observation of the API fails', async () => {
    const it = withContainerd(await joined(), world().host.windows.containerd.version);
    const last = up(it).filter(({ name }) => ['uncordoned', 'workloads-back', 'runtime-change-done'].includes(name));
    it.cluster = { state: 'down', reason: 'timeout' };
    expect(due(it, last)).toEqual(last.map(() => 'wait for the API server to answer (timeout)'));
    expect(last.every(({ settleMs = 0 }) => settleMs >= 60_000)).toBe(true);
  });

  test('stays the old one, and runs, where a file of the new one cannot be placed', async () => {
    const it = await joined();
    const before = filesOf(it.machine).text(NEXT);
    it.machine.extra.set('unplaceable', NEXT);
    const install = up(it).find(({ name, diff }) => name === 'containerd' && diff(target(it)).length > 0)!;
    const { remote } = remoteOf(it.host, it.machine);
    await expect(install.diff(target(it))[0]!.apply!((() => remote) as never)).rejects.toThrow('is denied');
    expect(filesOf(it.machine).text(NEXT)).toBe(before);
    const states = ['containerd', 'kubelet'].map((name) => it.machine.services.get(name)!.state);
    expect(states).toEqual(['Running', 'Running']);
  });

  test('that does not run is installed at once', async () => {
    const it = await joined();
    filesOf(it.machine).putAside(NEXT);
    filesOf(it.machine).put(NEXT, 'half');
    expect(due(it).filter((summary) => /drain|install/.test(summary))).toEqual([
      'install containerd 2.3.9 (found one that does not run)',
    ]);
  });
});

describe('a host with existing files and services', () => {
  test('corrects everything that differs', async () => {
    const it = world();
    await carryOut(it, up(it));
    const { machine } = it;
    const files = filesOf(machine);
    files.put('C:\\k\\kubelet.exe', 'MZ Kubernetes v1.36.4\nEND');
    files.put('C:\\Program Files\\containerd\\config.toml', 'edited');
    machine.firewall.delete('kbuild-kubelet');
    machine.environment.set('Path', 'C:\\Windows');
    machine.services.get('kubelet')!.state = 'Stopped';
    machine.services.get('containerd')!.environment = ['HTTP_PROXY=http://old'];
    expect(due(it)).toMatchInlineSnapshot(`
      [
        "set Path in the machine's environment",
        "let TCP 10250 in for kubelet (found none)",
        "write C:\\Program Files\\containerd\\config.toml (content differs)",
        "change service containerd (found its environment)",
        "restart containerd (its registration changes)",
        "install kubelet 1.36.3 (found 1.36.4)",
        "start kubelet (found Stopped)",
        "wait until the kubelet of win1 is healthy",
      ]
    `);
    await carryOut(it, up(it));
    expect(due(it)).toEqual([]);
  });

  test('replaces programs that are newer than the API server in the order kubeadm, kubelet, kube-proxy, and stops their services meanwhile', async () => {
    const settings = windowsHost('win1').windows;
    const it = world({
      windows: { ...settings, downloads: { ...settings.downloads, network: 'https://files.example' } },
    });
    await carryOut(it, up(it));
    const newer = (name: string): void => filesOf(it.machine).put(`C:\\k\\${name}.exe`, 'MZ Kubernetes v1.37.1\nEND');
    ['kubeadm', 'kubelet', 'kube-proxy'].forEach(newer);
    const asServices = { ...it.inventory, network: mixedFlannel({ services: true }) };
    const steps = up(it);
    const changes = steps.flatMap((step) => step.diff(target({ ...it, inventory: asServices })));
    const versions = changes.filter(({ summary }) => summary.includes('1.37.1'));
    expect(versions.map(({ summary, disrupts }) => [summary, disrupts])).toEqual([
      ['install kubeadm 1.36.3 (found 1.37.1)', false],
      ['install kubelet 1.36.3 (found 1.37.1)', true],
      ['install kube-proxy 1.36.3 (found 1.37.1)', true],
    ]);
    expect(await carryOut(it, steps)).toEqual([
      'install kubeadm 1.36.3 (found 1.37.1)',
      'install kubelet 1.36.3 (found 1.37.1)',
      'start kubelet (found Stopped)',
    ]);
  });

  test('writes the registry files of the inventory and removes all others', async () => {
    const registries = [
      {
        host: 'registry.example:5000',
        mirrors: ['https://mirror.example'],
        ca: 'PEM',
        username: 'u',
        password: Secret.of('p'),
      },
    ];
    const it = world({}, { runtime: { ...inventoryOf().runtime, registries } });
    filesOf(it.machine).put('C:\\Program Files\\containerd\\certs.d\\old.example\\hosts.toml', 'x');
    await carryOut(it, up(it));
    expect(filesOf(it.machine).under('C:\\Program Files\\containerd\\certs.d')).toEqual([
      'C:\\Program Files\\containerd\\certs.d\\registry.example_5000_\\ca.crt',
      'C:\\Program Files\\containerd\\certs.d\\registry.example_5000_\\hosts.toml',
    ]);
    expect(
      filesOf(it.machine).text('C:\\Program Files\\containerd\\certs.d\\registry.example_5000_\\hosts.toml'),
    ).toContain('C:/Program Files/containerd/certs.d/registry.example_5000_/ca.crt');
  });
});

describe('the proxy in the machine’s environment', () => {
  const proxy = { http: 'http://proxy.example:3128', noProxy: ['.svc'] };
  const names = (it: World): readonly string[] =>
    [...it.machine.environment.keys()].filter((name) => /PROXY/.test(name));

  test('is removed from the machine and its services if the inventory no longer has a proxy', async () => {
    const it = world({}, { proxy });
    await carryOut(it, up(it));
    expect(names(it)).toEqual(['HTTP_PROXY', 'NO_PROXY']);
    expect(it.machine.services.get('kubelet')!.environment).toHaveLength(2);
    const without = { ...it, inventory: { ...it.inventory, proxy: undefined } };
    expect(await carryOut(without, up(without))).toEqual([
      "take HTTP_PROXY, NO_PROXY out of the machine's environment (not in the inventory any more)",
      'change service containerd (found its environment)',
      'restart containerd (its registration changes)',
      'change service kubelet (found its environment)',
      'restart kubelet (its registration changes)',
    ]);
    expect(names(without)).toEqual([]);
    expect(it.machine.services.get('kubelet')!.environment).toEqual([]);
    expect(due(without)).toEqual([]);
  });

  test('stays if the machine had the same value before kbuild', async () => {
    const it = world({}, { proxy });
    it.machine.environment.set('HTTP_PROXY', 'http://proxy.example:3128');
    await carryOut(it, up(it));
    const without = { ...it, inventory: { ...it.inventory, proxy: undefined } };
    await carryOut(without, up(without));
    expect(names(without)).toEqual(['HTTP_PROXY']);
  });
});

test('waits for network pods that are not ready, and shows the reason', async () => {
  const it = world();
  await carryOut(it, up(it));
  const pod = { name: 'kube-proxy-windows-x', node: 'win1', ready: false };
  const live = it.cluster;
  const withPod = (trouble: string): World => ({
    ...it,
    cluster: { ...live, pods: [podOf({ ...pod, trouble })] } as ClusterView,
  });
  expect(due(withPod(''))).toEqual(['wait for kube-proxy-windows-x on win1 (found not ready)']);
  expect(due(withPod('ImagePullBackOff: not found'))).toEqual([
    'wait for kube-proxy-windows-x on win1 (found ImagePullBackOff: not found)',
  ]);
});

test('resets a half-finished join, then joins again', async () => {
  const it = world();
  const steps = up(it);
  filesOf(it.machine).put('C:\\etc\\kubernetes\\bootstrap-kubelet.conf', 'half');
  filesOf(it.machine).put('C:\\ProgramData\\kbuild\\marker.json', '{"cluster":"demo","action":"join","job":"kubeadm"}');
  expect(await carryOut(it, steps)).toContain('undo a half-finished join of demo (found 1 leftovers)');
  expect(due(it)).toEqual([]);
});

test('if the Node was deleted, restarts the kubelet, which registers it again', async () => {
  const it = world();
  await carryOut(it, up(it));
  it.cluster = clusterOf({ caFingerprint: CA.fingerprint, nodes: [nodeOf({ name: 'cp1' })] });
  expect(due(it)).toContain('restart the kubelet of win1, which registers its node again (found the node deleted)');
});

test('deletes a stale Node of the same name before the join', () => {
  const it = world();
  it.cluster = clusterOf({
    caFingerprint: CA.fingerprint,
    nodes: [nodeOf({ name: 'cp1' }), nodeOf({ name: 'win1', internalAddress: it.host.internalAddress })],
  });
  expect(due(it)).toContain('join win1 to k8s.example:6443 as a worker (found a stale node of that name)');
});

describe('a host that leaves the cluster', () => {
  const windowsOf = (phases: ReturnType<typeof reset>): readonly Step<'windows'>[] =>
    phases.filter(({ kind }) => kind === 'windows').flatMap(({ steps }) => steps as Step<'windows'>[]);

  test.each(['reset', 'remove'] as const)(
    'has its original state again, except for Windows features: %s',
    async (how) => {
      const it = world({}, { proxy: { http: 'http://proxy.example:3128', noProxy: ['.svc'] } });
      const before = leftovers(it.machine);
      await carryOut(it, up(it));
      for (const name of ['flannel.5000', 'Calico']) it.machine.networks.push({ id: name, name, type: 'Overlay' });
      // What a killed run leaves, and a route that is only kept for the next start.
      for (const left of ['.download', '.unpacked\\bin\\ctr.exe', '.old\\1\\ctr.exe'])
        filesOf(it.machine).put(`C:\\Program Files\\containerd${left}`, 'x');
      it.machine.tasks.set('kbuild-restart', { name: 'kbuild-restart', state: 'Ready', lastResult: 0 });
      filesOf(it.machine).put('C:\\ProgramData\\kbuild\\metadata-route', 'x');
      it.machine.persistentRoutes.add('169.254.169.254/32');
      const leaving = [
        { name: 'win1', internalAddress: it.host.internalAddress, role: 'worker', host: it.host } as const,
      ];
      const phases =
        how === 'reset'
          ? reset(it.inventory, {})
          : remove(it.inventory, { leaving, drain: { timeoutMs: 1000 }, before: () => Promise.resolve() });
      const done = await carryOut(it, windowsOf(phases));
      expect(done.filter((summary) => /HNS|services|reset on/.test(summary))).toEqual([
        'kubeadm reset on win1 (found /etc/kubernetes/kubelet.conf, /etc/kubernetes/pki/ca.crt, 1 more)',
        'remove the services kubelet, containerd; images stay in C:\\ProgramData\\containerd, and so do Windows features',
        "remove the HNS networks flannel.5000, Calico; the host's connection drops for seconds",
      ]);
      expect({ ...leftovers(it.machine), features: [] }).toEqual({ ...before, features: [] });
    },
  );
});

describe('with Calico', () => {
  const network = calicoNetwork({ windows: { mode: 'calico', services: false, kubeProxyImage: 'k' } });

  test('a host gets no files of flannel, and opens the VXLAN port', async () => {
    const it = world({}, { network });
    const done = await carryOut(it, up(it));
    expect(done).toContain('let UDP 4789 in for VXLAN (found none)');
    expect(done.filter((summary) => summary.includes('flannel'))).toEqual([]);
    expect(due(it)).toEqual([]);
  });

  test('reset removes the leftovers of Calico', async () => {
    const it = world({}, { network });
    const before = leftovers(it.machine);
    await carryOut(it, up(it));
    it.machine.networks.push({ id: '1', name: 'Calico', type: 'Overlay' });
    for (const path of [
      'etc\\cni\\net.d\\10-calico.conflist',
      'var\\lib\\calico\\mtu',
      'var\\log\\calico\\cni\\cni.log',
      'CalicoWindows\\nodename',
    ])
      filesOf(it.machine).put(`C:\\${path}`, '');
    const phases = reset(it.inventory, {}).filter(({ kind }) => kind === 'windows');
    await carryOut(
      it,
      phases.flatMap(({ steps }) => steps as Step<'windows'>[]),
    );
    expect({ ...leftovers(it.machine), features: [] }).toEqual({ ...before, features: [] });
  });
});

describe('configuration files', () => {
  const { inventory, host } = world({ kubelet: { config: { maxPods: 40 }, extraArgs: [] } });

  test('kubeadm join', async () => {
    const documents = [windowsJoinConfiguration(inventory, host, { token: Secret.of('t'), caHash: 'sha256:00' })];
    await expect(toYaml(documents)).toMatchFileSnapshot('../golden/windows-join.yaml');
    expect(windowsPatches(inventory, host)).toEqual({
      'kubeletconfigurationzz-kbuild+merge.yaml': expect.stringContaining('maxPods: 40') as string,
    });
  });

  test('kubeadm reset', async () => {
    await expect(toYaml([windowsResetConfiguration(inventory)])).toMatchFileSnapshot('../golden/windows-reset.yaml');
  });

  test('containerd 2.3, and an older version with a single bin_dir', async () => {
    await expect(windowsContainerdConfig(host)).toMatchFileSnapshot('../golden/windows-containerd.toml');
    const old = { ...host, windows: { ...host.windows, containerd: { version: '2.0.10' } } };
    expect(windowsContainerdConfig(old)).toContain('bin_dir = ');
  });
});
