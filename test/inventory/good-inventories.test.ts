import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkNames } from '../../src/commands/every.checks.ts';
import { containerd } from '../../src/runtime/containerd.value.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import { inventoryOf, load, problemsOf, shown } from './load.ts';

const minimal = (more = '', version = '1.36.3'): string => `name: prod
kubernetes: { version: "${version}" }
${more}
hosts:
  - { name: cp1, address: 203.0.113.11, internalAddress: 10.0.0.11, role: control-plane }
  - { name: w1, address: 203.0.113.21, internalAddress: 10.0.0.21, role: worker }
`;

const folder = new URL('../../inventories/', import.meta.url);

test.each(readdirSync(folder))('the example %s loads', async (name) => {
  const beside = {
    'etcd-client/ca.crt': '-----BEGIN CERTIFICATE-----',
    'etcd-client/client.crt': '-----BEGIN CERTIFICATE-----',
    'etcd-client/client.key': '-----BEGIN PRIVATE KEY-----',
  };
  const inventory = await inventoryOf(readFileSync(new URL(name, folder), 'utf8'), beside);
  expect(`${inventory.name}.yaml`).toBe(name);
});

test('a minimal inventory gets a default for every setting', async () => {
  const { inventory, warnings } = await load(minimal());
  expect(inventory).toMatchObject({
    name: 'prod',
    file: '/work/inventory.yaml',
    kubernetes: {
      version: '1.36.3',
      minor: '1.36',
      repository: {
        url: 'https://pkgs.k8s.io/core:/stable:/v1.36/deb',
        key: { url: 'https://pkgs.k8s.io/core:/stable:/v1.36/deb/Release.key' },
        fingerprint: 'DE15B14486CD377B9E876E1A234654DA9A296436',
      },
      imageRepository: 'registry.k8s.io',
      dnsDomain: 'cluster.local',
    },
    endpoint: '10.0.0.11:6443',
    endpointInHosts: false,
    network: { plugin: 'flannel', podSubnet: '10.244.0.0/16', serviceSubnet: '10.96.0.0/12' },
    runtime: {
      name: 'containerd',
      version: '2.3.7',
      versionFrom: 'default',
      cgroupDriver: 'systemd',
      package: 'containerd.io',
    },
    etcd: { topology: 'stacked' },
    loadBalancer: { kind: 'none' },
    proxy: undefined,
    files: [],
    manifests: [],
    firewall: 'report',
    ignoreChecks: [],
  });
  expect(inventory.hosts[0]).toEqual({
    name: 'cp1',
    os: 'linux',
    role: 'control-plane',
    groups: [],
    sysctls: {},
    installFrom: 'distribution',
    packages: [],
    trustedCas: [],
    address: '203.0.113.11',
    internalAddress: '10.0.0.11',
    ssh: {
      user: 'root',
      port: 22,
      knownHostsFiles: ['/home/user/.ssh/known_hosts', '/etc/ssh/ssh_known_hosts'],
      open: ['user', 'port', 'identityFiles', 'knownHostsFiles', 'bastions'],
    },
    kubelet: { config: {}, extraArgs: [] },
    labels: {},
    taints: undefined,
    setHostname: false,
  });
  expect(warnings.map(shown).join()).toMatch(
    /2:13 kubernetes\.endpoint: is the address of "cp1".*`kbuild move-endpoint`/,
  );
});

test.each(['10.0.0.11', '203.0.113.11'])(
  'an endpoint that is the control plane’s own address %s is a warning',
  async (own) => {
    const { warnings } = await load(`name: prod
kubernetes: { version: "1.36.3", endpoint: "${own}:6443" }
hosts:
  - { name: cp1, address: 203.0.113.11, internalAddress: 10.0.0.11, role: control-plane }
`);
    expect(warnings.map(shown)).toEqual([
      expect.stringMatching(/^2:44 kubernetes\.endpoint: is the address of "cp1".*`kbuild move-endpoint`/),
    ]);
  },
);

