// @module-tag bash
// @module-tag ssh
/** Problems of the machine that runs kbuild: no home folder, a full disk, few file descriptors, closed pipes. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { buildSync } from 'esbuild';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { readRecord } from '../../src/report/record/read.ts';
import { recordsIn } from '../../src/report/record/record-files.ts';
import { CTRL_C, onTerminal, type OnTerminal } from '../lab/pseudo-terminal.ts';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-controller-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

/** Hosts at a port of this machine where no process listens. */
function inventoryOf(hosts: number): string {
  const lines = Array.from({ length: hosts }, (_, i) => {
    const own = `${String(Math.floor(i / 200))}.${String((i % 200) + 1)}`;
    const role = i === 0 ? 'control-plane' : 'worker';
    return `  - { name: h${String(i)}, address: 127.1.${own}, internalAddress: 10.9.${own}, role: ${role}, ssh: { port: 1 } }`;
  });
  const file = at(`${String(hosts)}.yaml`);
  const head =
    'name: c\nnetwork: { podSubnet: 10.128.0.0/12 }\nkubernetes: { version: "1.36.3" }\nssh: { user: root, identityFile: id, knownHostsFile: known }\n';
  writeFileSync(file, `${head}hosts:\n${lines.join('\n')}\n`);
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('id')]);
  return file;
}
/** A shell's command line with kbuild in `$K` and an inventory in `$I`. */
const shell = (line: string, inventory: string, env: Readonly<Record<string, string>> = {}) =>
  spawnSync('bash', ['--norc', '-o', 'pipefail', '-c', line], {
    encoding: 'utf8',
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      XDG_STATE_HOME: at('state'),
      K: `${process.execPath} ${program}`,
      I: inventory,
      ...env,
    },
  });

test('no HOME, TERM=dumb: a host that refuses is said so, on plain lines', () => {
  const ran = shell('$K facts $I --log-file log', inventoryOf(1), { TERM: 'dumb' });
  expect(ran.stderr).toContain('h0: 127.1.0.1:1: connection refused');
  expect(ran.stderr).not.toContain('\u001b');
  expect(ran.stderr).not.toContain('bug');
  expect(ran.status).toBe(3);
  expect(statSync(at('log')).mode & 0o777).toBe(0o600);
});

describe('an inventory that a program writes', () => {
  /** A script that prints hosts as JSON, as `terraform output -json` does; `count`: how many. */
  function generator(count: string): string {
    const file = at('hosts.sh');
    writeFileSync(
      file,
      `cat <<END
{"name": "c", "kubernetes": {"version": "1.36.3"}, "network": {"podSubnet": "10.128.0.0/12"},
 "ssh": {"user": "root", "identityFile": "id", "knownHostsFile": "known", "passphrase": "command:sh ./secret.sh"},
 "hosts": [$(for n in ${count}; do echo "\${comma}{\\"name\\": \\"h$n\\", \\"address\\": \\"127.1.0.$n\\", \\"internalAddress\\": \\"10.9.0.$n\\", \\"role\\": \\"\${role-control-plane}\\", \\"ssh\\": {\\"port\\": 1}}"; comma=, role=worker; done)]}
END
`,
    );
    writeFileSync(at('secret.sh'), 'echo asked >>asked\necho no-canary-here\n');
    return inventoryOf(1);
  }

  test('is read from standard input; its files are relative to the folder, its commands run where they are needed', () => {
    const unused = generator('1 2 3');
    const validated = shell('sh hosts.sh | $K validate - && ls asked', unused);
    expect(validated.stdout + validated.stderr).toMatch(/valid[\s\S]*3 hosts|3 hosts[\s\S]*valid/);
    expect(validated.stderr).toMatch(/asked.*No such file/);
    const facts = shell('sh hosts.sh | $K facts - --log-file log; cat asked', unused);
    expect(facts.stderr).toContain('h3: 127.1.0.3:1: connection refused');
    expect(facts.stdout).toMatch(/^asked$/m);
    expect(facts.stdout + facts.stderr).not.toContain('canary');
  });

  test('is refused whole where the program failed, or wrote half of it', () => {
    const unused = generator('1');
    const nothing = shell('false | $K validate -', unused);
    expect(nothing.stdout).toMatch(/is empty/);
    expect(nothing.status).not.toBe(0);
    const half = shell('sh hosts.sh | head -c 150 | $K validate -', unused);
    expect(half.stdout).toMatch(/^-:\d+/m);
    expect(half.status).not.toBe(0);
  });
});

