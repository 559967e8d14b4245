import { ConnectError } from '../errors.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { lastLine } from '../shell/probe.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { LIMITS, noAnswer } from './deadlines.ts';
import type { ExecResult } from './transport.ts';

/** The command line of every script: no secret in `ps`, no limit of length, nothing for a login shell to interpret. */
const SCRIPT_ON_STDIN = '/bin/sh -s';
/** The script is one line of base64; what follows it on stdin is the script's to read. A cut-off line runs nothing. */
const SCRIPT_THEN_STDIN = `/bin/sh -c 'IFS= read -r s && eval "$(printf %s "$s" | base64 -d)"'`;

/**
 * sudo with a password, which is the first line on stdin. sudo gets it through a pipe that ends after it: a wrong one
 * is tried once, and `-k` makes sudo read it whatever it remembers. What runs as root reads a FIFO with the rest of
 * stdin: it can never be given the password. No single quote may stand in it, and nothing that fish or csh take for
 * theirs.
 */
const SUDO_WITH_PASSWORD = [
  `/bin/sh -c 'umask 077; export LC_ALL=C; IFS= read -r p || exit 1; d=$(mktemp -d) || exit 1; mkfifo "$d/in" || ` +
    'exit 1; exec 4<&0',
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

/** Runs one command line on the host as the user who logged in. */
export type Exec = (framed: Framed) => Promise<ExecResult>;

/** The source of a password for sudo; undefined: there is none, and no terminal to prompt for it. */
export type SudoPassword = () => Promise<Secret | undefined>;

/** What sudo prints for a user that may run nothing; the last words are those of sudo-rs. */
const NOT_ALLOWED =
  /not in the sudoers|not allowed to (?:execute|run sudo)|may not run sudo|I'm afraid I can't do that/i;

const MEMBER = 'add a rule for it: visudo -f /etc/sudoers.d/kbuild';

/**
 * How the user who logs in becomes root: found out once, by commands that change nothing. A password is tried exactly
 * once, and never reaches the stdin of what runs as root. @throws ConnectError with what is missing.
 */
export async function becomeRoot(
  host: LinuxHost,
  exec: Exec,
  nonce: () => string,
  password: SudoPassword,
): Promise<Wrap> {
  const { user } = host.ssh;
  if (user === 'root') return 'none';
  const refuse = (message: string, remedy: string) =>
    new ConnectError(host.name, `${user} cannot become root: ${message}`, { retryable: false, remedy });
  const works = async (wrap: Wrap): Promise<ExecResult | undefined> => {
    const word = nonce();
    const result = await exec(framed(wrap, ':', word));
    if (result.status === 'silent') throw noAnswer(host.name, `become root as ${user}`, LIMITS.short);
    if (result.status === 'lost')
      throw new ConnectError(host.name, 'the connection was lost while becoming root', { retryable: true });
    return result.stdout.includes(word) ? undefined : result;
  };

  const refusal = await works('sudo');
  if (refusal === undefined) return 'sudo';
  const text = `${refusal.stdout}\n${refusal.stderr}`;
  if (/currently not available|nologin/i.test(text))
    throw refuse(
      `its login shell runs nothing: ${lastLine(text)}`,
      `give ${user} a login shell (chsh -s /bin/sh ${user})`,
    );
  if (/must have a tty|no tty present/i.test(text))
    throw refuse('sudo wants a terminal', `turn requiretty off: "Defaults:${user} !requiretty" (visudo)`);
  if (NOT_ALLOWED.test(text)) throw refuse('sudo does not allow it', MEMBER);
  if (refusal.status === 127) {
    if ((await works('doas')) === undefined) return 'doas';
    throw refuse(
      'there is no sudo, and doas does not do it without a password',
      `install sudo, or put "permit nopass ${user}" into /etc/doas.conf`,
    );
  }
  if (!/password is required|a terminal is required|authentication|interaction is required/i.test(text))
    throw refuse(`sudo failed: ${lastLine(text)}`, MEMBER);

  const secret = await password();
  if (secret === undefined)
    throw refuse('sudo wants a password', 'set ssh.sudoPassword, or run kbuild on a terminal to be asked');
  const wrap = withPassword(revealed(secret));
  const failed = await works(wrap);
  if (failed === undefined) return wrap;
  if (NOT_ALLOWED.test(failed.stderr)) throw refuse('sudo does not allow it', MEMBER);
  if (/must have a tty/i.test(failed.stderr))
    throw refuse('sudo wants a terminal', `turn requiretty off: "Defaults:${user} !requiretty" (visudo)`);
  if (
    /incorrect password|try again|no password was provided|authentication fail|incorrect authentication attempt/i.test(
      failed.stderr,
    )
  )
    throw refuse('sudo does not accept the password; it was tried once', 'check ssh.sudoPassword');
  throw refuse(`sudo failed: ${lastLine(failed.stderr)}`, MEMBER);
}
