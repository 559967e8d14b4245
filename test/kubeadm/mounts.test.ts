// @module-tag linux
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withEtcdFolder } from '../../src/etcd/etcd.facts.ts';
import { withRuntime } from '../../src/runtime/runtimes.value.ts';
import { script, using } from '../../src/templates.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { requireProgram } from '../needs/table.ts';

const TOOLS = 'sh cat grep tr sed head readlink find rm rmdir mkdir mv sync dirname sort timeout'.split(' ');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-mounts-'));
  mkdirSync(join(folder, 'bin'));
  // Nothing but these: a kubeadm of the machine that tests run on is not to be found.
  for (const name of TOOLS) symlinkSync(requireProgram(name), join(folder, 'bin', name));
  // awk reads this table of mounts in the place of the kernel's.
  const awk = requireProgram('awk');
  writeFileSync(join(folder, 'bin', 'awk'), `#!/bin/sh\nexec ${awk} "$1" ${folder}/mountinfo\n`);
  for (const name of ['ip', 'systemctl']) writeFileSync(join(folder, 'bin', name), '#!/bin/sh\n');
  for (const name of ['awk', 'ip', 'systemctl']) chmodSync(join(folder, 'bin', name), 0o755);
  mounted();
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const mounted = (...paths: readonly string[]): void =>
  writeFileSync(
    at('mountinfo'),
    ['/', ...paths].map((path) => `36 35 98:0 / ${path} rw - ext4 /dev/root rw\n`).join(''),
  );

function fill(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(join(at(file), '..'), { recursive: true });
    writeFileSync(at(file), 'data');
  }
}

const run = ({ script }: { readonly script: string }): { readonly status: number | null; readonly stderr: string } => {
  const { status, stderr } = spawnSync('/bin/sh', ['-s'], {
    input: `set -eu\n${script}`,
    env: { PATH: at('bin') },
    encoding: 'utf8',
  });
  return { status, stderr };
};

describe('remove what a network plugin left', () => {
  const clean = (...FILES: readonly string[]) =>
    run(script('kubeadm/clean-cni.sh', { INTERFACES: [], ROUTES: [], FILES, PROGRAMS: '' }));

  test('removes files and folders', () => {
    fill('state/a', 'b');
    expect(clean(at('state'), at('b'), at('absent'))).toEqual({ status: 0, stderr: '' });
    expect(existsSync(at('state')) || existsSync(at('b'))).toBe(false);
  });

  test('removes nothing at all when there is nothing', () => expect(clean().status).toBe(0));

  test.each([
    ['a mount below', (path: string) => join(path, 'volume')],
    ['a mount of its own', (path: string) => path],
  ])('refuses a folder with %s, and removes nothing', (_, place) => {
    fill('b', 'state/volume/precious');
    mounted(place(at('state')));
    const { status, stderr } = clean(at('b'), at('state'));
    expect(status).toBe(32);
    expect(stderr).toContain(`nothing was deleted there: ${place(at('state'))}`);
    expect(existsSync(at('b')) && existsSync(at('state/volume/precious'))).toBe(true);
  });

  test('finds the mount where the folder is a link', () => {
    fill('real/volume/precious');
    symlinkSync(at('real'), at('link'));
    mounted(at('real/volume'));
    expect(clean(at('link')).status).toBe(32);
  });

  test('refuses when the table of mounts cannot be read', () => {
    fill('state/a');
    rmSync(at('mountinfo'));
    expect(clean(at('state')).status).not.toBe(0);
    expect(existsSync(at('state/a'))).toBe(true);
  });
});

test('taking back what kbuild wrote does not go through a mount', () => {
  fill('lib/kbuild/replaced/volume/precious');
  mounted(at('lib/kbuild/replaced/volume'));
  const names = ['RECORD', 'KEPT', 'RUNTIME', 'RUNTIME_CONFIG', 'RUNTIME_BACKUP', 'FSTAB_BACKUP', 'REGISTRIES'];
  const none = Object.fromEntries(names.map((name) => [name, at(`no-${name}`)]));
  const { status, stderr } = run(
    script('kubeadm/take-back-files.sh', {
      ...{ ...none, REGISTRIES_USE: 'shared' },
      ...{ BACKUPS: [], FILES: [at('lib/kbuild')] },
    }),
  );
  expect(status).toBe(32);
  expect(stderr).toContain(at('lib/kbuild/replaced/volume'));
  expect(readFileSync(at('lib/kbuild/replaced/volume/precious'), 'utf8')).toBe('data');
});

describe('taking back files of registries', () => {
  const takeBack = (use: 'whole' | 'shared', ...files: readonly string[]) => {
    const names = ['RECORD', 'KEPT', 'RUNTIME', 'RUNTIME_CONFIG', 'RUNTIME_BACKUP', 'FSTAB_BACKUP'];
    const none = Object.fromEntries(names.map((name) => [name, at(`no-${name}`)]));
    const own = { REGISTRIES: at('certs.d'), REGISTRIES_USE: use, BACKUPS: [], FILES: files.map(at) };
    return run(script('kubeadm/take-back-files.sh', { ...none, ...own }));
  };
  const [ours, beside, theirs] = [
    'certs.d/a/kbuild-ca.crt',
    'certs.d/b/kbuild-ca.crt',
    'certs.d/b/theirs.crt',
  ] as const;

  test('takes the folders along that are empty without them, and keeps those with files of others', () => {
    fill(ours, beside, theirs);
    expect(takeBack('shared', ours, beside)).toEqual({ status: 0, stderr: '' });
    expect(existsSync(at('certs.d/a'))).toBe(false);
    expect(readdirSync(at('certs.d/b'))).toEqual(['theirs.crt']);
  });

  test.each([
    ['shared', true],
    ['whole', false],
  ] as const)('a folder of use %s stays when it is empty: %s', (use, stays) => {
    fill(ours);
    expect(takeBack(use, ours).status).toBe(0);
    expect(existsSync(at('certs.d'))).toBe(stays);
  });
});