test.each(['upgrade', 'reboot', 'certs rotate-ca', 'etcd snapshot save', 'windows selftest'])(
  '%s does not say that there is no cluster where the control plane is not reached',
  (command) => {
    const ran = shell(`$K ${command} -i $I`, inventoryOf(1));
    expect(ran.stderr).toContain('h0: 127.1.0.1:1: connection refused');
    expect(ran.stderr).not.toMatch(/there is no cluster|kbuild up/);
    expect(ran.status, ran.stderr).toBe(3);
  },
);

test('a secret that gets into a message is in no output: neither the documents, nor the lines, nor the log', () => {
  const inventory = inventoryOf(1);
  const text = readFileSync(inventory, 'utf8');
  writeFileSync(inventory, text.replace('identityFile: id', 'identityFile: no-canary-here, passphrase: env:CANARY'));
  const ran = shell('$K facts $I --log-file log', inventory, { CANARY: 'no-canary-here' });
  const { unreachable } = JSON.parse(ran.stdout) as { readonly unreachable: Readonly<Record<string, string>> };
  expect(unreachable['h0']).toMatch(/cannot read the SSH key .*\(secret\)/);
  expect(ran.stdout + ran.stderr + readFileSync(at('log'), 'utf8')).not.toContain('canary');
  expect(ran.status).toBe(3);
  shell('$K check $I --junit junit.xml --log-file log', inventory, { CANARY: 'no-canary-here' });
  const found = readFileSync(at('junit.xml'), 'utf8');
  expect(found).toContain('cannot read the SSH key');
  expect(found).not.toContain('canary');
});

test.each(['/dev/null/folder/log', '/proc/folder/below/log'])(
  'a log that cannot be opened (%s): said before any host is contacted',
  (path) => {
    const ran = shell(`$K facts $I --log-file ${path}`, inventoryOf(1));
    expect(ran.stderr).toMatch(
      /kbuild: .+, the log of the run, cannot be written: .*\n {2}→ name another place with --log-file PATH/,
    );
    expect(ran.stderr).not.toContain('connecting');
    expect(ran.status).toBe(2);
  },
);

test(
  'a folder that nothing can be written to: the log goes elsewhere, or that is what is said',
  { tags: ['linux', 'root'] },
  () => {
    const inventory = inventoryOf(1);
    const readOnly = 'mkdir -p ro && mount --bind ro ro && mount -o remount,ro,bind ro && cd ro';
    const inside = (command: string) => shell(`unshare -m bash -c '${readOnly} && ${command}'`, inventory);
    const elsewhere = inside('XDG_STATE_HOME=$PWD/../state $K facts $I');
    expect(elsewhere.stderr).toContain('h0: 127.1.0.1:1: connection refused');
    expect(elsewhere.status).toBe(3);
    const nowhere = inside('XDG_STATE_HOME=$PWD $K facts $I');
    expect(nowhere.stderr).toMatch(
      /, the log of the run, cannot be written: the disk is read-only\n {2}→ name another place with --log-file PATH/,
    );
    expect(nowhere.status).toBe(2);
  },
);

test.each(['$K schema', '$K explain', '$K validate $I --json', '$K facts $I --json', '$K init -'])(
  '%s into a full disk is exit 2, and never 0',
  { tags: ['linux'] },
  (command) => {
    const ran = shell(`${command} > /dev/full`, inventoryOf(1));
    expect(ran.stderr).toMatch(/^kbuild: standard output cannot be written: the disk is full\n {2}→ make room/m);
    expect(ran.status).toBe(2);
  },
);

