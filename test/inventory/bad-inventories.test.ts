import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InventoryError } from '../../src/errors.ts';
import { GOOD, problemsOf } from './load.ts';
import { anyCharacter } from '../tools/any-character.ts';

/** The good inventory with one of its lines changed, by its number. */
const line = (number: number, text: string): string =>
  GOOD.split('\n')
    .map((old, i) => (i + 1 === number ? text : old))
    .join('\n');
/** … with lines before its first. */
const also = (...lines: readonly string[]): string => `${lines.join('\n')}\n${GOOD}`;
/** … with Docker Engine, whose cri-dockerd has a place with checksums. */
const docker = (...lines: readonly string[]): string =>
  also(...lines, 'downloads: { criDockerd: { checksums: "{url}.sha256" } }');
/** … with a host more. */
const host = (entry: string): string => `${GOOD}  - ${entry}\n`;

/** … with these networks. */
const networks = (pods: string, services: string): string =>
  line(6, `  podSubnet: ${pods}`).replace('10.96.0.0/12', services);

const HOST = 'address: 10.0.0.99, role: worker';

/** What is wrong · the text · what the message begins with: place and path · words of its remedy. */
type Bad = readonly [string, string | Uint8Array, string, RegExp];

const FORM: readonly Bad[] = [
  [
    'a passphrase for a client that cannot ask',
    also('ssh: { client: openssh, passphrase: "env:HOME" }'),
    '1:37 ssh.passphrase:',
    /ssh-add/,
  ],
  [
    'a fingerprint for a client that knows keys',
    also(`ssh: { client: openssh, hostKey: "SHA256:${'a'.repeat(43)}" }`),
    '1:34 ssh.hostKey:',
    /whole key/,
  ],
  [
    "a folder for etcd's data that other things share: reset empties it",
    also('kubeadm: { cluster: { etcd: { local: { dataDir: /var/lib } } } }'),
    '1:49 kubeadm.cluster.etcd.local.dataDir:',
    /folder for etcd alone/,
  ],
  [
    "a folder for etcd's data that a reboot empties",
    also('kubeadm: { cluster: { etcd: { local: { dataDir: /run/etcd } } } }'),
    '1:49 kubeadm.cluster.etcd.local.dataDir:',
    /on a disk that stays/,
  ],
  [
    "etcd's folder by an argument, which kubeadm does not mount",
    also('kubeadm: { cluster: { etcd: { local: { extraArgs: [{ name: data-dir, value: /data/etcd }] } } } }'),
    '1:60 kubeadm.cluster.etcd.local.extraArgs[0].name:',
    /use kubeadm\.cluster\.etcd\.local\.dataDir/,
  ],
  ['an unknown setting', also('kubelets: {}'), '1:1 kubelets:', /did you mean "kubelet"\?/],
  ['an unknown setting far from any', also('qqqqq: 1'), '1:1 qqqqq:', /`kbuild explain` lists the settings/],
  ['an unknown setting of a host', host(`{ name: w9, ${HOST}, lable: {} }`), '15:51 hosts[2].lable:', /"labels"/],
  [
    'an unknown setting deep inside',
    also('network: { flannel: { prot: 1 } }').replace('network:\n', 'x:\n'),
    '1:23 network.flannel.prot:',
    /did you mean "port"/,
  ],
  ['a wrong type: a list', line(1, 'name: [prod]'), '1:7 name:', /must be text, not a list/],
  [
    'a wrong type: text for a mapping',
    line(5, 'network: flannel').replace(/ {2}(pod|service).*\n/g, ''),
    '5:10 network:',
    /a mapping of settings/,
  ],
  [
    'a wrong type: a mapping for a list',
    `${GOOD.slice(0, GOOD.indexOf('hosts:'))}hosts: { name: cp1 }\n`,
    '8:8 hosts:',
    /a list \(lines that begin with "- "/,
  ],
  ['text where a number is due', also('ssh: { port: "22" }'), '1:14 ssh.port:', /remove the quotes/],
  ['a number out of range', also('ssh: { port: 70000 }'), '1:14 ssh.port:', /at most 65535/],
  ['yes for true', also('setHostname: yes'), '1:14 setHostname:', /must be true or false/],
  ['a value that is missing', line(1, 'name:'), '1:1 name:', /has no value/],
  ['a setting that is missing', line(1, '# no name'), '2:1 name:', /is required: text/],
  [
    'a host without a role',
    host('{ name: w9, address: 10.0.0.99 }'),
    '15:5 hosts[2].role:',
    /required: one of control-plane, worker/,
  ],
  ['a choice misspelt', line(14, '    role: wroker'), '14:11 hosts[1].role:', /did you mean "worker"\?/],
  ['no hosts at all', `${GOOD.slice(0, GOOD.indexOf('hosts:'))}hosts: []\n`, '8:8 hosts:', /at least one entry/],
];

const QUOTES: readonly Bad[] = [
  [
    'version 1.30 without quotes',
    line(3, '  version: 1.30'),
    '3:12 kubernetes.version:',
    /three numbers, in quotes: e\.g\. "1\.36\.3"/,
  ],
  ['a host named 1e3', line(12, '  - name: 1e3'), '12:11 hosts[1].name:', /quote it: "1e3"/],
  ['a host named 0x10', line(12, '  - name: 0x10'), '12:11 hosts[1].name:', /quote it: "0x10"/],
  ['a host named true', line(12, '  - name: true'), '12:11 hosts[1].name:', /quote it: "true"/],
  [
    'a label of digits',
    host(`{ name: w9, ${HOST}, labels: { rack: 012 } }`),
    '15:67 hosts[2].labels.rack:',
    /quote it: "012"/,
  ],
  [
    'a flag of digits',
    also('kubelet: { extraArgs: [{ name: v, value: 4 }] }'),
    '1:42 kubelet.extraArgs[0].value:',
    /quote it: "4"/,
  ],
  [
    'a mode without quotes',
    also('files: [{ hosts: all, content: a, path: /etc/a, mode: 0644 }]'),
    '1:55 files[0].mode:',
    /quote it: "0644"/,
  ],
  [
    'a number that loses digits',
    also('kubelet: { config: { a: 12345678901234567890 } }'),
    '1:25 kubelet.config.a:',
    /lose digits; put it in quotes/,
  ],
  ['infinity', also('kubelet: { config: { a: .inf } }'), '1:25 kubelet.config.a:', /no number that JSON knows/],
];

const YAML: readonly Bad[] = [
  ['a tab as indentation', line(3, '\tversion: "1.36.3"'), '3:1 :', /use spaces/],
  ['a setting given twice', also('name: twice'), '2:1 name:', /given twice; keep one/],
  ['an alias', `x: &x prod\n${line(1, 'name: *x')}`, '2:7 name:', /write the value here/],
  ['an anchor', line(1, 'name: &n prod'), '1:10 name:', /remove it/],
  [
    'a bomb of aliases',
    `a: &a [x]\n${Array.from({ length: 9 }, (_, i) => `${'bcdefghij'[i]!}: &${'bcdefghij'[i]!} [${`*${'abcdefghi'[i]!},`.repeat(9)}]`).join('\n')}\n${GOOD}`,
    '2:8 b[0]:',
    /aliases/,
  ],
  ['a merge key', also('ssh: { <<: { port: 22 } }'), '1:8 ssh:', /merge keys/],
  ['an unknown tag', line(1, 'name: !secret prod'), '1:7 :', /Unresolved tag: !secret; an inventory uses no tags/],
  ['a key that is a list', also('? [a]\n: 1'), '1:3 :', /a plain name before its colon/],
  [
    '__proto__',
    also('kubelet: { config: { __proto__: { a: 1 } } }'),
    '1:22 kubelet.config:',
    /no setting can have this name/,
  ],
  ['a bracket that is not closed', also('ssh: { port: 22'), '1:6 :', /not valid YAML: this \{ is not closed/],
  ['two documents', `${GOOD}---\n${GOOD}`, '15:1 :', /one YAML document/],
  [
    'nesting 40 deep',
    also(`kubelet: { config: ${'{ a: '.repeat(40)}1${' }'.repeat(40)} }`),
    '1:175 kubelet.config.a.a.a.a.a.a:',
    /deeper than 32 levels/,
  ],
  ['nesting 5 000 deep', '['.repeat(5_000), '1:', /not valid YAML|deeper than 32 levels/],
  ['an empty file', '', ' :', /is empty; "kbuild init"/],
  ['only comments', '# nothing\n', ' :', /is empty/],
  ['text instead of settings', 'hello\n', '1:1 :', /a mapping of settings/],
  ['5 MB of noise', 'x'.repeat(5_000_000), ' :', /larger than 1 MiB/],
  ['a million lines', '\n'.repeat(1_000_000), ' :', /has 1000001 lines/],
  ['one very long line', ','.repeat(1_000_000), '1:1 :', /1000000 characters/],
  [
    'a megabyte of nonsense keys',
    Array.from({ length: 20_000 }, (_, i) => `k${i}: ${i}`).join('\n'),
    '1:1 ',
    /unknown setting|is required/,
  ],
  ['a program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]), '1:1 :', /U\+007F is not allowed/],
  ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xd8]), ' :', /not UTF-8/],
  ['UTF-16', Buffer.from(`\ufeff${GOOD}`, 'utf16le'), ' :', /UTF-16; save it as UTF-8/],
  ['a control character', line(1, 'name: "prod\u0007"'), '1:12 :', /U\+0007/],
];

