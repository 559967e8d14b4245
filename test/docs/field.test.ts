/**
 * What real reports and files of people show, and the test that holds each: small inputs (I1 to I21), findings (F1 to F10), texts of logs,
 * reports that were handled in part, wrongly or not at all, and what else was asked for of overrides, hosts and Ubuntu. A test that is gone
 * or has another name fails here.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../', import.meta.url);

/** A file below test/, and words that stand in it: the name of a test, or the line of a table that a test goes through. */
type Held = readonly [file: string, words: string];

const INPUTS = 'inventory/kubernetes-inputs.test.ts';
const input = (words: string): Held => [INPUTS, words];
const CHECKS = 'fixtures/both-ways.ts';
const check = (words: string): Held => [CHECKS, words];
const FAILURE = 'report/failure.test.ts';
const cause = (words: string): Held => [FAILURE, words];
const FIELD = 'lab/long/field.test.ts';
const HOSTS = 'lab/long/field-hosts.test.ts';
const UBUNTU = 'lab/long/ubuntu.test.ts';
const ORACLE: Held = ['lab/kubeadm-oracle.test.ts', 'what it refuses, validate refuses; what it takes, validate takes'];

/** Each small input as it is given to validate. */
const SMALL: Readonly<Record<string, readonly Held[]>> = {
  I1: [input('apiServer: { extraArgs: { profiling: "false" } }'), [FIELD, 'L1: ']],
  I2: [input('kubelet: { config: { maxPod: 50 } }'), [FIELD, 'L2: ']],
  I3: [
    input('kubelet: { config: { resolvConf: /run/systemd/resolve/resolv.conf } }'),
    check("'resolv-conf': ["),
    [FIELD, 'L3: '],
  ],
  I4: [input('certSANs: myhost'), [FIELD, 'L4: ']],
  I5: [input('certSans: [ api.example.com ]')],
  I6: [input('apiserver: { extraArgs: [ { name: profiling')],
  I7: [input('timeoutForControlPlane: 4m0s')],
  I8: [input('name: audit-log-maxage, value: 30')],
  I9: [input('name: --profiling')],
  I10: [input('cluster: { apiServer: true }')],
  I11: [input('name: cluster-cidr, value: 10.1.0.0/16'), input('name: allocate-node-cidrs, value: "false"')],
  I12: [input('name: service-cluster-ip-range, value: 10.2.0.0/16'), input('name: secure-port, value: "8443"')],
  I13: [input('no kube-proxy for a plugin that needs it')],
  I14: [input('skipPhases: [ no-such-phase ]')],
  I15: [input('mode: ipvss'), input('mode: userspace')],
  I16: [input('udpIdleTimeout: 250ms')],
  I17: [input('maxPerCore: "0"')],
  I18: [input('maxPods: "200"')],
  I19: [input('DynamicKubeletConfig: false')],
  I20: [input('kubelet: { config: { maxPods: 500 } }')],
  I21: [input('dns: { type: CoreDNS }')],
};

const FINDINGS: Readonly<Record<string, readonly Held[]>> = {
  'F1: what is inside overrides': [
    ORACLE,
    ['kubeadm/accepted-config.test.ts', 'what kubeadm refuses is named by the setting'],
  ],
  'F2: text for a list, true for a mapping': [input('a text for a list'), input('true for a mapping')],
  'F3: resolvConf that is not there': [check("'resolv-conf': ["), [FIELD, 'L3: ']],
  "F4: nft's named sets": [
    check("'kube-proxy-nft': ["),
    [FIELD, 'L5: where sets'],
    [FIELD, 'L5: where the image dies'],
  ],
  'F5: nf_conntrack': [
    ['engine/checks.test.ts', 'a module that the kernel does not have is an error'],
    cause("'conntrack-missing'"),
  ],
  "F6: the upgrade's health Job": [
    cause("'upgrade-health-job'"),
    [HOSTS, "the upgrade's health Job that never ends is named"],
  ],
  'F7: what contradicts owned settings': [
    input('a network of pods beside the setting'),
    input('an etcd that listens elsewhere'),
    ['inventory/kubelet-patch.test.ts', 'a patch of what kbuild sets is refused'],
  ],
  'F8: removed gates and bad enums': [input('a feature gate that there was'), input('a mode that there was')],
  'F9: flannel without kube-proxy': [
    input('kube-proxy disabled for a plugin that needs it'),
    input('a phase that there is not'),
  ],
  'F10: ::1 localhost alone': [check("'local-names': ["), [HOSTS, 'hosts with ::1 localhost alone']],
};

/** The texts of logs, and the cause that is told. */
const TEXTS: Readonly<Record<string, readonly Held[]>> = {
  'json: cannot unmarshal': [cause("'kubeadm-config',\n    'json: cannot unmarshal object")],
  'Failed to generate sandbox config': [cause("'resolv-conf',\n    '\"Failed to generate sandbox config")],
  'Error running ProxyServer': [cause("'conntrack-missing',\n    '\"Error running ProxyServer\"")],
  'unknown flag: --pod-infra-container-image': [cause("'kubelet-unknown-flag', 'failed to parse kubelet flag")],
  'nftables sync failed': [cause("'nft-sets', '\"nftables sync failed\"")],
  'ERROR CreateJob': [cause("'upgrade-health-job',\n    '[ERROR CreateJob]")],
};

