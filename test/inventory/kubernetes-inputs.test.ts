import { describe, expect, test } from 'vitest';
import { load, problemsOf, shown } from './load.ts';

const HEAD = `name: prod
kubernetes: { version: "1.36.3", endpoint: "k8s.example.com:6443" }
hosts:
  - { name: cp1, address: 10.0.0.10, role: control-plane }
  - { name: w1, address: 10.0.0.11, role: worker }
`;

/** Settings that people copy, each with the place and the words with which it is refused. */
const REFUSED: readonly (readonly [about: string, setting: string, path: string, words: RegExp])[] = [
  [
    'arguments as a mapping of kubeadm v1beta3',
    'kubeadm: { cluster: { apiServer: { extraArgs: { profiling: "false" } } } }',
    'kubeadm.cluster.apiServer.extraArgs',
    /must be a list since kubeadm v1beta4: extraArgs: \[\{ name: profiling, value: "false" \}\]/,
  ],
  [
    'a field that the kubelet has not',
    'kubelet: { config: { maxPod: 50 } }',
    'kubelet.config.maxPod',
    /there is no such field; did you mean maxPods\?/,
  ],
  [
    'a text for a list',
    'kubeadm: { cluster: { apiServer: { certSANs: myhost } } }',
    'kubeadm.cluster.apiServer.certSANs',
    /must be a list: certSANs: \[myhost\]/,
  ],
  [
    'a field in another case',
    'kubeadm: { cluster: { apiServer: { certSans: [ api.example.com ] } } }',
    'kubeadm.cluster.apiServer.certSans',
    /write certSANs: case counts/,
  ],
  [
    'a part in another case',
    'kubeadm: { cluster: { apiserver: { extraArgs: [ { name: profiling, value: "false" } ] } } }',
    'kubeadm.cluster.apiserver',
    /write apiServer: case counts/,
  ],
  [
    'a field of kubeadm v1beta3',
    'kubeadm: { cluster: { apiServer: { timeoutForControlPlane: 4m0s } } }',
    'kubeadm.cluster.apiServer.timeoutForControlPlane',
    /v1beta3.*write kubeadm\.init\.timeouts\.controlPlaneComponentHealthCheck/,
  ],
  [
    'a number for the value of an argument',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: audit-log-maxage, value: 30 } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[0].value',
    /quote it: "30"/,
  ],
  [
    'the name of an argument with dashes',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: --profiling, value: "false" } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[0].name',
    /without leading dashes: profiling/,
  ],
  [
    'true for a mapping',
    'kubeadm: { cluster: { apiServer: true } }',
    'kubeadm.cluster.apiServer',
    /must be a mapping of settings/,
  ],
  [
    'a network of pods beside the setting',
    'kubeadm: { cluster: { controllerManager: { extraArgs: [ { name: cluster-cidr, value: 10.1.0.0/16 } ] } } }',
    'kubeadm.cluster.controllerManager.extraArgs[0].name',
    /--cluster-cidr is set by kbuild: use network\.podSubnet/,
  ],
  [
    'nodes without networks',
    'kubeadm: { cluster: { controllerManager: { extraArgs: [ { name: allocate-node-cidrs, value: "false" } ] } } }',
    'kubeadm.cluster.controllerManager.extraArgs[0].name',
    /must be true/,
  ],
  [
    'a network of Services beside the setting',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: service-cluster-ip-range, value: 10.2.0.0/16 } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[0].name',
    /use network\.serviceSubnet/,
  ],
  [
    'a port of the API server beside the setting',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: secure-port, value: "8443" } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[0].name',
    /follows kubernetes\.endpoint/,
  ],
  [
    'an etcd that listens elsewhere',
    'kubeadm: { cluster: { etcd: { local: { extraArgs: [ { name: listen-client-urls, value: "https://0.0.0.0:3379" } ] } } } }',
    'kubeadm.cluster.etcd.local.extraArgs[0].name',
    /--listen-client-urls is set by kbuild/,
  ],
  [
    'no kube-proxy for a plugin that needs it',
    'kubeadm: { init: { skipPhases: [ addon/kube-proxy ] } }',
    'kubeadm.init.skipPhases[0]',
    /flannel reaches the API server by its Service/,
  ],
  [
    'kube-proxy disabled for a plugin that needs it',
    'kubeadm: { cluster: { proxy: { disabled: true } } }',
    'kubeadm.cluster.proxy.disabled',
    /flannel reaches the API server by its Service/,
  ],
  [
    'no kube-proxy, in one word, for a plugin that needs it',
    'network: { kubeProxy: none }',
    'network.kubeProxy',
    /flannel reaches the API server by its Service/,
  ],
  [
    'a mode beside another word',
    'kubeadm: { kubeProxy: { mode: iptables } }\nnetwork: { kubeProxy: nftables }',
    'kubeadm.kubeProxy.mode',
    /contradicts network\.kubeProxy: nftables; remove one of them/,
  ],
  [
    'a mode beside none',
    'kubeadm: { kubeProxy: { mode: iptables } }\nnetwork: { plugin: none, kubeProxy: none }',
    'kubeadm.kubeProxy.mode',
    /contradicts network\.kubeProxy: none/,
  ],
  [
    'a mode that is taken away',
    'kubeadm: { kubeProxy: { mode: null } }\nnetwork: { kubeProxy: nftables }',
    'kubeadm.kubeProxy.mode',
    /contradicts network\.kubeProxy: nftables/,
  ],
  [
    'a kube-proxy that is disabled and has a mode',
    'kubeadm: { cluster: { proxy: { disabled: true } } }\nnetwork: { plugin: none, kubeProxy: ipvs }',
    'kubeadm.cluster.proxy.disabled',
    /contradicts network\.kubeProxy: ipvs/,
  ],
  [
    'a kube-proxy that is both left out and not disabled',
    'kubeadm: { cluster: { proxy: { disabled: false } } }\nnetwork: { plugin: none, kubeProxy: none }',
    'kubeadm.cluster.proxy.disabled',
    /contradicts network\.kubeProxy: none/,
  ],
  [
    'a kube-proxy whose phase is skipped',
    'kubeadm: { init: { skipPhases: [ addon/kube-proxy ] } }\nnetwork: { plugin: none, kubeProxy: nftables }',
    'kubeadm.init.skipPhases',
    /leaves kube-proxy out, which contradicts network\.kubeProxy: nftables/,
  ],
  [
    'a phase that there is not',
    'kubeadm: { init: { skipPhases: [ no-such-phase ] } }',
    'kubeadm.init.skipPhases[0]',
    /no phase "no-such-phase"/,
  ],
  [
    'a mode that there is not',
    'kubeadm: { kubeProxy: { mode: ipvss } }',
    'kubeadm.kubeProxy.mode',
    /did you mean ipvs\?/,
  ],
  [
    'a mode that there was',
    'kubeadm: { kubeProxy: { mode: userspace } }',
    'kubeadm.kubeProxy.mode',
    /must be iptables, ipvs, nftables, not "userspace"/,
  ],
  [
    'a field that kube-proxy had',
    'kubeadm: { kubeProxy: { udpIdleTimeout: 250ms } }',
    'kubeadm.kubeProxy.udpIdleTimeout',
    /Kubernetes 1\.23 had it\); write conntrack\.udpTimeout/,
  ],
  [
    'a text for a number of kube-proxy',
    'kubeadm: { kubeProxy: { conntrack: { maxPerCore: "0" } } }',
    'kubeadm.kubeProxy.conntrack.maxPerCore',
    /must be a whole number: remove the quotes: 0/,
  ],
  [
    'a text for a number of the kubelet',
    'kubelet: { config: { maxPods: "200" } }',
    'kubelet.config.maxPods',
    /must be a whole number: remove the quotes: 200/,
  ],
  [
    'a feature gate that there was',
    'kubelet: { config: { featureGates: { DynamicKubeletConfig: false } } }',
    'kubelet.config.featureGates.DynamicKubeletConfig',
    /no such feature gate \(Kubernetes 1\.23 had it\); remove it/,
  ],
  [
    'a field of kubeadm v1beta2',
    'kubeadm: { cluster: { dns: { type: CoreDNS } } }',
    'kubeadm.cluster.dns.type',
    /v1beta2.*CoreDNS is the only one/,
  ],
  [
    'a feature gate that is locked',
    'kubelet: { config: { featureGates: { NodeSwap: false } } }',
    'kubelet.config.featureGates.NodeSwap',
    /is true in 1\.36 and cannot be set to false; remove it/,
  ],
  [
    'a feature gate of kubeadm that there is not',
    'kubeadm: { cluster: { featureGates: { NoSuchGate: true } } }',
    'kubeadm.cluster.featureGates.NoSuchGate',
    /kubeadm 1\.36 has no such feature gate/,
  ],
  [
    'a feature gate in an argument',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: feature-gates, value: "MemoryQos=true" } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[0].value',
    /did you mean MemoryQoS\?/,
  ],
  [
    'an admission plugin that there is not',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: enable-admission-plugins, value: "NodeRestriction,PodSecurityPolicy" } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[0].value',
    /PodSecurityPolicy: kube-apiserver 1\.36 has no such admission plugin/,
  ],
  [
    'a flag that a component has not',
    'kubeadm: { cluster: { scheduler: { extraArgs: [ { name: addres, value: 0.0.0.0 } ] } } }',
    'kubeadm.cluster.scheduler.extraArgs[0].name',
    /kube-scheduler 1\.36 has no flag --addres/,
  ],
  [
    'a flag that a component had',
    'kubelet: { extraArgs: [ { name: network-plugin, value: cni } ] }',
    'kubelet.extraArgs[0].name',
    /kubelet 1\.36 has no flag --network-plugin \(Kubernetes 1\.23 had it\)/,
  ],
  [
    'a value that a flag cannot have',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: profiling, value: "no" } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[0].value',
    /--profiling takes true or false, not "no"/,
  ],
  [
    'an argument of a single value twice',
    'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: profiling, value: "true" }, { name: profiling, value: "false" } ] } } }',
    'kubeadm.cluster.apiServer.extraArgs[1].name',
    /--profiling is given above already/,
  ],
  [
    'two names in one',
    'kubeadm: { cluster: { apiServer: { certSANs: [ "a,b" ] } } }',
    'kubeadm.cluster.apiServer.certSANs[0]',
    /must be one name/,
  ],
  [
    'a duration without a unit',
    'kubeadm: { init: { timeouts: { kubeletHealthCheck: 5 } } }',
    'kubeadm.init.timeouts.kubeletHealthCheck',
    /must be a duration with its unit: 5s/,
  ],
  [
    'an algorithm that kubeadm has not',
    'kubeadm: { cluster: { encryptionAlgorithm: RSA-1024 } }',
    'kubeadm.cluster.encryptionAlgorithm',
    /must be ECDSA-P256, .*, not "RSA-1024"/,
  ],
  [
    'a list of thresholds',
    'kubelet: { config: { evictionHard: [ memory.available ] } }',
    'kubelet.config.evictionHard',
    /must be a mapping \(name: value\), not a list/,
  ],
  [
    'a signal that the kubelet has not',
    'kubelet: { config: { evictionHard: { memory: 100Mi } } }',
    'kubelet.config.evictionHard.memory',
    /knows no such signal/,
  ],
  [
    'a soft threshold without its period',
    'kubelet: { config: { evictionSoft: { memory.available: 300Mi } } }',
    'kubelet.config.evictionSoft',
    /needs evictionSoftGracePeriod of memory\.available/,
  ],
  [
    'a policy that needs reserved CPU',
    'kubelet: { config: { cpuManagerPolicy: static } }',
    'kubelet.config.cpuManagerPolicy',
    /needs CPU that is reserved/,
  ],
  [
    'a behaviour of swap that there was',
    'kubelet: { config: { failSwapOn: false, memorySwap: { swapBehavior: UnlimitedSwap } } }',
    'kubelet.config.memorySwap.swapBehavior',
    /must be NoSwap, LimitedSwap/,
  ],
  [
    'cgroups that are not enforced',
    'kubelet: { config: { cgroupsPerQOS: false } }',
    'kubelet.config.cgroupsPerQOS',
    /needs enforceNodeAllocatable: \[none\]/,
  ],
  [
    'a bound of the kubelet',
    'kubelet: { config: { imageGCHighThresholdPercent: 101 } }',
    'kubelet.config.imageGCHighThresholdPercent',
    /from 0 to 100/,
  ],
  [
    'an older API of kubeadm',
    'kubeadm: { cluster: { apiVersion: kubeadm.k8s.io/v1beta3 } }',
    'kubeadm.cluster.apiVersion',
    /older API v1beta3; kbuild writes v1beta4: remove it\. Since then extraArgs are lists/,
  ],
];

