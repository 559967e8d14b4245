import type { ExecResult } from '../transport/transport.ts';

/** What sshd runs, whatever the script: no secret in `ps`, no limit of length, nothing for a login shell to interpret. */
const SCRIPT_ON_STDIN = '/bin/sh -s';
/** The script is one line of base64; what follows it on stdin is the script's to read. A cut-off line runs nothing. */
const SCRIPT_THEN_STDIN = `/bin/sh -c 'IFS= read -r s && eval "$(printf %s "$s" | base64 -d)"'`;

/** How a script becomes a command line and stdin, as root. */
export interface Framed {
  readonly commandLine: string;
  readonly stdin: string;
}

const asRoot = (user: string, commandLine: string): string =>
  user === 'root' ? commandLine : `sudo -n ${commandLine}`;

/** The nonce comes first on both streams: a login shell may print before it. */
const prologue = (nonce: string): string =>
  [
    'set -eu',
    'export LC_ALL=C LANGUAGE= PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'umask 022',
    `echo ${nonce}; echo ${nonce} >&2`,
  ].join('\n');

/** A script without input: a cut-off one is a syntax error, and its commands cannot eat the rest of it. */
export const framed = (user: string, script: string, nonce: string): Framed => ({
  commandLine: asRoot(user, SCRIPT_ON_STDIN),
  stdin: `${prologue(nonce)}\n{\n${script}\n} </dev/null\nexit\n`,
});

/** A script that reads its stdin; `stdin` is its beginning, the input follows. */
export const framedWithInput = (user: string, script: string, nonce: string): Framed => ({
  commandLine: asRoot(user, SCRIPT_THEN_STDIN),
  stdin: `${Buffer.from(`${prologue(nonce)}\n${script}\n`).toString('base64')}\n`,
});

/** What came before the nonce taken off; undefined when the script never began. */
export function unframed(result: ExecResult, nonce: string): ExecResult | undefined {
  const stdout = after(result.stdout, nonce);
  return stdout === undefined ? undefined : { ...result, stdout, stderr: after(result.stderr, nonce) ?? result.stderr };
}

function after(text: string, nonce: string): string | undefined {
  const at = text.indexOf(`${nonce}\n`);
  return at === -1 ? undefined : text.slice(at + nonce.length + 1);
}
