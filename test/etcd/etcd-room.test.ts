// @module-tag linux
/** The scripts that make room in etcd, with an etcdctl and a df that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

/** Runs a script; `etcdctl` is the body of the function that stands for it. */
function ran(command: { readonly script: string }, etcdctl: string) {
  const tools = `e() { shift; shift; ${etcdctl}; }\ndf() { printf 'Filesystem\\n/dev/vda1 100 50 40960 50%% /\\n'; }\nset -- etcdctl --flags`;
  const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', `${tools}\n${command.script}`], {
    encoding: 'utf8',
  });
  return { status, stdout: stdout.trim(), stderr: stderr.trim() };
}

describe('etcd-compact.sh', () => {
  const compact = script('etcd/etcd-compact.sh');
  const status = `[{"Endpoint":"x","Status":{"header":{"member_id":3,"revision":657,"raft_term":2},"dbSize":1}}]`;
  const etcdctl = (compaction: string): string =>
    `case "$*" in *'endpoint status') echo '${status}' ;; *) ${compaction} ;; esac`;

  test('compacts to the current revision, and prints it', () => {
    expect(
      ran(compact, etcdctl('echo "$*" >&2; [ "$*" = "--flags --command-timeout 15m compaction --physical 657" ]')),
    ).toMatchObject({
      status: 0,
      stdout: '657',
    });
  });

  test('succeeds where an earlier run has compacted to it', () => {
    const said = 'Error: etcdserver: mvcc: required revision has been compacted';
    expect(ran(compact, etcdctl(`echo '${said}' >&2; return 1`))).toMatchObject({ status: 0, stdout: '657' });
  });

  test('fails with what etcd says otherwise, or when etcd does not tell its revision', () => {
    expect(ran(compact, etcdctl('echo "context deadline exceeded" >&2; return 1'))).toMatchObject({
      status: 1,
      stderr: 'context deadline exceeded',
    });
    expect(ran(compact, ':')).toMatchObject({ status: 1, stderr: 'etcd did not report its revision' });
  });
});

describe('etcd-defragment.sh', () => {
  const defragment = (bytes: number) => script('etcd/etcd-defragment.sh', { FOLDER: '/var/lib/etcd', BYTES: bytes });

  test('defragments while the disk has room for the copy', () => {
    expect(ran(defragment(40_960 * 1024), 'echo "did $*"')).toMatchObject({
      status: 0,
      stdout: 'did --flags --command-timeout 15m defrag',
    });
  });

  test('does nothing while it has not', () => {
    expect(ran(defragment(40_960 * 1024 + 1), 'echo "did $*"')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        '/var/lib/etcd has 40 MiB free, and etcd needs 41 MiB there for a new file of its data: make room on this disk first',
    });
  });
});

test('etcd-disarm.sh fails when etcd still takes no writes', () => {
  const disarm = script('etcd/etcd-disarm.sh', { KEY: 'kbuild/x' });
  expect(ran(disarm, 'echo "$*"')).toMatchObject({
    status: 0,
    stdout: '--flags alarm disarm\n--flags put kbuild/x written\n--flags del kbuild/x',
  });
  expect(ran(disarm, 'case "$*" in *put*) return 1 ;; esac').status).toBe(1);
});
