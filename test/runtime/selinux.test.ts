// @module-tag linux
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { describe, expect, onTestFinished, test } from 'vitest';
import { kubeVipPod } from '../../src/balancer/kube-vip.step.ts';
import { settingsOf } from '../../src/kubeadm/settings.ts';
import { networkManifests } from '../../src/network/plugins.step.ts';
import { containerd } from '../../src/runtime/containerd.step.ts';
import { containerd as value } from '../../src/runtime/containerd.value.ts';
import { crio } from '../../src/runtime/crio.value.ts';
import { docker } from '../../src/runtime/docker.value.ts';
import { runtimeSteps } from '../../src/runtime/runtimes.step.ts';
import { inventory } from '../fakes/inventory.ts';
import { target } from '../fakes/target.ts';
import { inventoryOf } from '../inventory/load.ts';

const confined = inventory({ runtime: { selinux: true } });
const ROCKY = { id: 'rocky', idLike: ['rhel'], versionId: '9.6', codename: '', prettyName: 'Rocky Linux 9.6' };
const SPC = { seLinuxOptions: { type: 'spc_t' } };

describe('runtime.selinux', () => {
  test.each([
    ['2.2.9', 'io.containerd.cri.v1.runtime'],
    ['1.7.28', 'io.containerd.grpc.v1.cri'],
  ])('has containerd %s label containers', (version, plugin) => {
    const settings = parse(value.configuration(inventory({ runtime: { version, selinux: true } })));
    expect(settings).toMatchObject({ plugins: { [plugin]: { enable_selinux: true } } });
    const { plugins } = parse(value.configuration(inventory({ runtime: { version } }))) as never as {
      readonly plugins: Readonly<Record<string, object>>;
    };
    expect(plugins[plugin]).not.toHaveProperty('enable_selinux');
  });

  test('has CRI-O and Docker Engine label containers', () => {
    const onCrio = inventory({ runtime: { name: 'crio', package: 'cri-o', version: '1.36.0', selinux: true } });
    expect(parse(crio.configuration(onCrio))).toMatchObject({ crio: { runtime: { selinux: true } } });
    expect(docker.shared!.settings(confined, {})).toMatchObject({ 'selinux-enabled': true });
  });

  test('must be in the effective configuration', () => {
    const proved = containerd.find(({ name }) => name === 'runtime-proved')!;
    const found = {
      cgroupDriver: 'systemd',
      sandboxImage: 'registry.k8s.io/pause:3.10.2',
      criDisabled: false,
    } as const;
    const due = (labels: boolean) =>
      proved.diff(target({ runtimeConfig: { ...found, labels, handlers: [] } }, { inventory: confined }));
    expect(due(true)).toEqual([]);
    expect(due(false)).toEqual([{ summary: 'have containerd label containers for SELinux (found that switched off)' }]);
  });

  test('installs the policy of containers first, where the system has its package', () => {
    const [first] = runtimeSteps(confined);
    const summaries = (facts: object, about = confined) =>
      first!.diff(target(facts, { inventory: about })).map(({ summary }) => summary);
    expect(summaries({ osRelease: ROCKY })).toEqual(['install container-selinux (found none)']);
    expect(summaries({ osRelease: ROCKY }, inventory())).toEqual([]);
    expect(summaries({})).toEqual([]);
  });

  test("leaves kubeadm's static pods unconfined by patches, which reach a live cluster as those of the inventory do", async () => {
    const text = (runtime: string): string => `name: prod
kubernetes: { version: "1.36.3" }
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane, runtime: ${runtime} }
  - { name: w1, address: 10.0.0.21, role: worker }
`;
    const about = await inventoryOf(text('{ selinux: true }'));
    const { patches } = about.kubeadm;
    expect(Object.keys(patches)).toEqual([
      'etcdzz-kbuild+merge.json',
      'kube-apiserverzz-kbuild+merge.json',
      'kube-controller-managerzz-kbuild+merge.json',
      'kube-schedulerzz-kbuild+merge.json',
    ]);
    for (const patch of Object.values(patches)) expect(JSON.parse(patch)).toEqual({ spec: { securityContext: SPC } });
    expect(Object.keys(settingsOf(about).patches)).toEqual(Object.keys(patches));
    expect((await inventoryOf(text('{}'))).kubeadm.patches).toEqual({});
  });

  test('leaves kube-vip and the network plugin of kbuild unconfined, and changes neither otherwise', () => {
    const balancer = { kind: 'kube-vip', address: '10.0.0.9', port: 6443, image: 'kube-vip' } as const;
    expect(kubeVipPod(balancer, 'eth0', 'admin.conf', true)).toContain('type: "spc_t"');
    expect(kubeVipPod(balancer, 'eth0', 'admin.conf')).not.toContain('spc_t');
    const text = (about: typeof confined): string => JSON.stringify(networkManifests(about));
    expect(text(confined)).toContain(JSON.stringify({ securityContext: SPC }).slice(1, -1));
    expect(text(inventory())).not.toContain('spc_t');
  });
});

