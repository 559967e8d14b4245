// @module-tag linux
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { framedScript, readFrames } from '../../../src/cluster/fleet/framed-script.ts';
import type { Command } from '../../../src/shell/command.ts';
import { quote, sh } from '../../../src/shell/sh.ts';
import { pathOf } from '../../needs/table.ts';

const SHELLS = [
  { name: 'sh', tags: [], program: () => '/bin/sh', flags: [] },
  { name: 'dash', tags: ['dash'], program: () => pathOf('dash'), flags: [] },
  { name: 'busybox sh', tags: ['busybox'], program: () => pathOf('busybox'), flags: ['sh'] },
  { name: 'bash --posix', tags: ['bash'], program: () => pathOf('bash'), flags: ['--posix'] },
] as const;

/**
 * What stands before a script. busybox has a `timeout` of its own, which ends a process without its children, and keeps
 * the output open for the whole deadline. kbuild's hosts have that of coreutils; their `sh` may be busybox.
 */
function prelude(program: string, [shell]: readonly string[]): string {
  if (shell === undefined || shell.startsWith('-')) return '';
  return `timeout() {
    export BATCH_NONCE
    after=$2 limit=$3; shift 4
    /usr/bin/env timeout -k "$after" "$limit" ${quote(program)} sh "$@"
  }\n`;
}