test('an even number of control planes and an unsupported containerd are warnings', async () => {
  const { warnings } = await load(`name: prod
kubernetes: { version: "1.36.3", endpoint: k8s.example.com }
runtime: { version: "1.7.28" }
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - { name: cp2, address: 10.0.0.12, role: control-plane }
`);
  expect(warnings.map(shown)).toEqual([
    '3:21 runtime.version: containerd supports Kubernetes 1.36 from 2.2.0, 2.3.0 on, not in 1.7.28; use 2.3.7',
    '5:3 hosts: 2 control planes may lose 0, and so may 1: one more costs a host and makes nothing safer; use an odd number',
  ]);
});

test('a file in a folder of users is a warning, one beside the files of kubeadm is none', async () => {
  const files = ['/home/app/x', '/tmp/x', '/etc/kubernetes/audit-policy.yaml', '/etc/kubernetes/pki/oidc-ca.crt'];
  const entries = files.map((path) => `{ hosts: all, path: ${path}, content: b }`);
  const { warnings } = await load(`${minimal()}\nfiles: [${entries.join(', ')}]\n`);
  const ofUsers = warnings.map(shown).filter((text) => text.includes('up refuses it if a folder on the way belongs'));
  expect(ofUsers.map((text) => /files\[\d\]/.exec(text)?.[0])).toEqual(['files[0]', 'files[1]']);
});

test('two control planes beside an etcd of its own survive the loss of one: no warning', async () => {
  const { warnings } = await load(`name: prod
kubernetes: { version: "1.36.3", endpoint: k8s.example.com }
etcd: { topology: external }
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - { name: cp2, address: 10.0.0.12, role: control-plane }
  - { name: e1, address: 10.0.0.31, role: etcd }
  - { name: e2, address: 10.0.0.32, role: etcd }
  - { name: e3, address: 10.0.0.33, role: etcd }
`);
  expect(warnings.map(shown)).toEqual([]);
});

test('an endpoint without a port is at 6443; without a name it follows the bind port', async () => {
  const named = minimal().replace('"1.36.3"', '"1.36.3", endpoint: k8s.example.com, endpointInHosts: true');
  expect(await inventoryOf(named)).toMatchObject({ endpoint: 'k8s.example.com:6443', endpointInHosts: true });
  const bound = minimal('kubeadm: { init: { localAPIEndpoint: { bindPort: 7443 } } }');
  expect((await inventoryOf(bound)).endpoint).toBe('10.0.0.11:7443');
});

test('kubelet settings, labels and taints: the host wins over its role, its role over all', async () => {
  const { hosts } = await inventoryOf(`name: prod
kubernetes: { version: "1.36.3" }
kubelet:
  config: { maxPods: 200, evictionHard: { memory.available: 1Gi, nodefs.available: 5% }, tlsCipherSuites: [a, b] }
  extraArgs: [{ name: v, value: "2" }, { name: vmodule, value: all }]
roles:
  worker:
    kubelet: { config: { maxPods: 100, tlsCipherSuites: [c] }, extraArgs: [{ name: v, value: "4" }] }
    labels: { pool: general, disk: hdd }
    taints: [{ key: a, effect: NoSchedule }]
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane, taints: [] }
  - name: w1
    address: 10.0.0.21
    role: worker
    labels: { disk: ssd }
    kubelet: { config: { maxPods: 50, evictionHard: { memory.available: null } }, extraArgs: [{ name: seccomp-default, value: "1" }] }
`);
  expect(hosts.map(({ kubelet, labels, taints }) => ({ kubelet, labels, taints }))).toEqual([
    {
      kubelet: {
        config: {
          maxPods: 200,
          evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
          tlsCipherSuites: ['a', 'b'],
        },
        extraArgs: [
          { name: 'v', value: '2' },
          { name: 'vmodule', value: 'all' },
        ],
      },
      labels: {},
      taints: [],
    },
    {
      kubelet: {
        config: { maxPods: 50, evictionHard: { 'nodefs.available': '5%' }, tlsCipherSuites: ['c'] },
        extraArgs: [
          { name: 'v', value: '4' },
          { name: 'vmodule', value: 'all' },
          { name: 'seccomp-default', value: '1' },
        ],
      },
      labels: { pool: 'general', disk: 'ssd' },
      taints: [{ key: 'a', effect: 'NoSchedule' }],
    },
  ]);
});