const VALUES: readonly Bad[] = [
  ['version with v', line(3, '  version: v1.36.3'), '3:12 kubernetes.version:', /without "v", e\.g\. "1\.36\.3"/],
  ['version without patch', line(3, '  version: "1.36"'), '3:12 kubernetes.version:', /three numbers/],
  ['version 1.34.x', line(3, '  version: 1.34.x'), '3:12 kubernetes.version:', /three numbers/],
  ['version too old', line(3, '  version: "1.29.0"'), '3:12 kubernetes.version:', /1\.34, 1\.35, 1\.36, 1\.37/],
  ['version too new', line(3, '  version: "1.99.0"'), '3:12 kubernetes.version:', /1\.34, 1\.35, 1\.36, 1\.37/],
  ['containerd too old', also('runtime: { version: "1.5.2" }'), '1:21 runtime.version:', /no CRI v1; use 2\./],
  [
    'an endpoint that is a URL',
    line(4, '  endpoint: https://k8s:6443'),
    '4:13 kubernetes.endpoint:',
    /host:port without "https:/,
  ],
  ['an endpoint port', line(4, '  endpoint: k8s.example.com:99999'), '4:13 kubernetes.endpoint:', /host:port/],
  [
    'an endpoint port without a listener',
    line(4, '  endpoint: k8s.example.com:8443'),
    '4:13 kubernetes.endpoint:',
    /use 6443, or say "loadBalancer/,
  ],
  [
    'an endpoint in /etc/hosts that is no name',
    line(4, '  endpointInHosts: true'),
    '4:20 kubernetes.endpointInHosts:',
    /needs a name in kubernetes\.endpoint/,
  ],
  [
    'a CA hash',
    also('kubernetes: { version: "1.36.3", adopt: sha256:xyz }').replace('kubernetes:\n', 'x:\n'),
    '1:41 kubernetes.adopt:',
    /64 lower-case hexadecimal/,
  ],
  ['the name of the cluster', line(1, 'name: Prod_1'), '1:7 name:', /lower-case letters/],
  ['a name twice', line(12, '  - name: cp1'), '12:11 hosts[1].name:', /another host is named "cp1"/],
  ['an address twice', line(13, '    address: 10.0.0.11'), '13:14 hosts[1].address:', /its own address/],
  [
    'an internalAddress twice',
    line(13, '    address: 10.0.0.21\n    internalAddress: 10.0.0.11'),
    '14:22 hosts[1].internalAddress:',
    /its own internalAddress/,
  ],
  [
    'an internalAddress that is the address of another',
    line(13, '    address: 10.0.0.21\n    internalAddress: 10.0.0.11'),
    '14:22 hosts[1].internalAddress:',
    /"cp1" already/,
  ],
  [
    'an address that is a name, alone',
    line(13, '    address: w1.example.com'),
    '12:5 hosts[1].internalAddress:',
    /is required where address is no IPv4/,
  ],
  [
    'an internalAddress that no host reaches',
    line(13, '    address: 127.0.0.1'),
    '13:14 hosts[1].address:',
    /set internalAddress/,
  ],
  [
    'an internalAddress of IPv6',
    line(13, '    address: w1.example.com\n    internalAddress: "fd00::1"'),
    '14:22 hosts[1].internalAddress:',
    /must be of IPv4, as network.podSubnet is/,
  ],
  [
    'an address like 10.0.0.300',
    line(13, '    address: 10.0.0.300'),
    '13:14 hosts[1].address:',
    /IP address or a lower-case DNS name/,
  ],
  ['a host named like a role', line(12, '  - name: worker'), '12:11 hosts[1].name:', /meaning of its own/],
  ['a host named like an address', line(12, '  - name: 10.0.0.21'), '12:11 hosts[1].name:', /give the host a name/],
  ['no control plane', line(11, '    role: worker'), '9:3 hosts:', /give one host "role: control-plane"/],
  [
    'two control planes without endpoint',
    line(14, '    role: control-plane').replace(/ {2}endpoint.*\n/, ''),
    '3:3 kubernetes.endpoint:',
    /host:port of a load balancer/,
  ],
  [
    'two control planes behind the first',
    line(14, '    role: control-plane').replace('k8s.example.com', '10.0.0.11'),
    '4:13 kubernetes.endpoint:',
    /address of "cp1"/,
  ],
  [
    'two control planes behind the first, by the address of its SSH',
    line(14, '    role: control-plane')
      .replace('k8s.example.com', '203.0.113.11')
      .replace('address: 10.0.0.11', 'address: 203.0.113.11\n    internalAddress: 10.0.0.11'),
    '4:13 kubernetes.endpoint:',
    /address of "cp1"/,
  ],
  [
    'an endpoint that is a worker',
    line(4, '  endpoint: 10.0.0.21:6443'),
    '4:13 kubernetes.endpoint:',
    /is the address of "w1" \(worker\), where no API server is; name a load balancer/,
  ],
  [
    'an endpoint that is a worker, by the address of its SSH',
    line(13, '    address: 203.0.113.21\n    internalAddress: 10.0.0.21').replace('k8s.example.com', '203.0.113.21'),
    '4:13 kubernetes.endpoint:',
    /is the address of "w1" \(worker\)/,
  ],
  [
    'a Windows control plane',
    line(11, '    role: control-plane\n    os: windows'),
    '12:9 hosts[0].os:',
    /can only be a worker/,
  ],
  [
    'a mixed cluster in which CoreDNS has no Linux node',
    line(14, '    role: worker\n    os: windows').replace(
      'role: control-plane',
      'role: control-plane\n    taints: [{ key: dedicated, value: cp, effect: NoSchedule }]',
    ),
    '9:3 hosts:',
    /no Linux node on which CoreDNS can run/,
  ],
  [
    'a Windows host with a name that Windows cuts off',
    line(14, '    role: worker\n    os: windows').replace('name: w1', 'name: a-long-windows-name'),
    '12:11 hosts[1].name:',
    /at most 15 characters/,
  ],
  [
    'a path of Linux in a flag of a Windows kubelet, which takes it for one below its own folder',
    line(
      14,
      '    role: worker\n    os: windows\n    kubelet: { extraArgs: [{ name: config-dir, value: /etc/kubelet.d }] }',
    ),
    '16:14 hosts[1].kubelet:',
    /--config-dir=\/etc\/kubelet\.d is a path without a drive.*write C:\//,
  ],
  [
    'such a path that a Windows host gets from the settings of all',
    line(14, '    role: worker\n    os: windows').replace(
      'name: prod',
      'name: prod\nkubelet: { config: { tlsCertFile: /pki/a.crt } }',
    ),
    '13:5 hosts[1]',
    /tlsCertFile: \/pki\/a\.crt is a path without a drive/,
  ],
  [
    'a Windows host that is to be renamed',
    line(14, '    role: worker\n    os: windows\n    setHostname: true'),
    '16:18 hosts[1].setHostname:',
    /does not rename/,
  ],
  [
    'settings of Windows on a Linux host',
    line(14, '    role: worker\n    windows: { hyperv: on }'),
    '15:14 hosts[1].windows:',
    /only for hosts with "os: windows"/,
  ],
  [
    'a containerd for Windows whose configuration has another form',
    line(14, '    role: worker\n    os: windows\n    windows: { containerd: { version: "1.7.28" } }'),
    '16:14 hosts[1].windows:',
    /containerd 1\.7\.28 is not supported/,
  ],
  [
    'nssm without its checksum',
    line(14, '    role: worker\n    os: windows\n    windows: { serviceManager: nssm }'),
    '16:14 hosts[1].windows:',
    /needs windows\.downloads\.nssm/,
  ],
  [
    'services of flannel that nothing can run',
    line(5, 'network:\n  windows: { services: true }').replace('role: worker', 'role: worker\n    os: windows'),
    '13:5 hosts[1].windows:',
    /needs serviceManager nssm: flanneld\.exe knows nothing of the service manager/,
  ],
  [
    'services of flannel without their programs',
    `${line(5, 'network:\n  windows: { services: true }').replace('role: worker', 'role: worker\n    os: windows')}windows: { serviceManager: nssm, downloads: { nssm: "https://files.example", sha256: { nssm.exe: ${'a'.repeat(64)}, flannel.exe: ${'b'.repeat(64)} } } }\n`,
    '13:5 hosts[1].windows:',
    /windows\.downloads\.network, the folder that holds flanneld\.exe.*missing: flanneld\.exe, host-local\.exe, sdnoverlay\.exe/,
  ],
  [
    'Calico without version and operator',
    line(5, 'network:\n  plugin: calico'),
    '6:3 network.calico.version:',
    /is required, e\.g\. 3\.33\.1; or network\.calico\.operator/,
  ],
  [
    'Calico’s operator over plain HTTP',
    line(5, 'network:\n  plugin: calico\n  calico: { operator: ["http://files.example/operator.yaml"] }'),
    '7:24 network.calico.operator[0]:',
    /use https:\/\/, or a file/,
  ],
  [
    'settings of Cilium for flannel',
    line(5, 'network:\n  cilium: { wireguard: true }'),
    '6:11 network.cilium:',
    /is only for network\.plugin cilium/,
  ],
  [
    'settings of Calico for flannel',
    line(5, 'network:\n  calico: { imageRepository: registry.example.com }'),
    '6:11 network.calico:',
    /is only for network\.plugin calico/,
  ],
  [
    'services of a network that kbuild does not install',
    line(5, 'network:\n  plugin: none\n  windows: { services: true }'),
    '7:24 network.windows.services:',
    /is for network\.plugin flannel/,
  ],
  [
    'a host of role etcd beside an etcd of the user’s',
    `etcd: { topology: external, endpoints: ["https://10.0.0.41:2379"] }\n${line(14, '    role: etcd')}`,
    '1:40 etcd.endpoints:',
    /are those of your own etcd/,
  ],
  [
    'an etcd host beside stacked etcd',
    line(14, '    role: etcd'),
    '14:11 hosts[1].role:',
    /set etcd\.topology: external/,
  ],
  [
    'external etcd',
    also('etcd: { topology: external }'),
    '1:19 etcd.topology:',
    /wants hosts of role etcd, on which kbuild builds it, or endpoints/,
  ],
  [
    'an etcd of the user’s without its certificates',
    also('etcd: { topology: external, endpoints: ["https://10.0.0.41:2379"] }'),
    '1:7 etcd.ca:',
    /is required with endpoints/,
  ],
  [
    'an etcd of the user’s that is not meant',
    also('etcd: { endpoints: ["https://10.0.0.41:2379"] }'),
    '1:7 etcd.topology:',
    /must be external/,
  ],
  [
    'a network plugin that does not exist',
    also('network: { plugin: flanel }'),
    '1:20 network.plugin:',
    /must be one of flannel, calico, cilium, none; did you mean "flannel"\?/,
  ],
  [
    'a container runtime that does not exist',
    also('runtime: { name: rkt }'),
    '1:18 runtime.name:',
    /must be one of containerd, crio, docker$/,
  ],
  [
    'Docker Engine without the checksum of cri-dockerd, of which none is published',
    also('runtime: { name: docker }'),
    '1:1 downloads.sha256:',
    / Docker Engine needs cri-dockerd, .*: name the SHA-256 of https:\/\/github\.com\/Mirantis\/cri-dockerd\/releases\/download\/v0\.4\.10\/cri-dockerd-0\.4\.10\.amd64\.tgz or of \S+arm64\.tgz/,
  ],
  [
    'a cri-dockerd that does not tell its cgroup driver',
    also('runtime: { name: docker }\ndownloads: { criDockerd: { version: "0.3.24", checksums: "{url}.sha256" } }'),
    '2:37 downloads.criDockerd.version:',
    / cri-dockerd 0\.3\.24 does not tell kubelets its cgroup driver; use 0\.4\.0 or newer/,
  ],
  [
    'mirrors of a registry that Docker Engine does not reach by mirrors',
    docker('runtime: { name: docker, registries: [{ host: quay.io, mirrors: [https://m.example.com] }] }'),
    '1:39 runtime.registries[0]:',
    / Docker Engine reaches docker\.io alone by mirrors/,
  ],
  [
    'a mirror with a path for Docker Engine',
    docker('runtime: { name: docker, registries: [{ host: docker.io, mirrors: [https://m.example.com/hub] }] }'),
    '1:39 runtime.registries[0]:',
    /takes no mirror with a path/,
  ],
  [
    'a login to a registry for Docker Engine',
    docker('runtime: { name: docker, registries: [{ host: r.example.com, username: bob, password: "env:HOME" }] }'),
    '1:39 runtime.registries[0]:',
    /has no logins for all pods of a host: use imagePullSecrets/,
  ],
  [
    'a file of the operator where kbuild merges its settings',
    docker('runtime: { name: docker }\nfiles: [{ hosts: [cp1], path: /etc/docker/daemon.json, content: "{}" }]'),
    '2:31 files[0].path:',
    / kbuild merges settings into this file: put yours into runtime\.config/,
  ],
  [
    'a load balancer that does not exist',
    also('loadBalancer: { kind: haproxy }'),
    '1:23 loadBalancer.kind:',
    /must be one of none, external, keepalived, kube-vip/,
  ],
  [
    'a load balancer without its address',
    also('loadBalancer: { kind: keepalived }'),
    '1:15 loadBalancer.address:',
    /is required: a free address/,
  ],
  [
    "a virtual address that is a host's",
    also('loadBalancer: { kind: keepalived, address: 10.0.0.21 }'),
    '1:44 loadBalancer.address:',
    /is the address of "w1"/,
  ],
  [
    "a virtual address among the pods'",
    also('loadBalancer: { kind: kube-vip, address: 10.244.0.5 }'),
    '1:42 loadBalancer.address:',
    /lies in network\.podSubnet/,
  ],
  [
    "haproxy at the API servers' own port beside them",
    also('loadBalancer: { kind: keepalived, address: 10.0.0.100, port: 6443 }'),
    '1:62 loadBalancer.port:',
    /use 8443, or hosts of role load-balancer/,
  ],
  [
    'kube-vip at another port',
    also('loadBalancer: { kind: kube-vip, address: 10.0.0.100, port: 8443 }').replace(
      '  endpoint: k8s.example.com:6443\n',
      '',
    ),
    '1:60 loadBalancer.port:',
    /must be 6443/,
  ],
  [
    'a virtual address of no use',
    also('loadBalancer: { address: 10.0.0.100 }'),
    '1:26 loadBalancer.address:',
    /is of no use with kind none/,
  ],
  [
    'a balancer host without a balancer',
    line(14, '    role: load-balancer'),
    '14:11 hosts[1].role:',
    /kind: keepalived/,
  ],
  [
    'CIDRs that overlap',
    line(6, '  podSubnet: 10.96.0.0/16'),
    '6:14 network.podSubnet:',
    /overlaps serviceSubnet 10\.96\.0\.0\/12; they must be disjoint/,
  ],
  [
    'a host among the pods',
    line(6, '  podSubnet: 10.0.0.0/16'),
    '10:14 hosts[0].address:',
    /lies in network\.podSubnet 10\.0\.0\.0\/16; choose another/,
  ],
  [
    'an internalAddress among the Services',
    line(13, '    address: 10.0.0.21\n    internalAddress: 10.96.0.9'),
    '14:22 hosts[1].internalAddress:',
    /network\.serviceSubnet/,
  ],
  [
    'the endpoint among the Services',
    line(4, '  endpoint: 10.96.0.1:6443'),
    '4:13 kubernetes.endpoint:',
    /network\.serviceSubnet/,
  ],
  ['bits beyond the mask', line(6, '  podSubnet: 10.244.7.0/16'), '6:14 network.podSubnet:', /write 10\.244\.0\.0\/16/],
  ['no mask', line(6, '  podSubnet: 10.244.0.0'), '6:14 network.podSubnet:', /e\.g\. "10\.244\.0\.0\/16"/],
  ['an MTU below what IPv6 needs', line(6, '  podSubnet: 10.244.0.0/16\n  mtu: 1200'), '7:8 network.mtu:', /1280/],
  [
    'an MTU for a plugin of the user’s own',
    line(6, '  podSubnet: 10.244.0.0/16\n  mtu: 1400\n  plugin: none'),
    '7:8 network.mtu:',
    /plugin that you install/,
  ],
  [
    'pods of two families, Services of one',
    line(6, '  podSubnet: 10.244.0.0/16,fd00::/56'),
    '7:18 network.serviceSubnet:',
    /must be of IPv4 and IPv6, as podSubnet is, found IPv4: write e\.g\. "10\.96\.0\.0\/12,fd00:10:96::\/112"/,
  ],
  [
    'Services of two families in another order than pods',
    networks('10.244.0.0/16,fd00::/56', 'fd00:1::/112,10.96.0.0/12'),
    '7:18 network.serviceSubnet:',
    /found IPv6 and IPv4/,
  ],
  [
    'two networks of one family',
    line(6, '  podSubnet: 10.244.0.0/16,10.245.0.0/16'),
    '6:14 network.podSubnet:',
    /one of each family/,
  ],
  [
    'a node without an address of the second family',
    networks('10.244.0.0/16,fd00::/56', '10.96.0.0/12,fd00:1::/112'),
    '9:5 hosts[0].internalAddress:',
    /must be of IPv4 and IPv6, as network\.podSubnet is, found IPv4: write e\.g\. "10\.0\.0\.11,fd00::11"/,
  ],
  [
    'an IPv6 podSubnet that is larger than kubeadm takes',
    line(6, '  podSubnet: fd00::/40'),
    '6:14 network.podSubnet:',
    /use \/48/,
  ],
  [
    'an IPv6 podSubnet for less than a node',
    line(6, '  podSubnet: fd00::/112'),
    '6:14 network.podSubnet:',
    /node-cidr-mask-size-ipv6/,
  ],
  [
    'an IPv6 serviceSubnet that an API server does not take',
    networks('fd00::/56', 'fd00:1::/64'),
    '7:18 network.serviceSubnet:',
    /use \/108 to \/124/,
  ],
  [
    'IPv6 written in another way than programs show it',
    line(6, '  podSubnet: fd00:0::/56'),
    '6:14 network.podSubnet:',
    /written as programs show it: fd00::\/56/,
  ],
  [
    'an IPv6 endpoint without brackets',
    line(4, '  endpoint: fd00::100:6443'),
    '4:13 kubernetes.endpoint:',
    /IPv6 in brackets/,
  ],
  [
    'a link-local address',
    networks('fd00::/56', 'fd00:1::/112').replace(
      '    address: 10.0.0.21',
      '    address: 10.0.0.21\n    internalAddress: fe80::1',
    ),
    '14:22 hosts[1].internalAddress:',
    /other hosts cannot reach fe80::1/,
  ],
  ['pods of one node only', line(6, '  podSubnet: 10.244.0.0/24'), '6:14 network.podSubnet:', /room for 1 node of/],
  [
    'pods of less than a node',
    line(6, '  podSubnet: 10.244.0.0/26'),
    '6:14 network.podSubnet:',
    /smaller than one node's \/24/,
  ],
  [
    'too many pods',
    line(6, '  podSubnet: 64.0.0.0/7').replace(/10\.0/g, '192.168'),
    '6:14 network.podSubnet:',
    /use \/8/,
  ],
  ['too many Services', line(7, '  serviceSubnet: 16.0.0.0/8'), '7:18 network.serviceSubnet:', /use \/12 to \/28/],
  ['too few Services', line(7, '  serviceSubnet: 10.96.0.0/29'), '7:18 network.serviceSubnet:', /use \/12 to \/28/],
  ['a proxy without one', also('proxy: { noProxy: [a] }'), '1:8 proxy.http:', /is required: the URL/],
  ['a proxy that is no URL', also('proxy: { http: "proxy:3128" }'), '1:16 proxy.http:', /begins with http/],
  [
    'a proxy with a password',
    also('proxy: { http: "http://me:pw@proxy:3128" }'),
    '1:16 proxy.http:',
    /holds no password/,
  ],
  [
    'noProxy with commas',
    also('proxy: { http: "http://p:1", noProxy: ["a,b"] }'),
    '1:40 proxy.noProxy[0]:',
    /without blanks and commas/,
  ],
  [
    'a password in plain text',
    also('runtime: { registries: [{ host: a, username: u, password: hunter2 }] }'),
    '1:59 runtime.registries[0].password:',
    /env:NAME, file:PATH or command:COMMAND/,
  ],
  [
    'half a login',
    also('runtime: { registries: [{ host: a, username: u }] }'),
    '1:25 runtime.registries[0].password:',
    /username and password/,
  ],
  [
    'a registry twice',
    also('runtime: { registries: [{ host: a }, { host: a }] }'),
    '1:46 runtime.registries[1].host:',
    /join the two/,
  ],
  [
    'a fingerprint',
    also('runtime: { repository: { fingerprint: ABC } }'),
    '1:39 runtime.repository.fingerprint:',
    /40 hexadecimal digits/,
  ],
  [
    'a file without content',
    also('files: [{ hosts: all, path: /etc/a }]'),
    '1:9 files[0]:',
    /one of source, content, secret/,
  ],
  [
    'a file with two contents',
    also('files: [{ hosts: all, path: /etc/a, source: a, content: b }]'),
    '1:9 files[0]:',
    /only one content/,
  ],
  [
    'a file that is not there',
    also('files: [{ hosts: all, path: /etc/a, source: gone.txt }]'),
    '1:45 files[0].source:',
    /gone\.txt: there is no such file/,
  ],
  [
    'a file without hosts',
    also('files: [{ hosts: wroker, path: /etc/a, content: b }]'),
    '1:18 files[0].hosts:',
    /did you mean "worker"\?/,
  ],
  [
    'a file whose list names no host',
    also('files: [{ hosts: [all, x*], path: /etc/a, content: b }]'),
    '1:24 files[0].hosts[1]:',
    /no host is meant by "x\*"/,
  ],
  [
    'a file for a number',
    also('files: [{ hosts: 5, path: /etc/a, content: b }]'),
    '1:18 files[0].hosts:',
    /text or a list of texts/,
  ],
  [
    'a file written twice',
    also('files: [{ hosts: all, path: /a, content: b }, { hosts: w1, path: /a, content: c }]'),
    '1:66 files[1].path:',
    /files\[0\] writes it on the same host/,
  ],
  [
    'a file of kbuild’s',
    also('files: [{ hosts: all, path: /etc/containerd/config.toml, content: b }]'),
    '1:29 files[0].path:',
    /kbuild writes this file itself/,
  ],
  ...['/etc/apt/apt.conf.d/95kbuild-proxy', '/etc/apt/keyrings/kbuild-kubernetes.asc', '/etc/default/kubelet'].map(
    (path): [string, string, string, RegExp] => [
      `a file of kbuild’s: ${path}`,
      also(`files: [{ hosts: all, path: ${path}, content: b }]`),
      '1:29 files[0].path:',
      /kbuild writes this file itself/,
    ],
  ),
  ...[
    '/var/lib/kbuild/files',
    '/var/lib/kbuild/replaced/etc/a',
    '/run/kbuild/lock',
    '/etc/kubernetes/patches/a.yaml',
  ].map((path): [string, string, string, RegExp] => [
    `a file of kbuild’s state: ${path}`,
    also(`files: [{ hosts: all, path: ${path}, content: b }]`),
    '1:29 files[0].path:',
    /kbuild writes this file itself/,
  ]),
  ...[
    '/etc/kubernetes/pki/ca.key',
    '/etc/kubernetes/pki/etcd/peer.crt',
    '/etc/kubernetes/pki/sa.pub',
    '/etc/kubernetes/super-admin.conf',
    '/etc/kubernetes/manifests/kube-apiserver.yaml',
    '/var/lib/kubelet/config.yaml',
    '/var/lib/kubelet/pki/kubelet.crt',
    '/var/lib/etcd/member/snap/db',
  ].map((path): [string, string, string, RegExp] => [
    `a file of Kubernetes’: ${path}`,
    also(`files: [{ hosts: all, path: ${path}, content: b }]`),
    '1:29 files[0].path:',
    /belongs to kubeadm, the kubelet or etcd, which write it themselves: name another path/,
  ]),
  ['a relative path', also('files: [{ hosts: all, path: etc/a, content: b }]'), '1:29 files[0].path:', /absolute path/],
  [
    'a path upwards',
    also('files: [{ hosts: all, path: /etc/../../root, content: b }]'),
    '1:29 files[0].path:',
    /without "\.\."/,
  ],
  [
    'a mode of letters',
    also('files: [{ hosts: all, path: /etc/a, content: b, mode: rw }]'),
    '1:55 files[0].mode:',
    /four octal digits/,
  ],
  [
    'a manifest that is not there',
    also('manifests: [gone.yaml]'),
    '1:13 manifests[0]:',
    /gone\.yaml: there is no such file/,
  ],
  [
    'a manifest without TLS',
    also('manifests: ["http://example.com/a.yaml"]'),
    '1:13 manifests[0]:',
    /use https:\/\/, or a file/,
  ],
  [
    'patches that are not there',
    also('kubeadm: { patches: gone }'),
    '1:21 kubeadm.patches:',
    /gone: there is no such file/,
  ],
  [
    'a label with a blank',
    host(`{ name: w9, ${HOST}, labels: { "a b": c } }`),
    '15:61 hosts[2].labels["a b"]:',
    /\[prefix\/\]name/,
  ],
  [
    'a label value with a slash',
    host(`{ name: w9, ${HOST}, labels: { a: b/c } }`),
    '15:64 hosts[2].labels.a:',
    /at most 63 letters/,
  ],
  [
    'labels of a host that is no node',
    also('etcd: { topology: external }') + '  - { name: e1, address: 10.0.0.41, role: etcd, labels: { disk: nvme } }\n',
    '16:57 hosts[2].labels:',
    /a host of role etcd is none: remove them/,
  ],
  [
    'taints of a host that is no node',
    host('{ name: lb1, address: 10.0.0.41, role: load-balancer, taints: [] }'),
    '15:67 hosts[2].taints:',
    /a host of role load-balancer is none: remove them/,
  ],
  [
    'a label of Kubernetes’s own',
    host(`{ name: w9, ${HOST}, labels: { kubernetes.io/os: linux } }`),
    '15:79 hosts[2].labels["kubernetes.io/os"]:',
    /remove it/,
  ],
  [
    'a taint’s effect',
    host(`{ name: w9, ${HOST}, taints: [{ key: a, effect: NoScheduling }] }`),
    '15:78 hosts[2].taints[0].effect:',
    /did you mean "NoSchedule"/,
  ],
  [
    'a flag with dashes',
    also('kubelet: { extraArgs: [{ name: --v, value: "4" }] }'),
    '1:32 kubelet.extraArgs[0].name:',
    /without leading dashes/,
  ],
  ['all checks ignored', also('ignoreChecks: [all]'), '1:16 ignoreChecks[0]:', /no way to ignore all/],
  ['a check misspelt', also('ignoreChecks: [swap, disk-synch]'), '1:22 ignoreChecks[1]:', /did you mean "disk-sync"/],
  [
    'a check that there is not',
    also('ignoreChecks: [weather]'),
    '1:16 ignoreChecks[0]:',
    /`kbuild explain check` lists/,
  ],
  [
    'all of kubeadm’s checks ignored',
    also('kubeadm: { init: { nodeRegistration: { ignorePreflightErrors: [ALL] } } }'),
    '1:63 kubeadm.init.nodeRegistration.ignorePreflightErrors:',
    /name the checks/,
  ],
];