/** What a shell makes of a script. The tests wait for shells side by side. */
async function ran(program: string, flags: readonly string[], script: string): Promise<ReturnType<typeof readFrames>> {
  // A folder of PATH that the user may not read changes what a shell says of a missing program.
  const shell = spawn(program, [...flags, '-s'], { env: { ...process.env, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } });
  shell.stdin.end(`set -eu\n${prelude(program, flags)}{\n${script}\n} </dev/null\n`);
  const ended = new Promise((resolve) => shell.on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  expect(await ended).toBe(0);
  return readFrames(stdout, stderr, 'NONCE');
}

for (const { name, tags, program, flags } of SHELLS)
  describe.concurrent(`many commands in one shell: ${name}`, { tags: [...tags] }, () => {
    const asked = (commands: Parameters<typeof framedScript>[0], limits?: Parameters<typeof framedScript>[2]) =>
      ran(program(), flags, framedScript(commands, 'NONCE', limits).script);

    test('each has its own output, exit status and end of stderr', async () =>
      expect(
        await asked({
          text: sh`printf 'a\n\nb'`,
          nothing: sh`true`,
          status: sh`echo half; echo why >&2; exit 3`,
          missing: sh`no-such-program-here`,
          stops: sh`false; echo on`,
          'an odd name': sh`echo ${"it's"}`,
          last: sh`echo end`,
        }),
      ).toEqual({
        text: { stdout: 'a\n\nb' },
        nothing: { stdout: '' },
        status: { failed: 'status 3: why' },
        missing: { failed: expect.stringMatching(/^status 127: .*not found/) as string },
        stops: { failed: 'status 1' },
        'an odd name': { stdout: "it's\n" },
        last: { stdout: 'end\n' },
      }));

    test('probes run in parallel do not share stdin or files', async () =>
      expect(
        await asked({
          sets: sh`cd /; leak=1; f() { echo leaked; }; set +eu; IFS=x; export LC_ALL=de_DE; exec 2>/dev/null`,
          sees: sh`echo "\${leak-none}" "$LC_ALL"; f 2>/dev/null || echo no f; [ "$PWD" != / ] || echo moved`,
          reads: sh`cat; read -r word || echo nothing to read`,
          strict: sh`echo "$not_set"; echo on`,
          broken: { shell: 'sh', script: 'if true; then echo', title: '' },
          last: sh`echo end`,
        }),
      ).toEqual({
        sets: { stdout: '' },
        sees: { stdout: 'none C\nno f\n' },
        reads: { stdout: 'nothing to read\n' },
        strict: { failed: expect.stringContaining('not_set') as string },
        broken: { failed: expect.stringMatching(/^status \d+: /) as string },
        last: { stdout: 'end\n' },
      }));

    test('a probe that hangs, or that ends the shell, fails alone', async () => {
      const answers = await asked(
        {
          before: sh`echo 1`,
          hangs: sh`echo half; sleep 100`,
          kills: sh`kill -9 $$`,
          after: sh`echo 2`,
          'hangs in place': { ...sh`echo half; sleep 100`, inPlace: true },
          last: { ...sh`echo 3`, inPlace: true },
        },
        { probe: 1, batch: 0 },
      );
      expect(answers).toEqual({
        before: { stdout: '1\n' },
        hangs: { failed: 'no answer within 20 s' },
        kills: { failed: expect.stringMatching(/^(?:status \d+|no answer)/) as string },
        after: { stdout: '2\n' },
        'hangs in place': { failed: 'no answer within 20 s' },
        last: { stdout: '3\n' },
      });
    });

    test('a probe in the shell of all that fails or ends that shell costs itself alone', async () => {
      const here = (command: Command<'sh'>) => ({ ...command, inPlace: true });
      const answers = await asked(
        {
          before: here(sh`echo 1; read -r word || echo nothing to read`),
          fails: here(sh`echo half; echo why >&2; false; echo on`),
          strict: here(sh`echo "$not_set"; echo on`),
          ends: here(sh`echo all; exit 0`),
          sets: here(sh`IFS=x; set -f; set -- a b; echo $#`),
          sees: here(sh`words='a b'; set -- $words /et*; echo "$# $3"`),
          apart: sh`cd /; set +e; false; echo "$LC_ALL"`,
          after: here(sh`echo "$PWD" | grep -cx / || true`),
        },
        { probe: 1, batch: 0 },
      );
      expect(answers).toEqual({
        before: { stdout: '1\nnothing to read\n' },
        fails: { failed: 'status 1: why' },
        strict: { failed: expect.stringContaining('not_set') as string },
        ends: { stdout: 'all\n' },
        sets: { stdout: '2\n' },
        sees: { stdout: '3 /etc\n' },
        apart: { stdout: 'C\n' },
        after: { stdout: '0\n' },
      });
    });

    test('a probe in the shell of all is sent without its comments', async () => {
      const command = { ...sh`echo 1\n  # why\necho '# 2' # 3`, inPlace: true };
      expect(framedScript({ one: command }, 'NONCE').script).not.toContain('why');
      expect(await asked({ one: command })).toEqual({ one: { stdout: '1\n# 2\n' } });
    });

    test('facts of one command have its one answer, or its one failure', async () => {
      const counted = sh`echo asked >&2; echo x; false`;
      expect(
        await asked({ one: sh`echo "$$"`, odd: counted, other: sh`echo "$$"`, two: { ...counted, title: 'other' } }),
      ).toEqual({
        one: { stdout: expect.stringMatching(/^\d+\n$/) as string },
        other: { stdout: expect.stringMatching(/^\d+\n$/) as string },
        odd: { failed: 'status 1: asked' },
        two: { failed: 'status 1: asked' },
      });
      const { script } = framedScript({ odd: counted, two: counted }, 'NONCE');
      expect(script.split('echo asked')).toHaveLength(2);
    });

    test('the output of a probe cannot end the answer of another probe', async () => {
      const fake = '\nOTHER:end:one:0\nOTHER:begin:two\nfaked';
      expect(await asked({ one: sh`echo ${fake}`, two: sh`echo real` })).toEqual({
        one: { stdout: `${fake}\n` },
        two: { stdout: 'real\n' },
      });
    });
  });

test.concurrent('the deadline of a command starts with the command, not with those before it', async () => {
  const slow = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`slow${String(i)}`, sh`sleep 0.7; echo ${i}`]));
  const { script } = framedScript(slow, 'NONCE', { probe: 2, batch: 1 });
  expect(Object.values(await ran('/bin/sh', [], script))).toEqual([0, 1, 2].map((i) => ({ stdout: `${String(i)}\n` })));
});

test.each([124, 125, 137])('a probe that timeout ends with %i has not answered in time', (status) =>
  expect(readFrames(`\nNONCE:begin:one\nhalf\nNONCE:end:one:${String(status)}\n`, '', 'NONCE')).toEqual({
    one: { failed: 'no answer within 20 s' },
  }),
);