test('a login: the host wins, paths are absolute', async () => {
  const { hosts } = await inventoryOf(`name: prod
kubernetes: { version: "1.36.3" }
ssh: { user: admin, port: 2222, identityFile: ~/.ssh/id, knownHostsFile: known_hosts }
setHostname: true
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - { name: w1, address: 10.0.0.21, role: worker, ssh: { user: root, identityFile: /k }, setHostname: false }
`);
  expect(hosts.map(({ ssh, setHostname }) => ({ ...ssh, setHostname }))).toEqual([
    {
      user: 'admin',
      port: 2222,
      identityFiles: ['/home/user/.ssh/id'],
      knownHostsFiles: ['/work/known_hosts'],
      open: ['bastions'],
      setHostname: true,
    },
    {
      user: 'root',
      port: 2222,
      identityFiles: ['/k'],
      knownHostsFiles: ['/work/known_hosts'],
      open: ['bastions'],
      setHostname: false,
    },
  ]);
});

test('hosts behind one address are distinguished by their ports', async () => {
  expect(
    await problemsOf(`name: prod
kubernetes: { version: "1.36.3" }
hosts:
  - { name: cp1, address: 127.0.0.1, internalAddress: 10.0.0.11, role: control-plane, ssh: { port: 2201 } }
  - { name: w1, address: 127.0.0.1, internalAddress: 10.0.0.21, role: worker, ssh: { port: 2202 } }
`),
  ).toEqual([]);
});

test('noProxy includes every host and network that is reached directly', async () => {
  const { proxy } = await inventoryOf(
    minimal('proxy: { http: "http://proxy:3128", noProxy: [.example.com, cp1] }').replace(
      '"1.36.3"',
      '"1.36.3", endpoint: k8s.example.com',
    ),
  );
  expect(proxy).toEqual({
    http: 'http://proxy:3128',
    https: 'http://proxy:3128',
    noProxy: [
      'localhost',
      '127.0.0.1',
      '10.0.0.11',
      '203.0.113.11',
      'cp1',
      '10.0.0.21',
      '203.0.113.21',
      'w1',
      'k8s.example.com',
      '10.244.0.0/16',
      '10.96.0.0/12',
      '.svc',
      '.cluster.local',
      '.example.com',
    ],
  });
});

test('files go to the selected hosts, with their content and mode', async () => {
  const { files } = await inventoryOf(
    minimal(`files:
  - { hosts: control-plane, path: /etc/a, source: a.txt }
  - { hosts: ["w*", cp1], path: /etc/b, content: "b\\n", mode: "0755" }
  - { hosts: all, path: /etc/c, secret: "file:c.txt" }`),
    { 'a.txt': 'A', 'c.txt': 'hidden\n' },
  );
  expect(files).toEqual([
    { hosts: ['cp1'], path: '/etc/a', content: 'A', mode: 0o644 },
    { hosts: ['cp1', 'w1'], path: '/etc/b', content: 'b\n', mode: 0o755 },
    { hosts: ['cp1', 'w1'], path: '/etc/c', content: expect.any(Secret) as Secret, mode: 0o600 },
  ]);
  expect(revealed(files[2]!.content as Secret)).toBe('hidden\n');
});

const withPassword = (reference: string): string =>
  minimal(`runtime: { registries: [{ host: a.example.com, username: u, password: ${JSON.stringify(reference)} }] }`);

test.each(['env:PASSWORD', 'file:password.txt', 'command:pass show registry'])(
  'a secret comes from %s',
  async (reference) => {
    const { runtime } = await inventoryOf(
      withPassword(reference),
      { 'password.txt': 'hunter2\n' },
      {
        env: { PASSWORD: 'hunter2' },
        command: (command) => Promise.resolve(command === 'pass show registry' ? 'hunter2\n' : ''),
      },
    );
    expect(revealed(runtime.registries[0]!.password!)).toBe('hunter2');
    expect(JSON.stringify(runtime)).not.toContain('hunter2');
  },
);