const OWNED: readonly Bad[] = [
  [
    'the cluster’s name',
    also('kubeadm: { cluster: { clusterName: x } }'),
    '1:36 kubeadm.cluster.clusterName:',
    /use name/,
  ],
  [
    'the version',
    also('kubeadm: { cluster: { kubernetesVersion: v1.36.3 } }'),
    '1:42 kubeadm.cluster.kubernetesVersion:',
    /use kubernetes\.version/,
  ],
  [
    'the endpoint',
    also('kubeadm: { cluster: { controlPlaneEndpoint: a } }'),
    '1:45 kubeadm.cluster.controlPlaneEndpoint:',
    /use kubernetes\.endpoint/,
  ],
  [
    'a subnet',
    also('kubeadm: { cluster: { networking: { podSubnet: a } } }'),
    '1:48 kubeadm.cluster.networking.podSubnet:',
    /use network\.podSubnet/,
  ],
  [
    'the registry',
    also('kubeadm: { cluster: { imageRepository: a } }'),
    '1:40 kubeadm.cluster.imageRepository:',
    /use kubernetes\.imageRepository/,
  ],
  [
    'the apiVersion',
    also('kubeadm: { join: { apiVersion: kubeadm.k8s.io/v1beta3 } }'),
    '1:32 kubeadm.join.apiVersion:',
    /remove it/,
  ],
  [
    'the node’s name',
    also('kubeadm: { init: { nodeRegistration: { name: x } } }'),
    '1:46 kubeadm.init.nodeRegistration.name:',
    /use hosts\[\]\.name/,
  ],
  [
    'the socket',
    also('kubeadm: { join: { nodeRegistration: { criSocket: x } } }'),
    '1:51 kubeadm.join.nodeRegistration.criSocket:',
    /runtime\.name/,
  ],
  [
    'the advertised address',
    also('kubeadm: { init: { localAPIEndpoint: { advertiseAddress: x } } }'),
    '1:58 kubeadm.init.localAPIEndpoint.advertiseAddress:',
    /use internalAddress/,
  ],
  [
    'a bind port that is none',
    also('kubeadm: { init: { localAPIEndpoint: { bindPort: x } } }'),
    '1:50 kubeadm.init.localAPIEndpoint.bindPort:',
    /1 to 65535/,
  ],
  ['tokens', also('kubeadm: { init: { bootstrapTokens: [] } }'), '1:37 kubeadm.init.bootstrapTokens:', /mints a token/],
  ['discovery', also('kubeadm: { join: { discovery: {} } }'), '1:31 kubeadm.join.discovery:', /mints a token/],
  [
    'the cgroup driver',
    also('kubelet: { config: { cgroupDriver: cgroupfs } }'),
    '1:36 kubelet.config.cgroupDriver:',
    /use runtime\.cgroupDriver/,
  ],
  [
    'the cgroup driver of a role',
    also('roles: { worker: { kubelet: { config: { cgroupDriver: cgroupfs } } } }'),
    '1:55 roles.worker.kubelet.config.cgroupDriver:',
    /use runtime\.cgroupDriver/,
  ],
  [
    '--node-ip of a host',
    host(`{ name: w9, ${HOST}, kubelet: { extraArgs: [{ name: node-ip, value: a }] } }`),
    '15:82 hosts[2].kubelet.extraArgs[0].name:',
    /use internalAddress/,
  ],
];

