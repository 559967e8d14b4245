/** The job of kubeadm's upgrade, with a kubeadm and a kubectl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runsKubeadm } from '../../src/configuration/runs-kubeadm.ts';
import { script } from '../../src/templates.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-upgrade-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Upgrades a control plane whose scheduler answers only after it was asked so often. */
function upgraded({ schedulerAfter, cutOff }: { readonly schedulerAfter: number; readonly cutOff: boolean }) {
  const program = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const asked = join(folder, 'asked');
  const marker = join(folder, 'marker.json');
  if (cutOff) writeFileSync(marker, '{}');
  program('kubeadm', `echo "kubeadm $*" >>${asked}`);
  const kubectl = program(
    'kubectl',
    `case "$*" in
  *' /livez '*) echo scheduler >>${asked}; [ "$(grep -c scheduler ${asked})" -gt ${String(schedulerAfter)} ] ;;
  *' /version '*) echo '"gitVersion": "v1.37.1"' ;;
esac`,
  );
  const job = script('linux/kubeadm-upgrade.sh', {
    ...{ HOW: 'node', ROLE: 'control-plane', VERSION: '1.37.1', CLUSTER: 'demo', MARKER: marker, KEPT: 3 },
    ...{ KUBECTL: kubectl, HTTP_PROXY_URL: '', HTTPS_PROXY_URL: '', NO_PROXY_LIST: '' },
  });
  const ran = spawnSync('sh', ['-eu', '-c', runsKubeadm(job).script], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
  });
  return { ...ran, asked: readFileSync(asked, 'utf8').trim().split('\n'), isMarked: existsSync(marker) };
}

describe('kubeadm’s upgrade of a control plane', () => {
  test('is verified at the ports of its components, and leaves no marker', () => {
    const { status, asked, isMarked } = upgraded({ schedulerAfter: 2, cutOff: false });
    expect(status).toBe(0);
    expect(asked).toEqual(['kubeadm upgrade node --config config.yaml', 'scheduler', 'scheduler', 'scheduler']);
    expect(isMarked).toBe(false);
  });

  test('that was cut off begins when the components run again, for kubeadm needs them', () => {
    const { status, stdout, asked } = upgraded({ schedulerAfter: 2, cutOff: true });
    expect(status).toBe(0);
    expect(stdout).toContain('waiting: controller manager and scheduler start again');
    expect(asked.indexOf('kubeadm upgrade node --config config.yaml')).toBe(3);
  });
});