describe('denials of SELinux in reports', () => {
  const file = fileURLToPath(new URL('../../templates/session/avc-denials.sh', import.meta.url));
  const now = Math.floor(Date.now() / 1000);
  const denial = (at: number, what: string): string =>
    `type=AVC msg=audit(${String(at)}.123:45): avc:  denied  { read } for  pid=1 comm="${what}"`;

  /** `log` undefined: the host has no auditd, and `journal` is what its journal has. */
  function printed(log: readonly string[] | undefined, lines: number, hasSelinux = true, journal = ''): string {
    const folder = mkdtempSync(join(tmpdir(), 'kbuild-avc-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'selinux'));
    if (hasSelinux) writeFileSync(join(folder, 'selinux', 'enforce'), '1');
    if (log !== undefined) writeFileSync(join(folder, 'audit.log'), log.map((line) => `${line}\n`).join(''));
    writeFileSync(join(folder, 'journal'), journal);
    writeFileSync(join(folder, 'journalctl'), `#!/bin/sh\ncat ${join(folder, 'journal')}\n`, { mode: 0o755 });
    const text = readFileSync(file, 'utf8')
      .replaceAll('/sys/fs/selinux', join(folder, 'selinux'))
      .replaceAll('/var/log/audit', folder);
    return execFileSync('/bin/sh', ['-s'], {
      input: `set -eu\nAGE=60\n${text}\navc_denials ${String(lines)}\n`,
      env: { PATH: `${folder}:${process.env['PATH']!}` },
    }).toString();
  }

  test('are those since the run began, and the newest of them', () => {
    const log = [
      denial(now - 3600, 'old'),
      denial(now - 30, 'etcd'),
      `type=SYSCALL msg=audit(${String(now)}.1:46): arch=c000003e`,
      denial(now - 10, 'kubelet'),
    ];
    expect(printed(log, 20)).toBe(`${log[1]!}\n${log[3]!}\n`);
    expect(printed(log, 1)).toBe(`${log[3]!}\n`);
  });

  // Lines of Debian 12's journal in the lab's virtual machine.
  test('are printed once without auditd, though journald has each as a record and as a message of the kernel', () => {
    const words = (pid: number): string =>
      `avc:  denied  { append } for  pid=${String(pid)} comm="useradd" path="/run/x" dev="tmpfs" ino=501 tclass=file permissive=0`;
    const journal = [
      `AVC ${words(1753)}`,
      `audit: type=1400 audit(1795679773.992:19): ${words(1753)}`,
      'useradd[1753]: new user: name=chrony',
      `audit: type=1400 audit(1795679776.416:21): ${words(1764)}`,
      `AVC ${words(1764)}`,
    ];
    const text = journal.map((line) => `${line}\n`).join('');
    expect(printed(undefined, 20, true, text)).toBe(`${journal[0]!}\n${journal[3]!}\n`);
    expect(printed(undefined, 1, true, text)).toBe(`${journal[3]!}\n`);
  });

  test('are none on a host without SELinux, and no failure of the report where there is none', () => {
    expect(printed([denial(now, 'etcd')], 20, false)).toBe('');
    expect(printed([], 20)).toBe('');
  });
});