const NASTY = [
  ';rm -rf /',
  '$(id)',
  '`id`',
  '-oProxyCommand=x',
  'a\\nb',
  'a b',
  "a'b",
  '../../etc',
  'ü',
  'Upper',
  'under_score',
  'dot.',
  'x'.repeat(300),
];
const INJECTED: readonly Bad[] = NASTY.flatMap((word): readonly Bad[] => [
  [`name: ${word.slice(0, 20)}`, line(1, `name: "${word}"`), '1:7 name:', /must be/],
  [`host name: ${word.slice(0, 20)}`, line(12, `  - name: "${word}"`), '12:11 hosts[1].name:', /must be/],
  [`address: ${word.slice(0, 20)}`, line(13, `    address: "${word}"`), '13:14 hosts[1].address:', /must be/],
]);
const SHELL = [';id', '$(id)', '`id`', 'a b', "'"];
const SETTINGS: readonly (readonly [string, (word: string) => string])[] = [
  ['kubernetes.version', (word) => line(3, `  version: "${word}"`)],
  ['kubernetes.endpoint', (word) => line(4, `  endpoint: "${word}"`)],
  ['network.podSubnet', (word) => line(6, `  podSubnet: "${word}"`)],
  ['network.serviceSubnet', (word) => line(7, `  serviceSubnet: "${word}"`)],
  ['runtime.version', (word) => also(`runtime: { version: "${word}" }`)],
  ['runtime.package', (word) => also(`runtime: { package: "${word}" }`)],
  ['runtime.repository.url', (word) => also(`runtime: { repository: { url: "http://${word}" } }`)],
  ['runtime.repository.suite', (word) => also(`runtime: { repository: { suite: "${word}" } }`)],
  ['runtime.repository.component', (word) => also(`runtime: { repository: { component: "${word}" } }`)],
  ['runtime.registries[0].host', (word) => also(`runtime: { registries: [{ host: "${word}" }] }`)],
  [
    'runtime.registries[0].mirrors[0]',
    (word) => also(`runtime: { registries: [{ host: a, mirrors: ["http://${word}"] }] }`),
  ],
  ['proxy.https', (word) => also(`proxy: { https: "http://${word}" }`)],
  ['proxy.noProxy[0]', (word) => also(`proxy: { http: "http://p", noProxy: ["${word}"] }`)],
  ['ssh.user', (word) => also(`ssh: { user: "${word}" }`)],
  ['ignoreChecks[0]', (word) => also(`ignoreChecks: ["${word}"]`)],
  ['kubelet.extraArgs[0].name', (word) => also(`kubelet: { extraArgs: [{ name: "${word}", value: a }] }`)],
  ['hosts[1].labels.a', (word) => line(14, `    role: worker\n    labels: { a: "${word}" }`)],
];
const METACHARACTERS: readonly Bad[] = SETTINGS.flatMap(([path, text]) =>
  SHELL.map((word): Bad => [`${path}: ${word}`, text(word), `${path}:`, /./]),
);