/** Reports of section 1 that were handled in part, wrongly, or not at all, by their number there. */
const REPORTS: Readonly<Record<string, readonly Held[]>> = {
  '4: noexec': [check("'executable-paths': ["), [HOSTS, 'a kubelet whose folder is noexec']],
  '7: uutils': [
    [UBUNTU, '26.04 (with sudo-rs and uutils) is 1 + 1'],
    ['architecture/scripts.test.ts', 'That of uutils'],
  ],
  "16: containerd's config version": [['runtime/containerd.test.ts', 'of 2.x is version 3']],
  "17: a GPU operator's edits": [
    [HOSTS, "a GPU operator's drop-in is in effect"],
    [HOSTS, "the configuration that is kbuild's own is drift"],
  ],
  '18: a flag that the version has not': [check("'kubelet-arguments': ["), [HOSTS, 'a flag in /etc/default/kubelet']],
  '20: learners that stay': [check("'etcd-learners': ["), [HOSTS, 'a member that stays a learner is named']],
  '25: fapolicyd': [check('fapolicyd: [{'), [FIELD, 'what else hosts of people bring is found by check']],
  "30: AppArmor's profile of runc": [cause("'sandbox-runc'")],
};

const ASKED: Readonly<Record<string, readonly Held[]>> = {
  'tables are read only for an override': [
    ['inventory/kubernetes-tables.test.ts', 'the tables are read for an inventory that overrides something'],
  ],
  'a newer version warns': [
    input('a gate that is unknown in a patch version newer'),
    ['inventory/kubernetes-tables.test.ts', 'a minor that is newer than the tables'],
  ],
  'the editor knows the fields': [['inventory/editor-schema.test.ts', "editors know %s of kubeadm's"]],
  'explain kubelet.config.FIELD': [
    ['report/explain-field.test.ts', 'a field of the kubelet is explained with its type'],
  ],
  'a duplicate': [input('an argument of a single value twice')],
  'an admission plugin': [input('an admission plugin that there is not')],
  'eviction, cgroups, swap': [
    input('a signal that the kubelet has not'),
    input('cgroups that are not enforced'),
    input('a behaviour of swap'),
  ],
  'an older API of kubeadm': [input('an older API of kubeadm')],
  'the second net': [
    ['kubeadm/accepted-config.test.ts', 'kubeadm of the first control plane is asked whether it accepts'],
  ],
  'validate --print': [['commands/printed-config.test.ts', 'what kubeadm and each kubelet get is printed']],
  'each supported minor has an oracle': [['lab/long/older-kubeadm.test.ts', 'each supported minor has one']],
  'what runs is observed': [
    ['kubeadm/in-effect.test.ts', 'where a flag of the host wins, nothing is restarted'],
    ['lab/long/edited-settings.test.ts', 'what runs is observed: an argument that was taken out'],
    ['lab/long/edited-settings.test.ts', 'the last line says what to change'],
  ],
  'last words once': [['session/last-words.test.ts', 'its errors of this run are shown once each']],
  Ubuntu: [
    [UBUNTU, 'up waits for cloud-init and for unattended-upgrades'],
    [UBUNTU, 'also where ufw forwards nothing by default'],
    [UBUNTU, 'needrestart, told to restart by itself, and fail2ban'],
    [UBUNTU, 'upgrade takes both hosts to the next minor'],
    [UBUNTU, 'reset takes it all back'],
  ],
  'IPVS at the own addresses': [
    ['kubeadm/clean-packet-filter.test.ts', 'virtual servers of Services and of NodePorts'],
    ['kubeadm/clean-packet-filter.test.ts', 'is told where the host has no ipvsadm'],
  ],
  'VXLAN on Windows is a limit': [['windows/selftest.test.ts', 'is a limit where its network says so']],
  "etcd's ports": [input('an etcd that listens elsewhere')],
  'cgroupfs on cgroup v2': [check("'cgroup-driver': [")],
  'a Linux node for CoreDNS': [['inventory/bad-inventories.test.ts', 'no Linux node on which CoreDNS can run']],
  'the page file of Windows': [check('no page file')],
  'an inventory that a script prints': [
    ['integration/controller.test.ts', 'sh hosts.sh | $K validate -'],
    ['integration/controller.test.ts', 'sh hosts.sh | head -c 150'],
  ],
  'teardown and expand': [
    ['integration/start-up.test.ts', 'teardown is reset'],
    ['cli/command-line-error.test.ts', "unknown('expand')"],
  ],
  "kubeadm's own suite": [[HOSTS, "kubeadm's own end-to-end suite passes"]],
  'conformance specifications': [['lab/long/conformance.test.ts', 'the specifications of the network']],
};

describe.each(Object.entries({ ...SMALL, ...FINDINGS, ...TEXTS, ...REPORTS, ...ASKED }))('%s', (_, held) => {
  test.each(held)('is held by test/%s: %s', (file, words) => {
    expect(readFileSync(new URL(file, root), 'utf8')).toContain(words);
  });
});

test('each small input and each finding has its row', () => {
  const numbers = (letter: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${letter}${String(i + 1)}`);
  expect(Object.keys(SMALL)).toEqual(numbers('I', 21));
  expect(Object.keys(FINDINGS).map((name) => name.split(':')[0])).toEqual(numbers('F', 10));
  expect(Object.keys(TEXTS)).toHaveLength(6);
});
