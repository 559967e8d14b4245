/** What a Windows host's kubelet knows about its node. */
export interface NodeFacts {
  readonly name: string;
  readonly address: string;
  /** `10.0.20348` */
  readonly build: string;
  /** `Windows Server 2022 Datacenter` */
  readonly osImage: string;
  /** Without `v`. */
  readonly kubeletVersion: string;
  /** Without `containerd://`. */
  readonly containerdVersion: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly bootId: string;
  /** The kubelet's command line, as its service has it: `--register-with-taints`, `--node-labels`, reservations. */
  readonly flags: readonly string[];
}

const flag = (flags: readonly string[], name: string): string | undefined =>
  flags
    .find((one) => one.startsWith(`--${name}=`))
    ?.slice(`--${name}=`.length)
    .replaceAll('"', '');

const labelsOf = ({ name, build, flags }: NodeFacts): Readonly<Record<string, string>> => ({
  'kubernetes.io/os': 'windows',
  'kubernetes.io/arch': 'amd64',
  'kubernetes.io/hostname': name,
  'node.kubernetes.io/windows-build': build,
  ...Object.fromEntries(
    (flag(flags, 'node-labels') ?? '')
      .split(',')
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  ),
});

const taintsOf = ({ flags }: NodeFacts): readonly object[] =>
  (flag(flags, 'register-with-taints') ?? '')
    .split(',')
    .map((text) => /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text))
    .flatMap((found) => (found === null ? [] : [{ key: found[1], value: found[2] ?? '', effect: found[3] }]));

/** The Node as its kubelet creates it. */
export const nodeObject = (facts: NodeFacts): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: facts.name, labels: labelsOf(facts) },
  spec: { taints: taintsOf(facts) },
});

/** Bytes of `1Gi`, `512Mi`; 0 for what it does not know. */
function bytes(quantity: string | undefined): number {
  const [, amount, unit] = /^(\d+)(Ki|Mi|Gi)?$/.exec(quantity ?? '') ?? [];
  return Number(amount ?? 0) * { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, '': 1 }[unit ?? '']!;
}

const reservedMemory = (flags: readonly string[], name: string): number =>
  bytes(/memory=([^,]+)/.exec(flag(flags, name) ?? '')?.[1]);

/** The node's status. `problem`: why its runtime has no network for pods; undefined when it has. */
export function statusOf(facts: NodeFacts, problem: string | undefined, now: Date): object {
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const condition = (type: string, status: 'True' | 'False', reason: string, message: string): object => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  const allocatable =
    facts.memoryBytes - reservedMemory(facts.flags, 'system-reserved') - reservedMemory(facts.flags, 'kube-reserved');
  const resources = (memory: number): object => ({
    cpu: String(facts.cpus),
    memory: `${String(Math.floor(memory / 1024))}Ki`,
    pods: '110',
    'ephemeral-storage': '100Gi',
  });
  return {
    capacity: resources(facts.memoryBytes),
    allocatable: resources(allocatable),
    addresses: [
      { type: 'InternalIP', address: facts.address },
      { type: 'Hostname', address: facts.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: facts.name,
      systemUUID: '',
      bootID: facts.bootId,
      kernelVersion: `${facts.build}.1`,
      osImage: facts.osImage,
      containerRuntimeVersion: `containerd://${facts.containerdVersion}`,
      kubeletVersion: `v${facts.kubeletVersion}`,
      kubeProxyVersion: '',
      operatingSystem: 'windows',
      architecture: 'amd64',
    },
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      problem === undefined
        ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
        : condition('Ready', 'False', 'KubeletNotReady', problem),
    ],
  };
}