test('a valid inventory loads, also with a byte order mark and Windows line ends', async () => {
  expect(await problemsOf(GOOD)).toEqual([]);
  expect(await problemsOf(`\ufeff${GOOD.replaceAll('\n', '\r\n')}`)).toEqual([]);
});

for (const [title, bad] of Object.entries({ FORM, QUOTES, YAML, VALUES, OWNED, INJECTED }))
  test.each(bad)(`${title.toLowerCase()}: %s`, async (_, text, start, remedy) => {
    const started = process.cpuUsage();
    const problems = await problemsOf(text);
    const { user, system } = process.cpuUsage(started);
    // Microseconds of CPU time: the limit finds what grows with the square of the input, on slow and busy machines too.
    expect(user + system).toBeLessThan(5_000_000);
    const found = problems.find((problem) => problem.startsWith(start));
    expect(found, `among:\n${problems.join('\n')}`).toBeDefined();
    expect(found).toMatch(remedy);
  });

test.each(METACHARACTERS)('no shell metacharacters in %s', async (_, text, path) => {
  expect((await problemsOf(text)).some((problem) => problem.includes(` ${path}`))).toBe(true);
});

test('all mistakes are reported at once, in the order of their places', async () => {
  const problems = await problemsOf(`name: Prod
kubernetes: { version: 1.36, endpont: x }
network: { podSubnet: 10.96.0.0/16 }
kubelet: { config: { cgroupDriver: systemd } }
files: [{ hosts: all, path: /etc/a, source: gone }]
hosts:
  - { name: cp1, address: 10.0.0.1, role: contrl-plane }
  - { name: w1, address: 10.0.0.2, role: worker }
  - { name: w1, address: 10.0.0.3, role: worker, x: 1 }
`);
  expect(problems.map((problem) => problem.split(': ')[0])).toEqual([
    '1:7 name',
    '2:24 kubernetes.version',
    '2:30 kubernetes.endpont',
    '3:23 network.podSubnet',
    '4:36 kubelet.config.cgroupDriver',
    '5:45 files[0].source',
    '7:43 hosts[0].role',
    '9:13 hosts[2].name',
    '9:50 hosts[2].x',
  ]);
});