test('a secret that cannot be read is a problem', async () => {
  expect(await problemsOf(withPassword('env:PASSWORD'))).toEqual([
    '3:71 runtime.registries[0].password: env:PASSWORD: the environment has no such variable',
  ]);
  expect((await problemsOf(withPassword('file:gone')))[0]).toMatch(/file:gone: there is no such file/);
  const fails = { command: () => Promise.reject(new Error('exit status 1')) };
  expect((await problemsOf(withPassword('command:false'), {}, fails))[0]).toMatch(/command:false: exit status 1/);
});

test('if no command may run, a secret from a command is empty, and no problem', async () => {
  const { runtime } = await inventoryOf(withPassword('command:pass'));
  expect(revealed(runtime.registries[0]!.password!)).toBe('');
});

test('an invalid inventory runs no command and fetches nothing', async () => {
  const asked: string[] = [];
  const ask = (what: string): Promise<Buffer> => {
    asked.push(what);
    return Promise.resolve(Buffer.from('x'));
  };
  const text = `${withPassword('command:pass')}manifests: ["https://example.com/a.yaml"]\nunknown: 1\n`;
  expect(
    await problemsOf(text, {}, { command: async (what) => (await ask(what)).toString(), fetch: ask }),
  ).toHaveLength(1);
  expect(asked).toEqual([]);
});

test('repositories: a mirror keeps its layout, a flat one has no suite, a key may be a file', async () => {
  const { kubernetes, runtime } = await inventoryOf(
    minimal(
      'runtime: { repository: { url: "http://mirror/docker", suite: "/", key: docker.asc, fingerprint: "aaaa aaaa aaaa aaaa aaaa  aaaa aaaa aaaa aaaa aaaa" } }',
    ).replace('"1.36.3"', '"1.37.1", repository: { url: "http://mirror/v{minor}" }'),
    { 'docker.asc': 'KEY' },
  );
  expect(kubernetes.repository).toMatchObject({
    url: 'http://mirror/v1.37',
    key: { url: 'http://mirror/v1.37/Release.key' },
  });
  expect(runtime.repository).toEqual({
    url: 'http://mirror/docker',
    key: { content: 'KEY' },
    fingerprint: 'A'.repeat(40),
    rpm: {
      ...{ url: 'https://download.docker.com/linux/{distribution}', suite: '{codename}', component: 'stable' },
      key: { url: 'https://download.docker.com/linux/{distribution}/gpg' },
      fingerprint: '060A61C51B558A7F742B77AAC52FEB6B621E9F35',
    },
  });
});

test('hosts with rpm packages have repositories of their own, with their own keys', async () => {
  const rpm = (url: string) => `repository: { rpm: { url: "${url}", fingerprint: "${'b'.repeat(40)}" } }`;
  const { kubernetes, runtime } = await inventoryOf(
    minimal(`runtime: { ${rpm('http://mirror/docker')} }`).replace(
      '"1.36.3"',
      `"1.37.1", ${rpm('http://mirror/v{minor}/rpm')}`,
    ),
  );
  expect(kubernetes.repository.url).toBe('https://pkgs.k8s.io/core:/stable:/v1.37/deb');
  expect(kubernetes.repository.rpm).toEqual({
    ...{ url: 'http://mirror/v1.37/rpm', urlOfMinor: 'http://mirror/v{minor}/rpm', fingerprint: 'B'.repeat(40) },
    key: { url: 'http://mirror/v1.37/rpm/repodata/repomd.xml.key' },
  });
  expect(runtime.repository.rpm.key).toEqual({ url: 'http://mirror/docker/gpg' });
});

test('private CAs and patches are read', async () => {
  const pem = '-----BEGIN CERTIFICATE-----\n';
  const text = minimal(`runtime: { registries: [{ host: a, ca: ca.pem }] }\nkubeadm: { patches: patches }`);
  const { runtime, kubeadm } = await inventoryOf(text, { 'ca.pem': pem, 'patches/etcd0+merge.yaml': 'spec: {}' });
  expect(runtime.registries).toEqual([{ host: 'a', mirrors: [], ca: pem }]);
  expect(kubeadm.patches).toEqual({ 'etcd0+merge.yaml': 'spec: {}' });
  expect(await problemsOf(text, { 'ca.pem': 'x', 'patches/readme.txt': '' })).toEqual([
    '3:40 runtime.registries[0].ca: ca.pem: holds no PEM certificate',
    expect.stringMatching(/^4:21 kubeadm\.patches: patches\/readme\.txt: kubeadm reads no file of this name/),
  ]);
});