/** Without line and column. */
const withoutPlace = (problem: string): string => problem.replace(/^\d+:\d+ /, '');

describe('what kubeadm, the kubelet and kube-proxy would not take', () => {
  test.each(REFUSED)('%s is refused at its line', async (_, setting, path, words) => {
    const problems = await problemsOf(`${HEAD}${setting}\n`);
    const found = problems.find((problem) => withoutPlace(problem).startsWith(`${path}: `));
    expect(found, problems.join('\n')).toMatch(words);
    expect(found).toMatch(/^6:/);
  });

  test.each([
    ['more pods than a node has addresses', 'kubelet: { config: { maxPods: 500 } }', /addresses for 253 pods/],
    [
      'the file of a service that the host may not have',
      'kubelet: { config: { resolvConf: /run/systemd/resolve/resolv.conf } }',
      /only where systemd-resolved runs/,
    ],
  ])('%s: a warning at its line', async (_, setting, words) => {
    const { warnings } = await load(`${HEAD}${setting}\n`);
    expect(warnings.map(shown)).toEqual([expect.stringMatching(words)]);
    expect(shown(warnings[0]!)).toMatch(/^6:/);
  });

  test.each([
    ['253 pods on a node', 'kubelet: { config: { maxPods: 253 } }'],
    [
      'a policy whose CPU another level reserves',
      'kubelet: { config: { kubeReserved: { cpu: 500m } } }\nroles: { worker: { kubelet: { config: { cpuManagerPolicy: static } } } }',
    ],
    [
      'a network of the user, who allocates',
      'network: { plugin: none }\nkubeadm: { init: { skipPhases: [ addon/kube-proxy ] }, cluster: { controllerManager: { extraArgs: [ { name: allocate-node-cidrs, value: "false" } ] } } }',
    ],
    [
      'arguments that may be repeated',
      'kubeadm: { cluster: { apiServer: { extraArgs: [ { name: api-audiences, value: a }, { name: api-audiences, value: b } ] } } }',
    ],
    [
      'metrics of etcd',
      'kubeadm: { cluster: { etcd: { local: { extraArgs: [ { name: listen-metrics-urls, value: "http://0.0.0.0:2381" } ] } } } }',
    ],
    ['null, which takes a field away', 'kubelet: { config: { maxPods: null } }'],
    ['a field of logging', 'kubelet: { config: { logging: { format: json, flushFrequency: 5s, verbosity: 2 } } }'],
  ])('%s: taken', async (_, setting) => {
    expect(await problemsOf(`${HEAD}${setting}\n`)).toEqual([]);
  });

  test.each(['iptables', 'nftables', 'ipvs'])(
    "kubeProxy: %s is kube-proxy's mode, also beside the same mode",
    async (word) => {
      const text = `${HEAD}network: { kubeProxy: ${word} }\n`;
      const same = `kubeadm: { kubeProxy: { mode: ${word} } }\n`;
      const written = (await load(`${HEAD}${same}`)).inventory;
      for (const one of [text, text + same]) {
        const { inventory, warnings } = await load(one);
        expect(inventory.kubeadm).toEqual(written.kubeadm);
        expect(inventory.network).toEqual(written.network);
        expect(warnings).toEqual([]);
      }
      const { inventory } = await load(`${text}kubeadm: { kubeProxy: { conntrack: { maxPerCore: 0 } } }\n`);
      expect(inventory.kubeadm.kubeProxy).toEqual({ conntrack: { maxPerCore: 0 }, mode: word });
    },
  );

  test('kubeProxy: none disables the addon, and leaves the rest of kubeadm alone', async () => {
    const text = `${HEAD}network: { plugin: none, kubeProxy: none }\n`;
    const { inventory } = await load(text);
    expect(inventory.kubeadm.cluster).toEqual({ proxy: { disabled: true } });
    expect(inventory.kubeadm.kubeProxy).toEqual({});
    const same = await load(`${text}kubeadm: { cluster: { proxy: { disabled: true } } }\n`);
    expect(same.inventory.kubeadm).toEqual(inventory.kubeadm);
  });

  test('a gate that is unknown in a patch version newer than the tables is a warning', async () => {
    const text = `${HEAD.replace('1.36.3', '1.36.99')}kubelet: { config: { featureGates: { SomeFixOfLater: true } } }\n`;
    expect((await load(text)).warnings.map(shown)).toEqual([
      expect.stringMatching(/^6:.*SomeFixOfLater: Kubernetes 1\.36 has no such feature gate/),
    ]);
  });
});