test('a password in plain text is never shown', async () => {
  for (const password of ['hunter2', '1234567', 'true', '[hunter2]'])
    expect(
      (await problemsOf(also(`runtime: { registries: [{ host: a, password: ${password} }] }`))).join(),
    ).not.toMatch(/hunter2|1234567/);
});

test('random text gives an InventoryError or an inventory, and no other error', { timeout: 60_000 }, async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...GOOD.split(/(\s+|:)/),
      '\n',
      '  ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      '&a',
      '*a',
      '!x',
      '|',
      '>',
      '"',
      "'",
      '#',
      '? ',
      ': ',
      '<<',
      '~',
      '---',
    ),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
    fc
      .tuple(fc.nat(GOOD.length), fc.nat(20), fc.string({ unit: 'grapheme', maxLength: 6 }))
      .map(([at, length, inserted]) => GOOD.slice(0, at) + inserted + GOOD.slice(at + length)),
  );
  await fc.assert(
    fc.asyncProperty(text, async (noise) => {
      for (const problem of await problemsOf(noise)) expect(problem).not.toBe('');
    }),
    { numRuns: 300 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      await problemsOf(bytes);
    }),
    { numRuns: 100 },
  );
});

test('an InventoryError has exit code 2', () => {
  expect(new InventoryError([]).exitCode).toBe(2);
});