test('a full disk under the log ends the log, once, and not the run', { tags: ['linux'] }, () => {
  const ran = shell('$K facts $I --log-file /dev/full', inventoryOf(2));
  expect(ran.stderr.match(/the log \/dev\/full ends here: ENOSPC/g)).toHaveLength(1);
  expect(ran.stderr).toContain('h1: 127.1.0.2:1: connection refused');
  expect(ran.status).toBe(3);
});

test('a full disk under the record ends the record, once, and not the run', { tags: ['linux', 'root'] }, () => {
  const full = 'mkdir -p full && mount -t tmpfs -o size=8k none full && head -c 8192 /dev/zero >full/filled';
  const ran = shell(
    `unshare -m bash -c '${full} && XDG_STATE_HOME=$PWD/full $K facts $I --log-file log'`,
    inventoryOf(2),
  );
  expect(
    ran.stderr.match(/^(?:the record .* ends here|this run leaves no record|no trace .*): ENOSPC.*$/gm),
  ).toHaveLength(1);
  expect(ran.stderr).toContain('h1: 127.1.0.2:1: connection refused');
  expect(ran.status).toBe(3);
});

test('a folder of records that is read-only costs the record alone', { tags: ['linux', 'root'] }, () => {
  const readOnly = 'mkdir -p ro && mount --bind ro ro && mount -o remount,ro,bind ro';
  const ran = shell(
    `unshare -m bash -c '${readOnly} && XDG_STATE_HOME=$PWD/ro $K facts $I --log-file log'`,
    inventoryOf(1),
  );
  expect(ran.stderr.match(/record|trace/g)).toEqual(['record']);
  expect(ran.stderr).toContain('this run leaves no record: EROFS');
  expect(ran.status).toBe(3);
});

test('a run that is killed leaves a record that is read to its last line', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.1.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const inventory = inventoryOf(1);
  writeFileSync(inventory, readFileSync(inventory, 'utf8').replace('port: 1 ', `port: ${String(port)} `));
  const state = at('killed');
  const child = spawn(process.execPath, [program, 'facts', inventory, '--log-file', 'log'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], XDG_STATE_HOME: state },
    stdio: 'ignore',
  });
  const record = (): string => {
    const [one] = recordsIn(join(state, 'kbuild/c/runs'));
    return one === undefined ? '' : readFileSync(one.path, 'utf8');
  };
  await vi.waitFor(() => expect(record()).toContain('"connecting"'), { timeout: 30_000, interval: 20 });
  child.kill('SIGKILL');
  await once(child, 'close');
  silent.close();
  const { head, lines, isWhole } = readRecord(record(), 'it');
  expect({ command: head.command, pid: head.process.pid, isWhole }).toEqual({
    command: 'facts',
    pid: child.pid,
    isWhole: false,
  });
  expect(lines.map(({ kind }) => kind)).toEqual(['connecting']);
});

test('fewer files than 500 hosts need: said before any host is contacted', () => {
  const ran = shell('ulimit -n 256; $K facts $I --log-file log', inventoryOf(500));
  expect(ran.stderr).toContain('this process may have 256 files open, and 500 hosts need 560; no host was contacted');
  expect(ran.stderr).toContain('→ ulimit -n 560');
  expect(ran.status).toBe(2);
});

test('a reader that leaves ends nothing: the exit code is that of the run', () => {
  const one = inventoryOf(1);
  expect(shell('$K schema | head -c 1 >/dev/null', one).status).toBe(0);
  // Who opens the pipe and leaves is gone long before anything is written.
  for (const asked of ['--help', '--version', 'up --help', 'schema', 'nonsense']) {
    const ran = shell(`rm -f left; mkfifo left; true <left & exec $K ${asked} >left 2>&1`, one);
    expect(ran.status, asked).toBe(asked === 'nonsense' ? 2 : 0);
  }
  expect(shell('$K facts $I --log-file log 2>&1 | head -c 1 >/dev/null', one).status).toBe(3);
  expect(shell('$K facts $I --log-file log --json | true', one).status).toBe(3);
});

