// @module-tag linux
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

/** A folder of etcd with live and restored data. */
function folderOfEtcd() {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  const at = (path: string): string => join(folder, path);
  for (const path of ['member', 'kbuild-restore/data/member']) {
    mkdirSync(at(path), { recursive: true });
    writeFileSync(at(`${path}/db`), path === 'member' ? 'live' : 'restored');
  }
  const parameters = { ASIDE: at('none'), FOLDER: folder, WORK: at('kbuild-restore'), KEPT: at('before-restore-x') };
  const swap = () => {
    const { status } = spawnSync('/bin/sh', ['-eu', '-c', script('etcd/etcd-restore-swap.sh', parameters).script]);
    const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : 'none');
    return {
      status,
      now: read('member/db'),
      kept: read('before-restore-x/member/db'),
      work: existsSync(at('kbuild-restore')),
    };
  };
  return { at, swap };
}

describe('restored data takes the place of the live data', () => {
  const DONE = { status: 0, now: 'restored', kept: 'live', work: false };

  test('which is kept, and once more changes nothing', () => {
    const { swap } = folderOfEtcd();
    expect(swap()).toEqual(DONE);
    expect(swap()).toEqual(DONE);
  });

  test('also where it was cut off between the two renames', () => {
    const { at, swap } = folderOfEtcd();
    mkdirSync(at('before-restore-x'));
    renameSync(at('member'), at('before-restore-x/member'));
    expect(swap()).toEqual(DONE);
  });

  test('also where it was cut off after them', () => {
    const { at, swap } = folderOfEtcd();
    mkdirSync(at('before-restore-x'));
    renameSync(at('member'), at('before-restore-x/member'));
    renameSync(at('kbuild-restore/data/member'), at('member'));
    expect(swap()).toEqual(DONE);
  });

  test('and without either the script fails: etcd must not start empty', () => {
    const { at, swap } = folderOfEtcd();
    renameSync(at('member'), at('lost'));
    renameSync(at('kbuild-restore'), at('lost-too'));
    expect(swap()).toMatchObject({ status: 1, now: 'none' });
  });
});
