import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CommandError, ConnectError } from '../../src/errors.ts';
import { diagnosis, failuresText, severalText, signatures, unreachableText } from '../../src/report/failure.ts';
import { tarGz } from '../../src/session/end-report.ts';

// What programs really print (shortened), and the cause that it must be taken for.
const SAID: readonly (readonly [name: string, said: string])[] = [
  [
    'certificates-expired',
    'error execution phase control-plane-prepare/download-certs: Secret "kubeadm-certs" was not found in the "kube-system" Namespace. This Secret might have expired.',
  ],
  [
    'kubeadm-config',
    'json: cannot unmarshal object into Go struct field APIServer.apiServer.ControlPlaneComponent.extraArgs of type []v1beta4.Arg',
  ],
  ['kubeadm-config', 'strict decoding error: unknown field "maxPod"'],
  ['setting-without-effect', 'kubelet-settings does not hold: maxPods without effect: the kubelet runs with 110'],
  [
    'resolv-conf',
    '"Failed to generate sandbox config for pod" err="open /run/systemd/resolve/resolv.conf: no such file or directory"',
  ],
  ['kubelet-unknown-flag', 'failed to parse kubelet flag: unknown flag: --pod-infra-container-image'],
  ['component-unknown-flag', 'Error: unknown flag: --insecure-port'],
  [
    'conntrack-missing',
    '"Error running ProxyServer" err="open /proc/sys/net/netfilter/nf_conntrack_max: no such file or directory"',
  ],
  ['nft-sets', '"nftables sync failed" err="signal: segmentation fault (core dumped)"'],
  [
    'upgrade-health-job',
    '[ERROR CreateJob]: Job "upgrade-health-check-1" in the namespace "kube-system" did not complete in 15s: client rate limiter Wait returned an error: context deadline exceeded',
  ],
  [
    'sandbox-runc',
    'failed to kill container: unknown error after kill: runc did not terminate successfully: exit status 1: unable to signal init: permission denied',
  ],
  ['several-runtimes', 'found multiple CRI endpoints on the host. Please define which one do you wish to use'],
  [
    'cgroup-driver',
    'failed to run Kubelet: misconfiguration: kubelet cgroup driver: "systemd" is different from docker cgroup driver: "cgroupfs"',
  ],
  [
    'cgroup-v1',
    '[ERROR SystemVerification]: cgroups v1 support is deprecated and will be removed in a future release.',
  ],
  ['etcd-members-missing', 'etcdserver: re-configuration failed due to not enough started members'],
  [
    'etcd-orphan',
    'error execution phase check-etcd: etcd cluster is not healthy: failed to dial endpoint https://10.0.0.3:2379: dial tcp 10.0.0.3:2379: connect: connection refused',
  ],
  ['port-in-use', '[preflight] Some fatal errors occurred:\n\t[ERROR Port-6443]: Port 6443 is in use'],
  [
    'sandbox-image',
    'detected that the sandbox image "registry.k8s.io/pause:3.8" of the container runtime is inconsistent with that used by kubeadm.',
  ],
  [
    'etcd-not-removed',
    '[reset] Failed to remove etcd member: error syncing endpoints with etcd, please manually remove this etcd member using etcdctl',
  ],
  ['etcd-reset-by-hand', 'Please, manually reset etcd to prevent further issues'],
  ['cri-disabled', 'rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService'],
  ['etcd-too-many-learners', 'etcdserver: too many learner members in cluster'],
  ['etcd-learner-behind', 'etcdserver: can only promote a learner member which is in sync with leader'],
  ['clock', 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026'],
  ['swap-on', 'running with swap on is not supported, please disable swap'],
  ['mounted', 'still mounted in a folder that is to be emptied, nothing was deleted there: /var/lib/kubelet/pods/1/v'],
  ['leftovers', '[ERROR DirAvailable--var-lib-etcd]: /var/lib/etcd is not empty'],
  [
    'control-plane-slow',
    'error: error execution phase wait-control-plane: cannot obtain client without bootstrap: could not bootstrap the admin user in file admin.conf: unable to create ClusterRoleBinding: Post "https://10.77.0.40:6443/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?timeout=10s": context deadline exceeded',
  ],
  ['key-expired', 'The following signatures were invalid: EXPKEYSIG 234654DA9A296436 isv:kubernetes OBS Project'],
  ['lists-expired', 'E: Release file for http://x/dists/bookworm/InRelease is expired (invalid since 2149d 12h).'],
  ['key-missing', "The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 1"],
  ['not-signed', "E: The repository 'http://x/ Release' does not have a Release file."],
  ['hash-mismatch', "Warning: Digest verification failed for file 'kubelet-1.36.1-150500.1.1.x86_64.rpm'"],
  [
    'hash-mismatch',
    "Warning: This file was modified after it has been signed.\nSignature verification failed for file 'repomd.xml'",
  ],
  [
    'not-signed',
    "[oss|http://x/] Valid metadata not found at specified URL\nHistory:\n - [oss|http://x/] Repository type can't be determined.\nsocat any is in no repository of this host",
  ],
  ['key-missing', 'New repository or package signing key received:\n\n  Repository:       kbuild-kubernetes'],
  [
    'key-missing',
    'Transaction failed: Signature verification failed.\nOpenPGP check for package "kubelet-1.36.1-150500.1.1.x86_64" (/var/cache/libdnf5/kbuild-kubernetes-1365c02c691884e9/packages/kubelet-1.36.1-150500.1.1.x86_64.rpm) from repo "kbuild-kubernetes" has failed: The repository does not have any OpenPGP keys configured.',
  ],
  [
    'not-signed',
    'Failed to download metadata (baseurl: "http://127.0.0.1:9/x/") for repository "kbuild-kubernetes": Usable URL not found\nkubelet 1.36.1 is in no repository of this host; there is: ',
  ],
  [
    'hash-mismatch',
    ">>> Downloading successful, but checksum doesn't match. Calculated: 335222c3 Expected: 075e930a - http://x/kubelet.rpm\nFailed to download packages\n Librepo error: Cannot download kubelet.rpm: All mirrors were tried",
  ],
  ['package-gone', "File './x86_64/kubelet-1.36.1-150500.1.1.x86_64.rpm' not found on medium 'http://x/'"],
  [
    'package-locked',
    'Problem: conflicting requests\nkubelet is locked by the settings of zypper on this host (kube* in /etc/zypp/locks)',
  ],
  ['apt-lock', 'gave up after 600 s: /run/zypp.pid is held by process 7 (zypper)'],
  ['hash-mismatch', 'E: Failed to fetch http://x/kubelet.deb  Hash Sum mismatch'],
  ['package-gone', 'Err:1 http://x  404  Not Found [IP: 10.0.0.1 80]'],
  [
    'package-excluded',
    'kubelet 1.36.3 is excluded by the settings of dnf on this host (exclude= in /etc/dnf/dnf.conf or in a repository)',
  ],
  ['apt-lock', 'gave up after 600 s: /var/lib/dpkg/lock is held by process 7 (apt-get)'],
  ['dpkg-interrupted', 'dpkg: error processing package kubelet (--configure):'],
  ['image-pull', 'failed to pull image "registry.k8s.io/kube-apiserver:v1.36.3": failed to do request'],
  ['disk-full', 'dd: error writing x: No space left on device'],
  ['read-only', 'mv: cannot move: Read-only file system'],
  ['proxy', 'Get "https://x": proxyconnect tcp: dial tcp 10.0.0.9:3128: connect: connection refused'],
  [
    'token-expired',
    'error execution phase preflight: couldn\'t validate the identity of the API Server: could not find a JWS signature in the cluster-info ConfigMap for token ID "abcdef"',
  ],
  [
    'clock',
    'could not find a JWS signature in the cluster-info ConfigMap for token ID "abcdef": x509: certificate has expired or is not yet valid: current time 2026-11-21T00:00:00Z is before 2026-11-22T00:00:00Z',
  ],
  ['etcd-nospace', 'rpc error: code = ResourceExhausted desc = etcdserver: mvcc: database space exceeded'],
  ['crictl-missing', '[preflight] Some fatal errors occurred:\n\t[ERROR FileExisting-conntrack]: conntrack not found'],
  [
    'runtime-down',
    '[ERROR CRI]: container runtime is not running: output: time="x" level=fatal msg="validate service connection: rpc error: code = Unavailable desc = connection error: dial unix /run/containerd/containerd.sock: connect: no such file or directory"',
  ],
  [
    'runtime-late',
    '[ERROR CRI]: could not connect to the container runtime: failed to create new CRI runtime service: validate service connection: validate CRI v1 runtime API for endpoint "unix:///run/containerd/containerd.sock": rpc error: code = DeadlineExceeded desc = context deadline exceeded',
  ],
  [
    'cri-disabled',
    '[ERROR CRI]: container runtime is not running: output: validate CRI v1 runtime API: rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService',
  ],
  [
    'node-exists',
    'error execution phase kubelet-start: a Node with name "w1" and status "Ready" already exists in the cluster. You must delete the existing Node or change the name of this new joining Node',
  ],
  ['sandbox-runc', 'audit: type=1400 apparmor="DENIED" operation="signal" profile="runc" comm="runc"'],
  ['dependencies', 'The following packages have unmet dependencies:\n kubeadm : Depends: cri-tools (>= 1.30.0)'],
  ['foreign-ca', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
  ['name-not-in-certificate', 'x509: certificate is valid for cp1, kubernetes, not k8s.example.com'],
  ['name-unresolved', 'curl: (6) Could not resolve host: pkgs.k8s.io'],
  [
    'name-unresolved',
    'failed to pull image: dial tcp: lookup registry.k8s.io on 10.0.0.2:53: read udp 10.0.0.5:4242->10.0.0.2:53: i/o timeout',
  ],
  ['name-unresolved', 'dial tcp: lookup registry.k8s.io on 127.0.0.53:53: server misbehaving'],
  ['name-unresolved', 'Get "https://k8s.example.com:6443/api": dial tcp: lookup k8s.example.com: i/o timeout'],
  ['endpoint-refused', 'Get "https://10.0.0.100:8443/version": dial tcp 10.0.0.100:8443: connect: connection refused'],
  ['endpoint-timeout', 'Get "https://10.0.0.100:8443/version": dial tcp 10.0.0.100:8443: i/o timeout'],
  ['no-memory', 'kernel: Out of memory: Killed process 4242 (kube-apiserver) total-vm:1100000kB'],
  ['module', 'modprobe: FATAL: Module br_netfilter not found in directory /lib/modules/6.1.0-9-amd64'],
  ['selinux', 'audit: type=1400 avc:  denied  { write } for  pid=7 comm="etcd" name="etcd" dev="vda1"'],
  ['kubelet-unhealthy', '[kubelet-check] The kubelet is not healthy after 4m0.000s'],
  ['control-plane-unhealthy', 'A control plane component may have crashed or exited when started by the runtime.'],
  ['host-restarted', 'the job is not there any more: was the host restarted?'],
];

test.each(SAID)('%s', (name, said) => {
  const found = diagnosis([said]);
  // A more telling signature stands before a general one; both name the same fault where a text shows two.
  expect(found?.name).toBe(name);
  expect(found?.remedy).not.toBe('');
});

test('a pod that does not end in time is no lost packet', () => {
  const said = 'error when waiting for pod "x" in namespace "y" to terminate: context deadline exceeded';
  expect(diagnosis([said])).toBeUndefined();
});

test('what kubeadm only warns of is not the cause', () => {
  const warned =
    '\t[WARNING SystemVerification]: cgroups v1 support is deprecated and will be removed in a future release.';
  expect(diagnosis([warned])).toBeUndefined();
  expect(diagnosis([`${warned}\n[ERROR Port-6443]: Port 6443 is in use`])?.name).toBe('port-in-use');
});

test("a cause in the journal comes before a symptom in kubeadm's output", () => {
  const kubeadm =
    "The HTTP call equal to 'curl -sSL http://127.0.0.1:10248/healthz' failed with error: connection refused";
  const journal =
    'E1122 run.go:72] "command failed" err="failed to run Kubelet: running with swap on is not supported"';
  expect(diagnosis([kubeadm])?.name).toBe('kubelet-unhealthy');
  expect(diagnosis([kubeadm, 'error', journal])?.name).toBe('swap-on');
  // What the kubelet says in passing is no cause.
  expect(diagnosis([kubeadm, 'W1122 cgroup v1 support is deprecated and will be removed'])?.name).toBe(
    'kubelet-unhealthy',
  );
});

test('every cause of a Linux host has its line above', () => {
  const tried = new Set(SAID.map(([name]) => name));
  const linux = signatures.map(({ name }) => name).filter((name) => !name.startsWith('windows-'));
  expect(linux.filter((name) => !tried.has(name))).toEqual([]);
});

test('names are unique', () => {
  expect(new Set(signatures.map(({ name }) => name)).size).toBe(signatures.length);
});

test('a failure is one cause, one fix, and a few last words', () => {
  const error = new CommandError('cp1', 'kubeadm init', {
    status: 1,
    stdout: '',
    stderr: '[ERROR Port-6443]: Port 6443 is in use',
  });
  const journal = Array.from({ length: 20 }, (_, i) => `line ${String(i)}`).join('\n');
  expect(
    failuresText([{ host: 'cp1', error, lastWords: `== kubelet\n${journal}\n== etcd (container 1, ended)\n\n` }]),
  ).toBe(
    `✖ cp1: status 1: kubeadm init
[ERROR Port-6443]: Port 6443 is in use
  cause: something else listens on a port that Kubernetes needs: a leftover, or a load balancer on the same host
  → find it with: ss -ltnp
  the end of the log of kubelet:
${Array.from({ length: 8 }, (_, i) => `    line ${String(i + 12)}\n`).join('')}`,
  );
});

test('an unknown failure keeps the remedy it came with', () => {
  const error = new ConnectError('w1', 'odd', { retryable: false, remedy: 'look there' });
  expect(failuresText([{ host: 'w1', error, lastWords: '' }])).toBe('✖ w1: odd\n  → look there\n');
});

describe('failures of several hosts', () => {
  const failed = (host: string, stderr: string, lastWords = '') => ({
    host,
    error: new CommandError(host, 'install packages', { status: 100, stdout: '', stderr }),
    lastWords,
  });
  const workers = Array.from({ length: 200 }, (_, i) => `w${String(i + 1)}`);

  test('that failed alike are one, with the last words of one of them', () => {
    const text = failuresText(
      workers.map((host) => failed(host, '404  Not Found', host === 'w3' ? '== kubelet\nit ended\n' : '')),
    );
    expect(text.split('\n').slice(0, 2)).toEqual([
      '✖ w1 … w200 (200 hosts): status 100: install packages',
      '404  Not Found',
    ]);
    expect(text.match(/ {2}→ /g)).toHaveLength(1);
    expect(text).toContain('  the end of the log of kubelet on w3:\n    it ended\n');
  });

  test('that stop a run before it begins are one, with the remedy of each', () => {
    const refused = (host: string) =>
      new ConnectError(host, 'port 22: refused', { retryable: false, remedy: `start sshd on ${host}` });
    expect(severalText(workers.map(refused))).toBe('w1 … w200 (200 hosts): port 22: refused\n  → start sshd on HOST');
    expect(severalText([refused('w1')])).toBe('w1: port 22: refused\n  → start sshd on w1');
    expect(unreachableText([{ error: refused('w1') }])).toBe('! w1: port 22: refused\n  → start sshd on w1\n');
    expect(unreachableText([])).toBe('');
  });

  test('that failed each in another way are some, and the rest is counted', () => {
    const text = failuresText(workers.map((host, i) => failed(host, `cannot parse line ${String(i)}`)));
    expect(text.match(/^✖/gm)).toHaveLength(9);
    expect(text).toContain('✖ w9 … w200 (192 hosts): failed too, each in another way; the log has all of it\n');
  });
});

test('tar reads the archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-tar-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const big = 'päß\n'.repeat(5000);
  writeFileSync(
    join(folder, 'a.tar.gz'),
    tarGz(
      [
        { name: 'b/one.txt', text: big },
        { name: 'b/empty', text: '' },
      ],
      1_700_000_000_000,
    ),
  );
  execFileSync('tar', ['-xzf', 'a.tar.gz'], { cwd: folder });
  expect(readFileSync(join(folder, 'b/one.txt'), 'utf8')).toBe(big);
  expect(readFileSync(join(folder, 'b/empty'), 'utf8')).toBe('');
  expect((statSync(join(folder, 'b/one.txt')).mode & 0o777).toString(8)).toBe('600');
});