test('twenty kbuilds record host keys at once: no line is lost, none doubled, none torn', async () => {
  const file = at('shared_known_hosts');
  writeFileSync(file, 'other ssh-ed25519 AAAA');
  const source = fileURLToPath(new URL('../../src/ssh/known-hosts.ts', import.meta.url));
  buildSync({ entryPoints: [source], outfile: at('record.mjs'), bundle: true, platform: 'node', format: 'esm' });
  const record = `
    const { recordHostKey } = await import(${JSON.stringify(at('record.mjs'))});
    const type = Buffer.from('ssh-ed25519');
    for (let i = 0; i < 10; i++) {
      const key = Buffer.concat([Buffer.from([0, 0, 0, type.length]), type, Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, i)]);
      recordHostKey(${JSON.stringify(file)}, 'h' + i, 22, key);
    }`;
  const run = promisify(execFile);
  await Promise.all(Array.from({ length: 20 }, () => run(process.execPath, ['--input-type=module', '-e', record])));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(11);
  expect(lines.map((line) => line.split(' ')[0]).toSorted()).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `h${String(i)}`),
    'other',
  ]);
});

test('hosts, phases and checks that there are not are exit 2 before any host is contacted, for every command', () => {
  const inventory = inventoryOf(2);
  const ended = (line: string): string => {
    const { status, stdout, stderr } = shell(`$K ${line} $I`, inventory);
    return `${String(status)} ${stdout}${stderr}`;
  };
  for (const command of ['up', 'plan', 'check', 'facts', 'reset'])
    expect(ended(`${command} --hosts h0,g1`), command).toMatch(
      /^2 warning: .*\nkbuild: --hosts: "g1" matches no host or group of the inventory; nothing was done, and no host was contacted\n {2}→ did you mean "h[01]"\?\n$/,
    );
  for (const command of ['up', 'plan', 'check', 'facts', 'reset'])
    expect(ended(`${command} --hosts ""`), command).toMatch(/^2 .*the list is empty/);
  for (const command of ['up', 'plan'])
    expect(ended(`${command} --phase prepair`), command).toMatch(/^2 .*\n.*"prepair" matches no phase.*\n.*"prepare"/);
  expect(ended('check --ignore-check swop')).toMatch(/^2 .*\n.*there is no check "swop"; did you mean "swap"/);
});

test(
  'Ctrl-C, Ctrl-D and an input that ends at a question: 130 and one line, no trace',
  { tags: ['linux', 'script'] },
  async () => {
    const init = (): OnTerminal => onTerminal([process.execPath, program, 'init'], { HOME: folder });
    for (const keys of [CTRL_C, '\u0004']) {
      const asked = init();
      await asked.shows(': ', 25_000);
      asked.type(keys);
      expect(await asked.ended, asked.shown()).toBe(130);
      expect(stripVTControlCharacters(asked.shown())).toMatch(/\nkbuild: interrupted[^\n]*\r?\n$/);
    }
  },
);

test('the deadline of a run counts from its start, and ends one that waits for a host that says nothing', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const inventory = inventoryOf(1);
  const { port } = silent.address() as AddressInfo;
  const text = readFileSync(inventory, 'utf8')
    .replace('127.1.0.1', '127.0.0.1')
    .replace('port: 1 ', `port: ${String(port)} `);
  writeFileSync(inventory, text);
  const from = performance.now();
  const args = [program, 'up', inventory, '--yes', '--timeout', '2s', '--log-file', at('late.log')];
  const ran = await promisify(execFile)(process.execPath, args).catch(
    (error: unknown) => error as { readonly code: number; readonly stderr: string },
  );
  silent.close();
  expect(ran).toMatchObject({ code: 5 });
  expect(ran.stderr).toContain('kbuild: the run did not end within 2 s (--timeout)');
  expect(ran.stderr).toContain('run the same command again to go on from here');
  expect(ran.stderr).not.toMatch(/EBADF|connection was closed|bug/);
  expect(performance.now() - from).toBeLessThan(20_000);
});

