import type { ExecResult } from '../transport/transport.ts';

/** The command line of every script: no secret in `ps`, no limit of length, nothing for a login shell to interpret. */
const SCRIPT_ON_STDIN = '/bin/sh -s';
/** The script is one line of base64; what follows it on stdin is the script's to read. A cut-off line runs nothing. */
const SCRIPT_THEN_STDIN = `/bin/sh -c 'IFS= read -r s && eval "$(printf %s "$s" | base64 -d)"'`;

/**
 * sudo with a password, which is the first line on stdin. sudo gets it through a pipe that ends after it: a wrong one is
 * tried once, and `-k` makes sudo read it whatever it remembers. What runs as root reads a FIFO with the rest of stdin:
 * it can never be given the password. No single quote may stand in it, and nothing that fish or csh take for theirs.
 */
const SUDO_WITH_PASSWORD = [
  `/bin/sh -c 'umask 077; export LC_ALL=C; IFS= read -r p || exit 1; d=$(mktemp -d) || exit 1; mkfifo "$d/in" || exit 1; exec 4<&0`,
  'cat <&4 >"$d/in" & c=$!',
  String.raw`printf "%s\n" "$p" | sudo -k -S -p "" /bin/sh -c "exec <$d/in; rm -rf $d; IFS= read -r s && eval \"\$(printf %s \"\$s\" | base64 -d)\""`,
  `r=$?; kill $c 2>/dev/null; rm -rf "$d"; exit $r'`,
].join('; ');

/** How a command line becomes root. */
export type Wrap = 'none' | 'sudo' | 'doas' | { readonly sudoPassword: () => string };

/** The password is kept where no log of objects shows it. */
export const withPassword = (password: string): Wrap => ({ sudoPassword: () => password });

/** How a script becomes a command line and stdin, as root. */
export interface Framed {
  readonly commandLine: string;
  readonly stdin: string;
}

/** In English, because kbuild parses what sudo prints. */
const PREFIXES = { none: '', sudo: 'env LC_ALL=C sudo -n ', doas: 'env LC_ALL=C doas -n ' } as const;

/** The nonce comes first on both streams: a login shell may print before it. */
const prologue = (nonce: string): string =>
  [
    'set -eu',
    'export LC_ALL=C LANGUAGE= PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin',
    'umask 022',
    `echo ${nonce}; echo ${nonce} >&2`,
  ].join('\n');

/** A script without input: a cut-off one is a syntax error, and its commands cannot eat the rest of it. */
export const framed = (wrap: Wrap, script: string, nonce: string): Framed =>
  typeof wrap === 'string'
    ? { commandLine: PREFIXES[wrap] + SCRIPT_ON_STDIN, stdin: `${prologue(nonce)}\n{\n${script}\n} </dev/null\nexit\n` }
    : afterPassword(wrap, `${prologue(nonce)}\n{\n${script}\n} </dev/null\n`);

/** A script that reads its stdin; `stdin` is its beginning, the input follows. */
export const framedWithInput = (wrap: Wrap, script: string, nonce: string): Framed =>
  typeof wrap === 'string'
    ? { commandLine: PREFIXES[wrap] + SCRIPT_THEN_STDIN, stdin: oneLine(`${prologue(nonce)}\n${script}\n`) }
    : afterPassword(wrap, `${prologue(nonce)}\n${script}\n`);

const oneLine = (script: string): string => `${Buffer.from(script).toString('base64')}\n`;

const afterPassword = ({ sudoPassword }: Exclude<Wrap, string>, script: string): Framed => ({
  commandLine: SUDO_WITH_PASSWORD,
  stdin: `${sudoPassword()}\n${oneLine(script)}`,
});

/** The result without what was printed before the nonce; undefined if the script never began. */
export function unframed(result: ExecResult, nonce: string): ExecResult | undefined {
  const stdout = after(result.stdout, nonce);
  return stdout === undefined ? undefined : { ...result, stdout, stderr: after(result.stderr, nonce) ?? result.stderr };
}

function after(text: string, nonce: string): string | undefined {
  const at = text.indexOf(`${nonce}\n`);
  return at === -1 ? undefined : text.slice(at + nonce.length + 1);
}