test('a patch of kube-proxy’s DaemonSet is for Kubernetes 1.37 and newer', async () => {
  const text = (version: string) => minimal('kubeadm: { patches: patches }', version);
  const files = { 'patches/kubeproxydaemonset.yaml': 'a: b' };
  expect((await inventoryOf(text('1.37.1'), files)).kubeadm.patches).toHaveProperty(['kubeproxydaemonset.yaml']);
  expect(await problemsOf(text('1.36.3'), files)).toEqual([
    expect.stringContaining('kubeadm patches kubeproxydaemonset from Kubernetes 1.37 on; this is 1.36.3'),
  ]);
});

test('Calico’s operator is read like manifests, and no other manifest may have one of its objects', async () => {
  const text = minimal(
    'network: { plugin: calico, calico: { operator: [crds.yaml, operator.yaml] } }\nmanifests: [a.yaml]',
  );
  const object = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;
  const crds =
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: installations.operator.tigera.io }\n';
  const files = { 'crds.yaml': crds, 'operator.yaml': object('b'), 'a.yaml': object('c') };
  const { network } = await inventoryOf(text, files);
  expect(network.manifests.map(({ source, objects }) => [source, objects.length])).toEqual([
    ['crds.yaml', 1],
    ['operator.yaml', 1],
  ]);
  expect(await problemsOf(text, { ...files, 'a.yaml': object('b') })).toEqual([
    '4:13 manifests[0]: a.yaml: ConfigMap b is in operator.yaml already',
  ]);
  expect(await problemsOf(text, { ...files, 'crds.yaml': object('a') })).toEqual([
    expect.stringMatching(
      /^3:\d+ network\.calico\.operator: none of these holds .* installations\.operator\.tigera\.io/,
    ),
  ]);
});

test('manifests are read from files and, where that is allowed, from URLs', async () => {
  const text = minimal('manifests: [a.yaml, "https://example.com/b.yaml"]');
  const object = (name: string): Buffer =>
    Buffer.from(`apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`);
  const files = { 'a.yaml': `${object('a').toString()}---\n${object('b').toString()}` };
  const names = async (fetch?: (url: string) => Promise<Buffer>): Promise<unknown> => {
    const { manifests } = await inventoryOf(text, files, fetch === undefined ? {} : { fetch });
    return manifests.map(({ source, objects }) => [
      source,
      objects.map(({ metadata }) => (metadata as { name: string }).name),
    ]);
  };
  const url = 'https://example.com/b.yaml';
  expect(await names()).toEqual([
    ['a.yaml', ['a', 'b']],
    [url, []],
  ]);
  expect(await names(() => Promise.resolve(object('c')))).toEqual([
    ['a.yaml', ['a', 'b']],
    [url, ['c']],
  ]);
  expect(await problemsOf(text, files, { fetch: () => Promise.reject(new Error('404 Not Found')) })).toEqual([
    '3:21 manifests[1]: https://example.com/b.yaml: 404 Not Found',
  ]);
  expect(await problemsOf(text, files, { fetch: () => Promise.resolve(object('b')) })).toEqual([
    '3:21 manifests[1]: https://example.com/b.yaml: ConfigMap b is in a.yaml already',
  ]);
});