test('in GitHub Actions: annotations at the line of the host, a summary, and no workflow command of a host', () => {
  const inventory = inventoryOf(1);
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: folder, GITHUB_STEP_SUMMARY: at('summary.md') };
  writeFileSync(at('summary.md'), 'before\n');
  const ran = shell('$K check $I --code-quality quality.json --log-file log', inventory, env);
  expect(ran.stderr).toMatch(/^::error file=1\.yaml,line=6,col=5,title=reachable%3A h0::.*connection refused.*$/m);
  expect(ran.status).toBe(3);
  const summary = readFileSync(at('summary.md'), 'utf8');
  expect(summary).toMatch(/^before\n### kbuild check: c\n\n\*\*0 hosts: 1 finding, 1 of which stop up\*\*\n/);
  expect(summary).toContain('h0: ');
  const quality = JSON.parse(readFileSync(at('quality.json'), 'utf8')) as readonly object[];
  expect(quality).toMatchObject([{ check_name: 'reachable', location: { path: '1.yaml', lines: { begin: 6 } } }]);
  writeFileSync(
    inventory,
    readFileSync(inventory, 'utf8').replace('role: control-plane', 'role: "::set-output name=a::b"'),
  );
  const invalid = shell('$K check $I --log-file log', inventory, env);
  expect(invalid.stderr).toMatch(/^::error file=1\.yaml,line=6,col=\d+,title=inventory::hosts\[0\]\.role/m);
  expect(invalid.stderr).not.toMatch(/^::set-output/m);
  expect(invalid.status).toBe(2);
});

test('elsewhere there is no annotation and no summary', () => {
  const ran = shell('$K validate $I', inventoryOf(1), { GITHUB_STEP_SUMMARY: at('none.md') });
  expect(ran.stderr).not.toContain('::');
  expect(() => statSync(at('none.md'))).toThrow('ENOENT');
});

test('a report that cannot be written, and options that do not go together, are exit 2 with the remedy', () => {
  const ran = shell('$K validate $I --code-quality /dev/null/x', inventoryOf(1));
  expect(ran.stderr).toContain('kbuild: /dev/null/x cannot be written');
  expect(ran.status).toBe(2);
  for (const flags of [
    '--every 5s',
    '--graph dot',
    '--graph mermaid --json',
    '--watch --every 0s',
    '--watch --graph mermaid',
  ])
    expect(shell(`$K status $I ${flags} --log-file log`, inventoryOf(1)).status, flags).toBe(2);
});

test('status --watch: goes on while no host answers, says nothing twice, and Ctrl-C ends it with 130', () => {
  // However slow the machine is: it is interrupted two rounds after it has printed something.
  const watched = (flags: string) =>
    shell(
      `rm -f shown; $K status $I --watch --every 1s ${flags} --log-file log >shown & watch=$!
       while kill -0 $watch && ! [ -s shown ]; do sleep 0.1; done
       sleep 3; kill -INT $watch; wait $watch; echo status $? >>shown; cat shown`,
      inventoryOf(1),
    );
  const ran = watched('');
  expect(ran.stdout.match(/not healthy/g)).toHaveLength(1);
  expect(ran.stdout).not.toMatch(/^\d\d:\d\d:\d\d/m);
  expect(ran.stdout).toMatch(/^status 130$/m);
  expect(ran.stderr).not.toContain('bug');
  const json = watched('--json').stdout.replace(/^status 130$/m, '');
  const [document, ...more] = json.trimEnd().split('\n');
  expect(JSON.parse(document!)).toMatchObject({ schemaVersion: 1, healthy: false, changes: [] });
  expect(more).toEqual([]);
});