describe("a removed program's records of pods", () => {
  const remove = () =>
    run(
      script('host/packages/remove-programs.sh', {
        NAMES: ['p'],
        UNITS: [],
        STATE: [at('state')],
        PROGRAMS: at('programs'),
      }),
    );

  test('leave no empty folders', () => {
    mkdirSync(at('state/sandbox'), { recursive: true });
    expect(remove()).toEqual({ status: 0, stderr: '' });
    expect(existsSync(at('state'))).toBe(false);
  });

  test('stay where there are some', () => {
    fill('state/sandbox/pod');
    mkdirSync(at('state/empty'));
    expect(remove().status).toBe(0);
    expect(readdirSync(at('state'))).toEqual(['sandbox']);
  });
});

describe('kubeadm reset', () => {
  /** The script with the host's folders in the folder of this test. */
  const reset = () => {
    const parameters = { CLUSTER: 'c', MARKER: at('marker'), SECONDS_TO_RESET: 5 };
    const command = script('kubeadm/kubeadm-reset.sh', parameters);
    const whole = using(
      'kubeadm/marker.sh',
      withEtcdFolder(inventoryOf(), withRuntime(inventoryOf(), inventoryOf().hosts[0]!, command)),
    );
    return run({
      script: whole.script.replaceAll(/\/(?=(?:etc\/kubernetes|var\/lib\/(?:kubelet|etcd)))/g, `${folder}/`),
    });
  };
  const tool = (name: string, text: string): void => {
    writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${text}\n`);
    chmodSync(at(`bin/${name}`), 0o755);
  };
  beforeEach(() => tool('systemctl', 'exit 1'));

  test.each(['etc/kubernetes/pki', 'var/lib/etcd', 'disk/etcd'])(
    'refuses before it begins when a mount is left below %s',
    (emptied) => {
      fill('etc/kubernetes/manifests/etcd.yaml', `${emptied}/volume/precious`);
      writeFileSync(at('etc/kubernetes/manifests/etcd.yaml'), `    - --data-dir=${at('disk/etcd')}\n`);
      mounted(at(`${emptied}/volume`));
      tool('kubeadm', `rm -r ${folder}/etc ${folder}/var ${folder}/disk`);
      const { status, stderr } = reset();
      expect(status).toBe(32);
      expect(stderr).toContain(at(`${emptied}/volume`));
      expect(existsSync(at(`${emptied}/volume/precious`))).toBe(true);
      expect(existsSync(at('marker'))).toBe(false);
    },
  );

  test.each([0, 1])('names the mount that kubeadm has left below /var/lib/kubelet, when it ends with %s', (kubeadm) => {
    fill('var/lib/kubelet/pods/1/volumes/v/precious');
    mounted(at('var/lib/kubelet/pods/1/volumes/v'));
    tool('kubeadm', `exit ${String(kubeadm)}`);
    tool('umount', 'exit 32');
    const { status, stderr } = reset();
    expect(status).toBe(32);
    expect(stderr).toContain(at('var/lib/kubelet/pods/1/volumes/v'));
    expect(existsSync(at('marker'))).toBe(true);
  });

  test('unmounts children before their parents, also with blanks in their names, before kubeadm tries', () => {
    fill('var/lib/kubelet/pods/a/b c/x');
    const [parent, child] = [at('var/lib/kubelet/pods/a'), at('var/lib/kubelet/pods/a/b c')];
    mounted(parent, child.replaceAll(' ', String.raw`\040`));
    tool('umount', `echo "$2" >>${at('unmounted')}; if [ "$2" = ${parent} ]; then : >${at('mountinfo')}; fi`);
    tool('kubeadm', 'exit 0');
    expect(reset()).toEqual({ status: 0, stderr: '' });
    expect(readFileSync(at('unmounted'), 'utf8')).toBe(`${child}\n${parent}\n`);
  });

  test('without kubeadm deletes nothing while a mount cannot be taken away, and all of it once it can', () => {
    fill('var/lib/kubelet/pods/1/volumes/a b/precious', 'etc/kubernetes/pki/ca.key');
    const volume = at('var/lib/kubelet/pods/1/volumes/a b');
    mounted(volume.replaceAll(' ', String.raw`\040`));
    tool('umount', 'echo "umount: $2: target is busy." >&2; exit 32');
    const busy = reset();
    expect(busy.status).toBe(32);
    expect(busy.stderr).toContain(`umount: ${volume}: target is busy`);
    expect(existsSync(`${volume}/precious`) && existsSync(at('etc/kubernetes/pki/ca.key'))).toBe(true);
    tool('umount', `rm -r "$2"; : >${at('mountinfo')}`);
    expect(reset()).toEqual({ status: 0, stderr: '' });
    expect(existsSync(at('var/lib/kubelet/pods')) || existsSync(at('etc/kubernetes/pki/ca.key'))).toBe(false);
  });
});