test('bytes of a manifest other than its SHA-256 are refused, of a file and of a URL', async () => {
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n';
  const sum = createHash('sha256').update(text).digest('hex');
  const other = 'f'.repeat(64);
  const withSums = (file: string, url: string): string =>
    minimal(
      `manifests:\n  - { source: a.yaml, sha256: ${file} }\n  - { source: "https://example.com/b.yaml", sha256: ${url} }`,
    );
  const fetch = () => Promise.resolve(Buffer.from(text.replace('name: a', 'name: b')));
  const urlSum = createHash('sha256')
    .update(await fetch())
    .digest('hex');
  const { manifests } = await inventoryOf(withSums(sum, urlSum), { 'a.yaml': text }, { fetch });
  expect(manifests.map(({ source, objects }) => [source, objects.length])).toEqual([
    ['a.yaml', 1],
    ['https://example.com/b.yaml', 1],
  ]);
  expect(await problemsOf(withSums(other, other), { 'a.yaml': text }, { fetch })).toEqual([
    `4:5 manifests[0]: a.yaml: has SHA-256 ${sum}, and the inventory says ${other}`,
    `5:5 manifests[1]: https://example.com/b.yaml: has SHA-256 ${urlSum}, and the inventory says ${other}`,
  ]);
  expect((await problemsOf(withSums('abc', other), { 'a.yaml': text }))[0]).toContain(
    'manifests[0].sha256: must be 64 lower-case hexadecimal digits',
  );
});

test('a manifest of more than 8 MiB is refused, of a file and of a URL', async () => {
  const large = Buffer.alloc(8 * 1024 * 1024 + 1, '#');
  const text = minimal('manifests: [a.yaml, "https://example.com/b.yaml"]');
  const fetch = (_: string, limit: number) => Promise.resolve(large.subarray(0, limit));
  expect(await problemsOf(text, { 'a.yaml': large }, { fetch })).toEqual([
    '3:13 manifests[0]: a.yaml: is larger than 8 MiB',
    '3:21 manifests[1]: https://example.com/b.yaml: is larger than 8 MiB',
  ]);
});

test('a missing inventory says how to create one', async () => {
  const { loadInventory } = await import('../../src/inventory/file/load.ts');
  await expect(loadInventory({ file: 'gone.yaml', env: {}, cwd: '/nowhere', checks: checkNames })).rejects.toThrow(
    'gone.yaml: there is no such file; "kbuild init inventory.yaml" writes one',
  );
});

test('a Windows worker gets a default for every setting; its own settings win over the inventory’s', async () => {
  const inventory = await inventoryOf(`name: mixed
kubernetes: { version: "1.36.3" }
windows: { reserved: { system: 2Gi }, downloads: { kubernetes: "https://mirror.example/{version}", sha256: { kubelet.exe: ${'a'.repeat(64)} } } }
files: [{ hosts: all, path: /etc/motd, content: hello }]
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - name: win1
    address: 10.0.0.31
    role: worker
    os: windows
    windows: { hyperv: on, containerd: { version: "2.3.1" }, downloads: { via: operator } }
`);
  expect(inventory.hosts[1]).toMatchObject({
    os: 'windows',
    role: 'worker',
    ssh: { user: 'Administrator', port: 22 },
    setHostname: false,
    windows: {
      containerd: { version: '2.3.1' },
      crictl: { version: '1.36.0' },
      pauseImage: 'registry.k8s.io/pause:3.10.2',
      serviceManager: 'native',
      hyperv: 'on',
      allowReboot: true,
      allowUnsupportedOs: false,
      reserved: { system: '2Gi', kube: '1Gi' },
      downloads: {
        via: 'operator',
        kubernetes: 'https://mirror.example/{version}',
        containerd: 'https://github.com/containerd/containerd/releases/download/v2.3.1',
        crictl: 'https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0',
        sha256: { 'kubelet.exe': 'a'.repeat(64) },
      },
    },
  });
  expect(inventory.network).toMatchObject({ flannel: { port: 4789, vni: 4096 } });
  expect(inventory.files[0]!.hosts).toEqual(['cp1']);
});

test.each([
  ['1.35.8', '2.2.9'],
  ['1.36.4', '2.3.7'],
  ['1.37.1', '2.3.7'],
])('with Kubernetes %s the runtime is by default of the newest line that it is supported with: %s', (minor, version) =>
  expect(containerd.version(minor.slice(0, 4))).toBe(version),
);

test('a version of the runtime in the file is pinned', async () => {
  const { inventory } = await load(minimal('runtime: { version: "2.2.9" }'));
  expect(inventory.runtime).toMatchObject({ version: '2.2.9', versionFrom: 'inventory' });
});
